"""Docstrings as they are written here, made ready for the reference: an extension of Griffe, which reads the sources.

- Examples (`>>> ...`), which Markdown would take for quotations, become blocks of code.
- Classes whose constructor Python makes from their fields (modules of Equinox, named tuples) get its signature.
- Constants and names for types, which Python has no docstrings for, are described by the comment above them.
- Formulas, written for a terminal (`v_h^T`, `sum_i`, sigma), are typeset; see `formulas.py`.
- Names of the reference between backticks become links to their entries.
"""

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import griffe

sys.path.insert(0, str(Path(__file__).parents[2]))  # Griffe loads this file alone

from docs.tools import formulas

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?<![`\[\w])`(?:descant\.)?([A-Za-z_][\w.]*)`(?![`\]])")
# Words that are more often something else than the function of that name.
COMMON = {"constant", "sum", "mean", "ones", "zeros", "place", "run", "files", "load", "find", "keep", "query", "plan"}


def with_examples(text: str) -> str:
    """Every example of a docstring, up to the next empty line, between fences."""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.lstrip().startswith(">>>"):
            out += [*([""] if out and out[-1].strip() else []), "```pycon"]
            inside = True
        elif inside and not line.strip():
            out.append("```")
            inside = False
        out.append(line)
    return "\n".join([*out, "```"] if inside else out)


@cache
def entries() -> dict[str, str]:
    """Where the reference has a name: by its room and by itself, if it is the name of one thing only."""
    listed = [
        path
        for page in sorted((ROOT / "docs" / "reference").glob("*.md"))
        for path in re.findall(r"^::: (descant\.\S+)$", page.read_text(), re.MULTILINE)
    ]
    found = {path.removeprefix("descant."): path for path in listed}
    last = [path.rpartition(".")[2] for path in listed]
    single = {name: path for name, path in zip(last, listed, strict=True) if last.count(name) == 1 and len(name) > 3}
    return {**{name: path for name, path in single.items() if name not in COMMON}, **found}


def linked(text: str, but: str = "", rooms_only: bool = False) -> str:
    """Names between backticks as links, outside of code; not to the entry that one is reading (`but`).

    In pages (`rooms_only`) a name stands for an entry only with its room before it: `theory.best_heads`.
    """

    def link(found: re.Match[str]) -> str:
        path = entries().get(found[1])
        skip = path is None or path.endswith(f".{but}") or (rooms_only and "." not in found[1])
        return found[0] if skip else f"[`{found[1]}`][{path}]"

    return outside_code(text, lambda piece: NAME.sub(link, piece))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """A text with everything between its blocks of code changed."""
    codes = [*FENCE.findall(text), ""]
    return "".join(change(piece) + code for piece, code in zip(FENCE.split(text), codes, strict=True))


def markdown(text: str, name: str) -> str:
    """The docstring of a thing as Markdown."""
    return linked(outside_code(with_examples(text), formulas.typeset), but=name)


def made_of_fields(cls: griffe.Class) -> bool:
    """Whether Python makes the constructor: of a module of Equinox, or of a named tuple."""
    bases = [str(base) for each in (cls, *_parents(cls)) for base in each.bases]
    return any(base.endswith(("Module", "NamedTuple")) for base in bases)


def _parents(cls: griffe.Class) -> list[griffe.Class]:
    try:
        return cls.mro()
    except (ValueError, griffe.AliasResolutionError):
        return []


def constructor(cls: griffe.Class) -> griffe.Function:
    """`__init__` of the fields, in the order in which Python asks for them: those of the bases first."""
    fields: dict[str, griffe.Parameter] = {}
    for each in (*reversed(_parents(cls)), cls):
        for attribute in each.attributes.values():
            annotation = attribute.annotation
            if annotation is None or "ClassVar" in str(annotation) or "property" in attribute.labels:
                continue
            value = attribute.value
            if isinstance(value, griffe.ExprCall) and str(value.function).rpartition(".")[2] == "field":
                given = {a.name: a.value for a in value.arguments if isinstance(a, griffe.ExprKeyword)}
                if str(given.get("init")) == "False":
                    continue
                value = given.get("default", "..." if "default_factory" in given else None)
            fields[attribute.name] = griffe.Parameter(
                attribute.name,
                annotation=annotation,
                kind=griffe.ParameterKind.positional_or_keyword,
                default=value,
            )
    ordered = sorted(fields.values(), key=lambda field: field.default is not None)
    own = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
    return griffe.Function("__init__", parameters=griffe.Parameters(own, *ordered), parent=cls)


def comment_above(attribute: griffe.Attribute) -> str:
    """What stands right above a constant; what stands above another one is that one's."""
    assert isinstance(attribute.filepath, Path)
    lines, at = attribute.module.lines_collection[attribute.filepath], (attribute.lineno or 1) - 2
    found = []
    while at >= 0 and lines[at].startswith("# "):
        found.insert(0, lines[at].removeprefix("# "))
        at -= 1
    return "\n".join(found)


class Docstrings(griffe.Extension):
    """All of the above, for all of the package."""

    def on_attribute(self, *, attr: griffe.Attribute, loader: griffe.GriffeLoader, **kwargs: object) -> None:
        """Give a constant, or a name for a type, its comment for a docstring."""
        if attr.docstring is None and attr.name[0].isupper() and isinstance(attr.parent, griffe.Module):
            words = comment_above(attr)
            if words:
                attr.docstring = griffe.Docstring(markdown(words, attr.name), parent=attr)

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **kwargs: object) -> None:
        """Make a docstring Markdown."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value, obj.name)

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: object) -> None:
        """Constructors, when all bases are known."""
        todo = [pkg]
        while todo:
            module = todo.pop()
            for member in module.members.values():
                if isinstance(member, griffe.Class) and "__init__" not in member.all_members and made_of_fields(member):
                    member.set_member("__init__", constructor(member))
                if isinstance(member, (griffe.Module, griffe.Class)):
                    todo.append(member)  # pyright: ignore[reportArgumentType]
