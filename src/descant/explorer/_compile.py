"""The room Compile: matrix programs, checked as they are typed, compiled, run on random data, and drawn.

All of it happens in a process with limits of time and memory; programs are parsed and never executed.
"""

import base64
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from ..attention import ELSABlock, Repeated
from ..figures import Axis, Figure, HeatMap, Panel, Series, drawing
from ..programs import CompiledProgram, Program, ProgramError, compile_program
from ._fields import Fields
from ._python import written

MOST_LETTERS = 20_000
MOST_SETTINGS = 24
LARGEST_SIZE, LARGEST = 4096, 1e300
PREFERENCES = ("work", "depth", "width", "parameters")
# Sizes that nobody has chosen yet.
USUAL = {"n": 8, "d": 3}
OTHER = 3
# Bytes of weights that travel to the page.
MOST_WEIGHTS = 16 << 20
# Blocks that are described, and numbers of an H that is drawn.
MOST_BLOCKS, MOST_CELLS = 60, 1600
MOST_ENTRIES = 50_000_000
LARGEST_ENTRY = "largest entry of H"


def check(asked: Any) -> Iterator[dict[str, Any]]:
    """What is wrong with a text and where, or what sizes and scalars it has."""
    fields = Fields(asked, "the program")
    text, given = fields.text("text", MOST_LETTERS), _settings(fields.part("settings"))
    fields.done()
    try:
        program = Program.from_text(text)
        settings = _bound(program, given)
        traced = program.trace(settings)
    except ProgramError as error:
        yield {"event": "checked", "error": _error(error, text)}
        return
    signature = program.signature
    yield {
        "event": "checked",
        "error": None,
        "name": program.name,
        "doc": program.doc.partition("\n")[0],
        "sizes": {name: settings[name] for name in signature.letters()},
        "scalars": {name: settings.get(name, value) for name, value in signature.scalars.items()},
        "inputs": [{"name": each.name, "shape": list(each.shape)} for each in traced.inputs],
        "outputs": list(traced.outputs),
    }


def compiled(asked: Any) -> Iterator[dict[str, Any]]:
    """The network of a program: its sizes, its blocks, a run on random data; with `weights` its files."""
    fields = Fields(asked, "the program")
    text, given = fields.text("text", MOST_LETTERS), _settings(fields.part("settings"))
    prefer, seed = fields.choice("prefer", PREFERENCES, "work"), fields.whole("seed", 0, 2**31 - 1, 0)
    weights = fields.switch("weights")
    fields.done()
    try:
        program = Program.from_text(text)
        settings = _bound(program, given)
        yield {"event": "progress", "words": "compiling"}
        found = compile_program(program, settings, prefer=prefer)
    except ProgramError as error:
        yield {"event": "checked", "error": _error(error, text)}
        return
    if weights:
        yield {"event": "weights", "files": _files(found)}
        return
    description = found.description
    blocks = [asdict(block) for block in description.blocks[:MOST_BLOCKS]]
    yield {
        "event": "compiled",
        "program": description.program,
        "settings": dict(description.settings),
        "sizes": asdict(found.sizes),
        "words": found.explain()[:100_000],
        "blocks": blocks,
        "left_out": len(description.blocks) - len(blocks),
        "order": _order(found.network.blocks),
        "inputs": [asdict(each) for each in description.inputs if each.column >= 0],
        "outputs": [asdict(each) for each in description.outputs],
    }
    yield {"event": "run", **_run(program, settings, found, seed, _python(text, settings, prefer, seed))}


def _settings(raw: Any) -> dict[str, int | float]:
    if not isinstance(raw, dict) or len(raw) > MOST_SETTINGS:
        raise ValueError(f"settings has too many names, or is no object; expected at most {MOST_SETTINGS} numbers.")
    found: dict[str, int | float] = {}
    for name, value in raw.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
            raise ValueError(f"{str(name)[:40]!r} is no number up to {LARGEST:g}; expected one.")
        found[str(name)[:100]] = value
    return found


def _bound(program: Program, given: dict[str, int | float]) -> dict[str, int | float]:
    """Sizes and scalars: those given that the program has, and usual sizes for the rest."""
    signature = program.signature
    letters = signature.letters()
    sizes = {name: given.get(name, USUAL.get(name, OTHER)) for name in letters}
    for name, size in sizes.items():
        if size > LARGEST_SIZE:
            raise ProgramError(f"the size {name} is {size}", f"expected at most {LARGEST_SIZE} on this page")
    return {**sizes, **{name: value for name, value in given.items() if name in signature.scalars}}


def _error(error: ProgramError, text: str) -> dict[str, Any]:
    """The complaint under its line; one without a place stands under the first."""
    sentence = error.reason + (f"; {error.suggestion}." if error.suggestion else ".")
    if error.position is None:
        return {"line": 1, "column": 1, "end_line": 1, "end_column": 1, "sentence": sentence, "placed": False}
    last = max(1, text.count("\n") + 1)
    place = asdict(error.position)
    return {**place, "line": min(place["line"], last), "sentence": sentence, "placed": True}


