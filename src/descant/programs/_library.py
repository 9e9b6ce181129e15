"""The programs that come with Descant: text files, parsed and never executed."""

from importlib.resources import files
from pathlib import Path

from .language import Program, ProgramError

FOLDER = files("descant.programs") / "library"


def library() -> dict[str, Program]:
    """Every program of the library by name.

    >>> "ridge" in library()
    True
    """
    return {name: _read(name) for name in names()}


def names() -> list[str]:
    """The names of the library's programs."""
    return sorted(each.name.removesuffix(".py") for each in FOLDER.iterdir() if each.name.endswith(".py"))


def find(program: str | Path) -> Program:
    """A program of the library by its name, or one in a file by its path, which is parsed and never executed.

    `ProgramError`, a `ValueError`, if there is none, or if the text is no program.

    >>> find("ridge").name
    'ridge'
    """
    name = str(program)
    if isinstance(program, str) and name in names():
        return _read(name)
    path = Path(program)
    if not path.is_file():
        raise ProgramError(
            f"{name!r} is no file, and no program of the library", f"the library has: {', '.join(names())}"
        )
    try:
        # Some editors begin a file with a mark, which Python itself skips.
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ProgramError(f"{path} is no text", "expected a Python function in UTF-8") from None
    return Program.from_text(text, path.name)


def _read(name: str) -> Program:
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    return Program.from_text(text, f"{name}.py")
