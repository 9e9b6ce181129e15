"""`descant compile`, `descant run`, `descant programs`: matrix programs as attention networks."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from .._counted import counted
from ._flags import Force, Json
from ._printing import print_json

if TYPE_CHECKING:
    from ..programs import CompiledProgram

# Results with fewer digits left than this are spoken of.
FEW_DIGITS = 6


def compile_command(
    program: str,
    /,
    *,
    set: Annotated[list[str] | None, Parameter(consume_multiple=True, metavar="NAME=NUMBER...")] = None,
    out: Path | None = None,
    hoist: Annotated[bool, Parameter(show_default="--hoist")] = True,
    prefer: Literal["work", "depth", "width", "parameters"] = "work",
    as_written: Annotated[bool, Parameter(negative="")] = False,
    ways: Annotated[bool, Parameter(negative="")] = False,
    explain: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    force: Force = False,
) -> None:
    """Compile a matrix program to an attention network with biases (ELSA).

    Parameters
    ----------
    program
        A file with one Python function, which is parsed and never executed, or the name of a program of the library.
    set
        Sizes and scalars: --set n=20 d=5 T=10.
    out
        Folder for the network: weights, description, and with --explain its picture.
    hoist
        Take out of loops what they do not change.
    prefer
        What should be small: the weights of all blocks that are run (work), the number of blocks that are run (depth),
        the columns of H (width), or the weights, each block counted once (parameters).
    as_written
        Make every line one block, as `descant decompile` writes them, and choose nothing.
    ways
        Compile nothing: list the networks that no other one beats in everything; with --out as a picture, ways.png.
    explain
        Say what every block and head does; with --out also as explain.html, explain.svg and explain.txt.
    force
        Write over files in OUT that Descant did not write.
    """
    from ..programs import compile_as_written, compile_program

    settings = settings_from(set or [])
    if ways:
        _print_ways(program, settings, hoist, out, json, force)
        return
    if as_written:
        compiled = compile_as_written(program, settings)
    else:
        compiled = compile_program(program, settings, hoist=hoist, prefer=prefer)
    if out is not None:
        _write(compiled, out, explain, force)
    if json:
        _print_json(compiled)
        return
    if explain:
        print(compiled.explain())
    else:
        _print_sizes(compiled)
    if out is not None:
        print(f"Written to {out}; `descant run {out} --inputs data.npz --out result.npz` runs it.")


def run_command(
    folder: Path,
    /,
    *,
    inputs: Path,
    out: Path,
    strict: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    force: Force = False,
) -> int:
    """Run a compiled program on arrays.

    A program that diverges until its numbers are not finite fails, with exit status 1, and nothing is written.

    Parameters
    ----------
    folder
        What `descant compile ... --out` wrote.
    inputs
        A file of NumPy arrays (.npz), by parameter name. Optional parameters may be left out.
    out
        File for the results (.npz), by the names that the program returns; one that is there is not written over.
    strict
        Exit status 1 also if rounding on the way may have left few digits of a result.
    force
        Write over OUT, whatever it is.
    """
    import numpy as np

    from .._output import new_file
    from ..programs import load
    from ._arrays import read_arrays

    new_file(out, force=force)
    compiled = load(folder)
    arrays = read_arrays(inputs)
    results, magnitudes = compiled.run(arrays), compiled.magnitudes(arrays)
    largest = max(magnitudes, key=lambda size: (math.isnan(size), size))
    if not math.isfinite(largest) or not all(np.all(np.isfinite(value)) for value in results.values()):
        blocks = next((index for index, size in enumerate(magnitudes) if not math.isfinite(size)), len(magnitudes) - 1)
        raise OverflowError(
            f"{compiled.description.program} diverges, or overflows, on these inputs: entries of H are no finite "
            f"numbers after block {blocks} of {len(magnitudes) - 1}; nothing was written: try smaller steps, or inputs "
            "of smaller numbers."
        )
    _write_arrays(out, results)
    sizes, spread = {name: float(np.abs(value).max()) for name, value in results.items()}, compiled.spread(arrays)
    doubtful = {
        name: digits for name, size in sizes.items() if (digits := digits_left(size, spread[name])) < FEW_DIGITS
    }
    status = 1 if strict and doubtful else 0
    if json:
        shapes = {name: list(value.shape) for name, value in results.items()}
        print_json("run", {"out": str(out), "results": shapes, "largest": largest, "doubtful": doubtful})
        return status
    for name, value in results.items():
        print(f"{name}: {value.shape[0]} x {value.shape[1]}")
    print(f"Written to {out}. The largest entry of H on the way was {largest:.6g}.")
    for name, digits in doubtful.items():
        left = f"{digits} digit{'s' * (digits > 1)}" if digits else "no digit"
        moved = f"rounding on the way may move it by {spread[name]:.2g}"
        print(f"{name} is {sizes[name]:.3g} at the most, and {moved}: {left} of it may be right.")
    return status


def programs_command(*, sizes: Annotated[bool, Parameter(negative="")] = False, json: Json = False) -> None:
    """List the programs of the library, for `descant compile NAME --set n=20 d=5`.

    Parameters
    ----------
    sizes
        How large their networks are for some settings, and the fewest blocks that any network for them has; compiling
        them all takes a while.
    """
    from ..programs import library

    if sizes:
        _print_library_sizes(json)
        return
    found = library()
    rows = [
        {
            "name": name,
            "what": program.doc.split("\n")[0],
            "inputs": {each.name: f"{each.rows} {each.columns}" for each in program.signature.parameters},
            "sizes": program.signature.letters(),
            "scalars": dict(program.signature.scalars),
        }
        for name, program in found.items()
    ]
    if json:
        print_json("programs", {"programs": rows})
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Narrow enough for a terminal of 80 columns: what a program takes stands below what it does.
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("name", no_wrap=True)
    table.add_column("what it does, its inputs (rows columns) and its scalars")
    for row in rows:
        takes = [f"{name} ({sizes})" for name, sizes in row["inputs"].items()]
        takes += [f"{name}={value:g}" for name, value in row["scalars"].items()]
        table.add_row(row["name"], Text(row["what"]).append(f"\n{', '.join(takes)}", style="dim"))
    Console().print(table)


def _print_library_sizes(json: bool) -> None:
    from dataclasses import asdict

    from ..programs import compile_program, find
    from ..programs.studies import BY_HAND, SETTINGS, least_blocks

    rows = []
    for name, settings in SETTINGS.items():
        found = asdict(compile_program(name, settings).sizes)
        least = least_blocks(find(name).trace(settings))
        by_hand = dict(zip(("size", "blocks", "heads"), BY_HAND[name], strict=True)) if name in BY_HAND else None
        rows.append({"name": name, "settings": settings, **found, "least_blocks": least, "by_hand": by_hand})
    if json:
        print_json("programs", {"programs": rows})
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("name and settings")
    for column in ("H", "blocks", "at least", "by hand", "heads", "parameters"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        words = ", ".join(f"{key}={value:g}" for key, value in row["settings"].items())
        by_hand = row["by_hand"]["blocks"] if row["by_hand"] else ""
        cells = (row["blocks"], row["least_blocks"], by_hand, row["heads"], row["parameters"])
        table.add_row(f"{row['name']}\n{words}", f"{row['rows']} x {row['columns']}", *map(str, cells))
    Console().print(table)


def _print_ways(program: str, settings: dict, hoist: bool, out: Path | None, json: bool, force: bool) -> None:
    from dataclasses import asdict

    from ..programs import find, trade_off, ways

    found = ways(program, settings, hoist=hoist)
    if out is not None:
        from .._disk import write_whole
        from .._output import reserve
        from ..figures.static import png

        reserve(out, ("ways.png",), force=force)
        write_whole(out / "ways.png", png(trade_off(find(program).name, found)))
    if json:
        print_json("compile", {"program": find(program).name, "settings": settings, "ways": [asdict(w) for w in found]})
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("blocks", "H", "parameters", "work"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("--prefer")
    for way in found:
        cells = (way.blocks, f"{way.rows} x {way.columns}", way.parameters, way.work, ", ".join(way.preferred))
        table.add_row(*map(str, cells))
    Console().print(table)
    if out is not None:
        print(f"Drawn in {out / 'ways.png'}.")


def digits_left(size: float, spread: float) -> int:
    """Decimal digits of a number of this size that are right if it may be off by `spread`."""
    if spread == 0:
        return 16
    if not spread < size:  # nor is NaN
        return 0
    # Their quotient may be beyond all numbers.
    return min(16, math.floor(math.log10(size) - math.log10(spread)))


def settings_from(words: list[str]) -> dict[str, int | float]:
    """Settings written as name=number."""
    found: dict[str, int | float] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or not name.isidentifier():
            raise ValueError(f"set is {word!r}; expected name=number, such as n=20.")
        if name in found:
            raise ValueError(f"set gives {name} twice; expected every name once.")
        try:
            found[name] = int(text)
        except ValueError:
            try:
                found[name] = float(text)
            except ValueError:
                raise ValueError(f"set is {word!r}; expected name=number, such as n=20.") from None
    return found


def _write(compiled: "CompiledProgram", out: Path, explain: bool, force: bool) -> None:
    from .._disk import write_whole
    from .._output import reserve
    from ..programs import PROGRAM, WEIGHTS

    pages = {"html": compiled.html, "svg": compiled.svg, "txt": lambda: compiled.explain() + "\n"} if explain else {}
    reserve(out, (WEIGHTS, PROGRAM, *(f"explain.{suffix}" for suffix in pages)), force=force)
    compiled.save(out)
    for suffix, text in pages.items():
        write_whole(out / f"explain.{suffix}", text())


def _print_json(compiled: "CompiledProgram") -> None:
    from dataclasses import asdict

    description = compiled.description
    inputs = {each.name: [each.rows, each.width] for each in description.inputs}
    outputs = {each.name: [each.rows, each.width] for each in description.outputs}
    sizes = {"program": description.program, **asdict(compiled.sizes)}
    print_json("compile", {**sizes, "inputs": inputs, "outputs": outputs, "settings": dict(description.settings)})


def _print_sizes(compiled: "CompiledProgram") -> None:
    sizes = compiled.sizes
    print(f"{compiled.description.program}: H is {sizes.rows} x {sizes.columns}")
    differ = "is" if sizes.distinct_blocks == 1 else "are"
    print(f"{sizes.run}, {sizes.distinct_blocks} of the blocks {differ} different")
    print(f"{counted(sizes.parameters, 'parameter')}, {sizes.nonzeros} of them not zero")


def _write_arrays(path: Path, arrays: dict) -> None:
    import io
    import zipfile

    import numpy as np

    from .._disk import write_whole
    from .._names import file_name

    content = io.BytesIO()
    # What numpy.savez writes; but that takes an array called `file` or `allow_pickle` for an argument of its own.
    with zipfile.ZipFile(content, "w") as archive:
        for name, value in arrays.items():
            # A program's names are no paths; in a description that somebody changed they may be.
            stem = name if name.isidentifier() else file_name("output", name)
            with archive.open(f"{stem}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)
    write_whole(path, content.getvalue())