def _order(layers: Any) -> list[Any]:
    """The blocks as they are run: numbers, and repeats as {times, blocks}."""
    count = 0

    def read(layers: tuple[ELSABlock | Repeated, ...]) -> list[Any]:
        nonlocal count
        found: list[Any] = []
        for layer in layers:
            if isinstance(layer, Repeated):
                found.append({"times": layer.count, "blocks": read(layer.blocks)})
            else:
                found.append(count)
                count += 1
        return found

    return read(layers)


def _run(program: Program, settings: dict[str, Any], found: CompiledProgram, seed: int, python: str) -> dict[str, Any]:
    """Random inputs through the network, block by block, and through the program directly."""
    traced, sizes = program.trace(settings), found.sizes
    if sizes.blocks * sizes.heads * sizes.rows * sizes.columns > MOST_ENTRIES:
        return {"words": "the network is too large to be run here; `descant run` does.", "error": None}
    random = np.random.default_rng(seed)
    inputs = {each.name: random.standard_normal(each.shape) / max(each.shape) ** 0.5 for each in traced.inputs}
    with np.errstate(all="ignore"):
        expected = traced.evaluate(inputs)
        states = found.states(inputs)
        results = found.evaluate(inputs)
    values = dict(zip(traced.outputs, expected.results, strict=True))
    if not all(np.isfinite(each).all() for each in (*values.values(), *results.values())):
        return {"words": "the program diverges on these inputs: its numbers are no longer finite.", "error": None}
    error = max(float(np.abs(results[name] - value).max(initial=0.0)) for name, value in values.items())
    cells = found.description.rows * found.description.columns
    drawn = states[: MOST_BLOCKS + 1] if cells <= MOST_CELLS else []
    return {
        "error": error,
        "largest": expected.largest,
        "words": "",
        "states": [
            {**drawing(_state(h, index)), "python": _state_python(python, index)} for index, h in enumerate(drawn)
        ],
        "sizes": {**drawing(_magnitudes(states)), "python": _magnitudes_python(python)},
    }


def _state(h: np.ndarray, index: int) -> Figure:
    return Figure("state", _title(index), "", (HeatMap("", tuple(map(tuple, h))),), columns=1)


def _title(index: int) -> str:
    return "H before the first block" if index == 0 else f"H after block {index}"


def _state_python(python: str, index: int) -> str:
    drawn = f'Figure("state", "{_title(index)}", "", (HeatMap("", tuple(map(tuple, states[{index}]))),), columns=1)'
    return written(python, drawn, "state")


def _magnitudes(states: list[np.ndarray]) -> Figure:
    largest = tuple(float(np.abs(h).max(initial=0.0)) for h in states)
    series = Series(LARGEST_ENTRY, tuple(range(len(states))), largest)
    panel = Panel("", Axis("blocks that have run"), Axis(LARGEST_ENTRY), (series,))
    return Figure("magnitudes", f"The {LARGEST_ENTRY}", "", (panel,), columns=1)


def _magnitudes_python(python: str) -> str:
    computed = f"""{python}
largest = [float(np.abs(h).max(initial=0.0)) for h in states]
series = Series("{LARGEST_ENTRY}", tuple(range(len(states))), tuple(largest))
panel = Panel("", Axis("blocks that have run"), Axis("{LARGEST_ENTRY}"), (series,))
"""
    drawn = f'Figure("magnitudes", "The {LARGEST_ENTRY}", "", (panel,), columns=1)'
    return written(computed, drawn, "magnitudes")


def _files(found: CompiledProgram) -> dict[str, str]:
    if 8 * found.sizes.parameters > MOST_WEIGHTS:
        raise ValueError("the weights are too large to be sent to a page; `descant compile ... --out` writes them.")
    return {name: base64.b64encode(content).decode() for name, content in found.files().items()}


def _python(text: str, settings: dict[str, Any], prefer: str, seed: int) -> str:
    return f"""import numpy as np
from descant.figures import Axis, Figure, HeatMap, Panel, Series
from descant.programs import Program, compile_program

text = {_quoted(text)}
program = Program.from_text(text)  # parsed, never executed
settings = {settings!r}
compiled = compile_program(program, settings, prefer={prefer!r})
print(compiled.explain())

traced, random = program.trace(settings), np.random.default_rng({seed})
inputs = {{each.name: random.standard_normal(each.shape) / max(each.shape) ** 0.5 for each in traced.inputs}}
results, states = compiled.evaluate(inputs), compiled.states(inputs)
for name, value in zip(traced.outputs, traced.evaluate(inputs).results):
    print(name, np.abs(results[name] - value).max())
"""


def _quoted(text: str) -> str:
    """A text as Python writes it, over several lines where that can be read."""
    plain = '"""' not in text and "\\" not in text and text.isprintable() is False
    return f'"""\n{text.strip()}\n"""' if plain else repr(text)
