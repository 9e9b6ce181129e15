"""Pages whose code is run: in a process of its own, in an empty folder, and again only if page or library changed."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".cache" / "site"
BLOCK = re.compile(r'^```(?:python| \{\.python(?: title="\w+\.py")?\})\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# In fences of another form: formatters take the mark for Python.
INCLUDED = re.compile(r'^--8<-- "([^"]+)"$', re.MULTILINE)
# Runs in the folder; blocks share their names, as they do for a reader who types them one after the other.
RUNNER = """
import contextlib, io, json, sys
blocks, names, printed = json.load(sys.stdin), {"__name__": "__main__"}, []
for number, block in enumerate(blocks, 1):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, f"block {number}", "exec"), names)
    printed.append(out.getvalue())
json.dump(printed, open(".printed.json", "w"))
"""


@dataclass(frozen=True)
class Ran:
    """What the blocks of a page printed, one text each, and the files that they wrote."""

    printed: list[str]
    files: list[Path]


def wanted(text: str) -> bool:
    """Whether the head of a page asks for it."""
    return re.match(r"---\n(?:.*\n)*?run: true\n", text) is not None


def blocks(text: str) -> list[str]:
    """The Python of a page, with what it includes."""
    return [INCLUDED.sub(lambda found: (ROOT / found[1]).read_text(), block) for block in BLOCK.findall(text)]


@cache
def library() -> str:
    """A digest of the package: its sources, and the data that come with it."""
    paths = sorted(
        path for path in (ROOT / "src" / "descant").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def _environment() -> dict[str, str]:
    """These sources, whichever are installed; compiled programs are kept, since most of the time goes into them."""
    kept = {"JAX_COMPILATION_CACHE_DIR": str(KEPT / "xla"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2"}
    return {
        **os.environ,
        **kept,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT / "examples"))),
        "MPLBACKEND": "agg",
    }


def run(text: str, page: str = "a page") -> Ran:
    """Run a page's code, or find what it did when it was run before."""
    todo = json.dumps(blocks(text))
    folder = KEPT / hashlib.sha256((library() + todo).encode()).hexdigest()[:16]
    if not (folder / ".printed.json").exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        # Elsewhere first: what a run leaves that fails, or is interrupted, is not found by the next.
        empty = Path(tempfile.mkdtemp(dir=KEPT, prefix="running-"))
        try:
            done = subprocess.run(
                [sys.executable, "-c", RUNNER],
                cwd=empty,
                env=_environment(),
                input=todo,
                capture_output=True,
                text=True,
            )
            if done.returncode:
                raise RuntimeError(f"the code of {page} can't be run:\n{done.stderr[-3000:]}")
            shutil.rmtree(folder, ignore_errors=True)
            empty.rename(folder)
        finally:
            shutil.rmtree(empty, ignore_errors=True)
    printed = json.loads((folder / ".printed.json").read_text())
    return Ran(printed, sorted(path for path in folder.glob("*") if path.is_file() and path.name[0] != "."))


def with_output(markdown: str, printed: list[str]) -> str:
    """The page with what each block printed below it."""
    texts = iter(printed)

    def shown(found: re.Match[str]) -> str:
        text = next(texts).rstrip()
        return f"{found[0]}\n\n```text\n{text}\n```" if text else found[0]

    return BLOCK.sub(shown, markdown)
