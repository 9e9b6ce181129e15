"""The pages and the files beside them, all held in memory: no name from a request is looked for on disk."""

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..report import assets

HERE = Path(__file__).parent
KINDS = {".css": "text/css", ".js": "text/javascript", ".txt": "text/plain", ".svg": "image/svg+xml"}


class Room(NamedTuple):
    """A page: its name in the address, its title, and one sentence about it."""

    name: str
    title: str
    sentence: str


ROOMS = (
    Room("ask", "Ask", "What does the best layer lose? Exact risks, while you move the task."),
    Room("learn", "Learn", "Train a layer, and watch its risk fall to the exact line."),
    Room("inside", "Inside", "Step through the layers of a network: where is its weight vector, and what moves it?"),
    Room("compile", "Compile", "Write a matrix program; it becomes attention weights, and is never executed."),
    Room("claims", "Claims", "What the papers say, judged; and any claim again, while you watch."),
)


class File(NamedTuple):
    """What is sent: bytes, their type, and a tag by which a browser knows them again."""

    content: bytes
    kind: str
    tag: str

    @classmethod
    def of(cls, content: bytes, kind: str) -> "File":
        """With the tag of the content."""
        return cls(content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


@cache
def files() -> dict[str, File]:
    """Style, scripts and fonts by name: those of the report, and our own."""
    own = {path.name: path.read_bytes() for path in sorted((HERE / "static").iterdir()) if path.suffix in KINDS}
    found = {**assets(), **own}
    return {name: File.of(content, KINDS[Path(name).suffix]) for name, content in found.items()}


def examples() -> list[tuple[str, str, str]]:
    """The programs of the library: name, first line of the docstring, text. Their room loads JAX, and is left out."""
    found = []
    for path in sorted((HERE.parent / "programs" / "library").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        module = ast.parse(text)
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        words = next(filter(None, map(ast.get_docstring, (module, *functions))), path.stem).partition("\n")[0]
        found.append((path.stem, f"{path.stem}: {words}", text.strip() + "\n"))
    return found


def page(name: str) -> File | None:
    """A room's page; None if there is no such room."""
    room = next((each for each in ROOMS if each.name == name), None)
    # Only what there is is kept: names come from whoever asks.
    return None if room is None else _page(room)


@cache
def _page(room: Room) -> File:
    templates = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    programs = examples() if room.name == "compile" else []
    made = templates.get_template(f"{room.name}.html").render(room=room, rooms=ROOMS, examples=programs)
    return File.of(made.encode(), "text/html")


def linked(found: File) -> File:
    """The same page for who has followed a link of another site: it begins no job before a click."""
    return File.of(found.content.replace(b"<body ", b"<body data-linked ", 1), found.kind)
