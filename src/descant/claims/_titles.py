"""What the claims are called, read from the source of the experiments without running it.

An experiment imports what it needs, JAX first; a list of titles should not wait for that.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from ._claim import HOMES, Title, all_claims, by_paper, chosen, own_homes


def titles(ids: list[str] | None = None) -> dict[str, Title]:
    """The titles of the claims asked for, as `find` finds the claims; with claims of one's own, all are imported."""
    if own_homes():
        found = [Title(claim.id, claim.paper, claim.title) for claim in all_claims().values()]
    else:
        found = [title for home in HOMES for path in sorted(_beside(home)) for title in _written(path)]
    return chosen(by_paper({title.id: title for title in found}), ids)


def _beside(home: str) -> Iterator[Path]:
    return (path for path in (Path(__file__).parent / home).glob("*.py") if path.stem != "__init__")


def _written(path: Path) -> Iterator[Title]:
    """The titles in a file: its functions' decorators `claim`, whose id, paper and title are plain text."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for call in getattr(node, "decorator_list", ()):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "claim":
                named = {word.arg: word.value for word in call.keywords}
                yield Title(*(ast.literal_eval(part) for part in (call.args[0], named["paper"], named["title"])))
