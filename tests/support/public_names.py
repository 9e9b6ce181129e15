"""The public names of the package, and where the reference has them."""

import ast
import re
from pathlib import Path

# What they have for users stands on other pages: the commands, the programs, the claims.
CLAIMS = ("claims/elsa", "claims/initial_guess", "claims/linear_transformer", "claims/ltb", "claims/ours")
ELSEWHERE = ("cli", "programs/library", *CLAIMS)
ENTRY = re.compile(r"^::: (descant\.\S+)$", re.MULTILINE)
# Names of a room whose entries are another's: `Also here (`descant.forms`): [`GapBounds`][descant.theory.GapBounds]`.
ALSO = re.compile(r"^Also here \(`(descant\.[\w.]+)`\):(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[`(\w+)`\]\[descant\.[\w.]+\]")


def public_names(source: str) -> set[str]:
    """What an `__init__.py` has for users: names that it re-exports, lists in `__all__`, or makes itself."""
    found = set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            # `from .x import Y as Y` re-exports Y; whole modules are rooms, not names.
            found |= {name.name for name in node.names if name.asname == name.name and node.module}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            found |= set(ast.literal_eval(node.value)) if names == {"__all__"} else names
    return {name for name in found if not name.startswith("_")}


def rooms(package: Path) -> dict[str, set[str]]:
    """Every public package and module below `descant`, by its import, with its names."""
    found = {}
    for path in sorted(package.glob("*/**/*.py")):
        inside = path.relative_to(package).with_suffix("").as_posix().removesuffix("/__init__")
        if inside.startswith(ELSEWHERE) or "/_" in inside:
            continue
        names = public_names(path.read_text())
        # Sizes and margins of a drawing are a module's own; what a room re-exports is meant.
        found["descant." + inside.replace("/", ".")] = (
            names if path.name == "__init__.py" else {name for name in names if not name.isupper()}
        )
    return found


def without_entry(rooms: dict[str, set[str]], reference: str) -> list[str]:
    """Names that the pages of the reference have neither an entry for nor a link to one.

    A name of a room inside a room may have its entry as one of the outer room, which has it too.
    """
    listed = set(ENTRY.findall(reference))
    for room, links in ALSO.findall(reference):
        listed |= {f"{room}.{name}" for name in LINK.findall(links)}

    def has_entry(room: str, name: str) -> bool:
        outer = room.rpartition(".")[0]
        return f"{room}.{name}" in listed or (name in rooms.get(outer, ()) and has_entry(outer, name))

    return sorted(f"{room}.{name}" for room, names in rooms.items() for name in names if not has_entry(room, name))
