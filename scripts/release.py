"""Make a release: one version everywhere, a section in the changelog, what is built tried, a commit and a tag.

    python scripts/release.py 0.2.0 --dry-run   # say what would change, and change nothing
    python scripts/release.py 0.2.0             # change, build, try, commit and tag; nothing is pushed or uploaded

Versions are semantic (https://semver.org): what breaks users' code raises the first number (the second, before 1.0),
what adds to it the second, what repairs it the third.
"""

import argparse
import datetime
import difflib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
UNRELEASED = "## [Unreleased]\n"


def current(pyproject: str) -> str:
    """The version that the package has."""
    found = re.search(r'^version = "([^"]+)"$', pyproject, re.MULTILINE)
    if found is None:
        raise SystemExit("pyproject.toml has no line with the version.")
    return found[1]


def changed(texts: dict[str, str], version: str, date: str) -> dict[str, str]:
    """The files of a release, by name, from those before it; a `SystemExit` says what is wrong."""
    before = current(texts["pyproject.toml"])
    if not VERSION.fullmatch(version):
        raise SystemExit(f"version is {version!r}; expected three numbers, as 1.4.0.")
    if _numbers(version) < _numbers(before):
        raise SystemExit(f"version is {version}, which is before {before}; expected a later one.")
    changelog = texts["CHANGELOG.md"]
    head, mark, rest = changelog.partition(UNRELEASED)
    news = rest.partition("\n## [")[0].strip()
    if not mark or not news:
        raise SystemExit("CHANGELOG.md has nothing under [Unreleased]: there is nothing to release.")
    if f"## [{version}]" in changelog:
        raise SystemExit(f"CHANGELOG.md has a section for {version} already; expected another version.")
    return {
        "pyproject.toml": texts["pyproject.toml"].replace(f'version = "{before}"', f'version = "{version}"', 1),
        "CITATION.cff": _cited(texts["CITATION.cff"], version, date),
        "CHANGELOG.md": f"{head}{UNRELEASED}\n## [{version}] - {date}\n{rest}",
    }


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _cited(text: str, version: str, date: str) -> str:
    without = re.sub(r"^date-released: .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^version: .*$", f"version: {version}\ndate-released: {date}", without, count=1, flags=re.MULTILINE)


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Check, then change, build, try, commit and tag."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true", help="show what would change")
    asked = parser.parse_args()
    texts = {name: (ROOT / name).read_text() for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md")}
    after = changed(texts, asked.version, datetime.date.today().isoformat())
    tag = f"v{asked.version}"
    if asked.dry_run:
        for name, text in after.items():
            print(
                *difflib.unified_diff(texts[name].splitlines(), text.splitlines(), name, name, "", "", 1, ""), sep="\n"
            )
        print(f"then: build and try the wheel, commit, tag {tag}. Nothing was changed.")
        return
    if _git("status", "--porcelain"):
        raise SystemExit("there are changes that are not committed; commit or undo them first.")
    if _git("tag", "--list", tag):
        raise SystemExit(f"the tag {tag} exists already; expected another version.")
    for name, text in after.items():
        (ROOT / name).write_text(text)
    try:
        subprocess.run([sys.executable, "scripts/check_wheel.py", "--out", "dist"], cwd=ROOT, check=True)
    except BaseException:
        _git("checkout", "--", *after)  # what can't be installed is no release
        raise
    _git("commit", "--all", "--message", f"Release {asked.version}")
    _git("tag", "--annotate", tag, "--message", f"Descant {asked.version}")
    print(
        f"committed and tagged {tag}; dist/ has what was built. To publish: git push --follow-tags, then upload dist/."
    )


if __name__ == "__main__":
    main()
