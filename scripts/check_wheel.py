"""Build the sdist and the wheel, and try the wheel as a user has it: in a clean environment, from another folder.

    python scripts/check_wheel.py                    # with every Python of 3.11, 3.12, 3.13 that is found
    python scripts/check_wheel.py --python 3.13      # with one; --newest: the newest one
    python scripts/check_wheel.py --out dist         # keep what was built

The wheel is built from the sdist, so the sdist is whole. Nothing of this checkout is on the path of what is tried.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13")
# A package without these would import, and fail later.
NEEDED = (
    "descant/py.typed",
    "descant/report/templates/claim.html",
    "descant/report/static/report.css",
    "descant/report/vendor/katex/katex.min.js",
    "descant/claims/long_runs/linear-transformers/long_run.json",
    "descant/programs/library/ridge.py",
)
# Packages of extras: the core does without.
EXTRAS = ("duckdb", "marimo", "pyarrow", "ray", "sklearn", "starlette", "torch", "transformers")
RISK = ("risk", "lsa", "--d", "3", "--n", "6", "--prior-mean", "1", "--noise", "0.5", "--json")
TRAIN = ("train", "lsa", "--d", "2", "--n", "4", "--samples", "256", "--out", "run", "--json")
COMPILE = ("compile", "ridge", "--set", "n=6", "d=2", "T=2", "--out", "compiled", "--json")
CLAIM = ("reproduce", "elsa-parameters", "--out", "report", "--json")
LONGEST_S = 600


def build(out: Path) -> Path:
    """The wheel, made from the sdist; a `SystemExit` if it lacks something."""
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = out.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    missing = [name for name in NEEDED if name not in names]
    foreign = [name for name in names if not name.startswith(("descant/", "descant-"))]
    if missing or foreign:
        raise SystemExit(f"{wheel.name} lacks {missing}, and holds {foreign} beside the package.")
    return wheel


def python(version: str) -> str | None:
    """An interpreter of this version: on the path, this one, or pyenv's; None if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = (sys.executable, shutil.which(f"python{version}"), *map(str, pyenv.glob(f"{version}.*/bin/python")))
    ask = "import sys; print('{}.{}'.format(*sys.version_info))"
    for path in filter(None, found):
        # A shim of pyenv's is there for versions that are not in use, and fails.
        done = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return path
    return None


def installed(wheel: Path, interpreter: str, folder: Path) -> Path:
    """A new environment with the wheel's core, at the pinned versions; its folder of programs."""
    subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt"), str(wheel)], check=True)
    return folder / "bin"


def tried(programs: Path, folder: Path) -> None:
    """Use it as a user would, in `folder`; an `AssertionError` says what went wrong."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DESCANT", "VIRTUAL"))}
    environment = {**clean, "XDG_CACHE_HOME": str(folder / "cache")}

    def ran(*words: str, status: int = 0) -> str:
        command = [str(programs / words[0]), *words[1:]]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST_S
        )
        assert done.returncode == status, f"{words} ended with {done.returncode}: {done.stderr[-2000:]}"
        return done.stdout if status == 0 else done.stderr

    look = "import json, descant; from importlib.util import find_spec as f"
    told = f"print(json.dumps([descant.__file__, [name for name in {EXTRAS} if f(name)]]))"
    place, extras = json.loads(ran("python", "-c", f"{look}; {told}"))
    assert Path(place).is_relative_to(programs.parent), f"another descant is used: {place}"
    assert not extras, f"the core brings {extras}"
    assert json.loads(ran("descant", *RISK))["method"] == "exact"
    assert json.loads(ran("descant", *TRAIN))["risk"] > 0 and (folder / "run" / "model.safetensors").exists()
    ran("descant", *COMPILE)
    assert (folder / "compiled" / "network.safetensors").exists()
    ran("descant", *CLAIM)
    assert (folder / "report" / "index.html").exists()
    (folder / "grid.toml").write_text('evaluator = "risk"\n')
    assert "pip install '.[tables]'" in ran("descant", "sweep", "grid.toml", status=2)


def typed(programs: Path, folder: Path) -> None:
    """A consumer's types are those that the package promises."""
    shutil.copy(ROOT / "scripts" / "consumer.py", folder)
    words = [sys.executable, "-m", "pyright", "--pythonpath", str(programs / "python"), "consumer.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def main() -> None:
    """Build once, then try with each Python."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", choices=VERSIONS, help="which; all that are found if left out")
    parser.add_argument("--newest", action="store_true", help="only the newest of those that are found")
    parser.add_argument("--out", type=Path, help="a folder for sdist and wheel; left out, they are not kept")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="descant-wheel-") as temporary:
        place = Path(temporary)
        wheel = build(place / "dist")
        size = wheel.stat().st_size / 2**20
        print(f"{wheel.name}: {size:.1f} MiB", flush=True)
        found = {version: path for version in asked.python or VERSIONS if (path := python(version))}
        for version in asked.python or VERSIONS:
            if version not in found:
                print(f"Python {version}: not found on this machine, not tried", flush=True)
        if asked.newest:
            found = dict(list(found.items())[-1:])
        if not found:
            raise SystemExit("no Python that could be tried was found.")
        for version, interpreter in found.items():
            began = time.monotonic()
            programs = installed(wheel, interpreter, place / version)
            folder = place / f"elsewhere-{version}"
            folder.mkdir()
            tried(programs, folder)
            typed(programs, folder)
            used = sum(file.stat().st_size for file in (place / version).rglob("*") if file.is_file()) / 2**20
            seconds = time.monotonic() - began
            print(
                f"Python {version}: risk, train, compile, a claim, types; {used:.0f} MiB, {seconds:.0f} s", flush=True
            )
            shutil.rmtree(place / version)
        if asked.out:
            shutil.copytree(place / "dist", asked.out, dirs_exist_ok=True)


if __name__ == "__main__":
    main()
