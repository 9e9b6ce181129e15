"""`descant compile`, `descant run`, `descant programs`: matrix programs as attention networks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ._flags import Json
from ._output import print_json

if TYPE_CHECKING:
    from ..programs import CompiledProgram


def compile_command(
    program: str,
    /,
    *,
    set: Annotated[list[str] | None, Parameter(consume_multiple=True, metavar="NAME=NUMBER")] = None,
    out: Path | None = None,
    hoist: Annotated[bool, Parameter(show_default="--hoist")] = True,
    explain: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
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
    explain
        Say what every block and head does; with --out also as explain.html, explain.svg and explain.txt.
    """
    from ..programs import compile_program

    compiled = compile_program(program, settings_from(set or []), hoist=hoist)
    if out is not None:
        _write(compiled, out, explain)
    if json:
        _print_json(compiled)
        return
    if explain:
        print(compiled.explain())
    else:
        _print_sizes(compiled)
    if out is not None:
        print(f"Written to {out}; `descant run {out} --inputs data.npz --out result.npz` runs it.")


def run_command(folder: Path, /, *, inputs: Path, out: Path, json: Json = False) -> None:
    """Run a compiled program on arrays.

    Parameters
    ----------
    folder
        What `descant compile ... --out` wrote.
    inputs
        A file of NumPy arrays (.npz), by parameter name. Optional parameters may be left out.
    out
        File for the results (.npz), by the names that the program returns.
    """
    from ..programs import load

    compiled = load(folder)
    arrays = _read_arrays(inputs)
    results = compiled.run(arrays)
    _write_arrays(out, results)
    largest = max(compiled.magnitudes(arrays))
    if json:
        shapes = {name: list(value.shape) for name, value in results.items()}
        print_json("run", {"out": str(out), "results": shapes, "largest": largest})
        return
    for name, value in results.items():
        print(f"{name}: {value.shape[0]} x {value.shape[1]}")
    print(f"Written to {out}. The largest entry of H on the way was {largest:.6g}.")


def programs_command(*, json: Json = False) -> None:
    """List the programs of the library, for `descant compile NAME --set n=20 d=5`."""
    from ..programs import library

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


def _write(compiled: "CompiledProgram", out: Path, explain: bool) -> None:
    from .._disk import write_whole

    compiled.save(out)
    if explain:
        pages = {
            "explain.html": compiled.html(),
            "explain.svg": compiled.svg(),
            "explain.txt": compiled.explain() + "\n",
        }
        for name, text in pages.items():
            write_whole(out / name, text)


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
    print(
        f"{sizes.blocks} blocks with {sizes.heads} heads are run, {sizes.distinct_blocks} of the blocks are different"
    )
    print(f"{sizes.parameters} parameters, {sizes.nonzeros} of them not zero")


def _read_arrays(path: Path) -> dict:
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as file:
            if not hasattr(file, "files"):
                raise ValueError("it holds one array without a name")
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; expected arrays by name, as numpy.savez writes them.") from None
    except (ValueError, OSError, EOFError, AttributeError) as error:
        raise ValueError(f"{path} can't be read as arrays by name (.npz): {error}.") from None


def _write_arrays(path: Path, arrays: dict) -> None:
    import io

    import numpy as np

    from .._disk import write_whole

    file = io.BytesIO()
    np.savez(file, **arrays)
    write_whole(path, file.getvalue())
