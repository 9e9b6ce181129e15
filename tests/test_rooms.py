"""The rooms import each other as docs/architecture.md says, and light ones load nothing heavy."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import descant

PACKAGE = Path(descant.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
# Every cell of a row of the table of rooms; further tables of the page don't begin with the name of a folder.
ROW = re.compile(r"^\| `(\w+)/` \|.*\|([^|]*)\|$", re.MULTILINE)
# The modules beside the rooms, which all rooms share, speak of prompts.
SHARED_KNOW = {"tasks"}


def table() -> dict[str, set[str]]:
    """The rooms in order, with those of the last column."""
    return {room: set(re.findall(r"`(\w+)`", forbidden)) for room, forbidden in ROW.findall(PAGE.read_text())}


def imports(source: str, module: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Everything below `descant` that a module imports, anywhere in it, as parts of a path."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [tuple(name.name.split(".")) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = ("descant", *module)[: len(module) + 1 - node.level] if node.level else ()
            begin = (*above, *(node.module.split(".") if node.module else ()))
            found = [(*begin, name.name) for name in node.names]
        else:
            continue
        yield from (path[1:] for path in found if path[0] == "descant" and len(path) > 1)


def broken_rules(source: str, module: tuple[str, ...], rooms: dict[str, set[str]]) -> list[str]:
    """What a module (`("llm", "_figure")`) imports and must not."""
    order, room = list(rooms), module[0]
    broken = []
    for path in imports(source, module):
        other = path[0]
        if other not in rooms or other == room:
            continue
        forbidden = rooms[room] | set(order[order.index(room) + 1 :]) if room in rooms else set(order) - SHARED_KNOW
        if other in forbidden or any(re.match("_[^_]", part) for part in path[1:]):
            broken.append(f"{'.'.join(module)} imports {'.'.join(path)}")
    return broken


def test_every_room_is_in_the_table():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    rooms = table()
    assert set(rooms) == folders
    for room, forbidden in rooms.items():
        assert forbidden <= set(list(rooms)[: list(rooms).index(room)]), f"{room}: not rooms above it"


def test_rooms_import_what_the_table_allows():
    rooms, broken = table(), []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").parts
        if module not in (("__init__",), ("__main__",)):  # the house and its door
            broken += broken_rules(path.read_text(), module, rooms)
    assert broken == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        (("llm", "_figure"), "from ..training import train"),
        (("llm", "_figure"), "from ..claims import Figure"),
        (("llm", "_figure"), "import descant.training._adam"),
        (("claims", "ltb", "digits"), "from ...training._flat import flatten"),
        (("claims", "ltb", "digits"), "def f():\n    from ...crosscheck import RiskRow"),
        (("tasks", "_prior"), "from .. import theory"),
        (("training", "_alike"), "from ..tasks._noise import NoiseNodes"),
        (("_sampling",), "from .measure import risk"),
    ],
)
def test_a_forbidden_import_is_seen(module, line):
    assert len(broken_rules(line, module, table())) == 1


def test_allowed_imports_are_not_taken_for_others():
    for module, line in (
        (("llm", "_figure"), "from .._disk import write_whole"),
        (("llm", "_figure"), "from ._results import Results"),
        (("programs", "studies", "_table"), "from .._compile import compile_program"),
        (("claims", "_lab"), "from .. import _precision"),
        (("crosscheck", "_heads"), "from ..figures.static import png"),
    ):
        assert broken_rules(line, module, table()) == []


LIGHT = """
import sys
import matplotlib
before = matplotlib.rcParams._get("backend")
import descant.{room}
heavy = [name for name in ("descant.training", "optax", "matplotlib.pyplot", "torch") if name in sys.modules]
assert not heavy, heavy
assert matplotlib.rcParams._get("backend") == before
"""


@pytest.mark.parametrize("room", ["llm", "crosscheck", "programs.studies", "figures.static"])
def test_rooms_that_load_no_training_and_leave_matplotlib_alone(room):
    done = subprocess.run([sys.executable, "-c", LIGHT.format(room=room)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
