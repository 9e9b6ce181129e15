"""`descant decompile`: the text of a program from its network."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ._flags import Force, Json
from ._printing import print_json


def decompile_command(
    folder: Path,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Write a compiled network, or one that was trained from it, as the text of a program: a line per block.

    `descant compile TEXT --as-written` makes the same weights of it again.

    Parameters
    ----------
    folder
        What `descant compile ... --out` wrote, or the folder of a run of `descant train --from`.
    out
        File for the text; printed if left out. One that is there is not written over.
    force
        Write over OUT, whatever it is.
    """
    from .._disk import write_whole
    from .._output import new_file
    from ..programs import decompile, load

    if out is not None:
        new_file(out, force=force)
    text = decompile(load(folder))
    if out is not None:
        write_whole(out, text)
    if json:
        print_json("decompile", {"folder": str(folder), "out": None if out is None else str(out), "text": text})
    elif out is None:
        print(text, end="")
    else:
        print(f"Written to {out}; `descant compile {out} --as-written` makes the same network of it.")
