"""Whether the site in `site/` is that of the present sources: a digest of what a build reads, kept beside its pages."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
# mkdocs leaves files with a dot where they are, so a build takes it away before it begins.
STAMP = SITE / ".inputs"
FOLDERS = ("docs", "examples", "notebooks", "src/descant", "report")
FILES = ("mkdocs.yml", "constraints.txt", "CHANGELOG.md", "CONTRIBUTING.md")


def inputs() -> str:
    """The digest."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    found = hashlib.sha256()
    for path in [*paths, *(ROOT / name for name in FILES)]:
        if "__pycache__" not in path.parts:
            found.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def is_current() -> bool:
    """Whether a build of these very sources came to its end."""
    return STAMP.exists() and STAMP.read_text() == inputs()
