"""A network is tied to the layout of its input."""

from dataclasses import asdict

import jax.numpy as jnp

from ...programs import compile_program
from ...programs.studies import Outcome, input_format
from .. import Axis, Baseline, Evidence, Figure, Lab, Panel, Series, Table, at_least, claim, equal, shown

# Changes that leave the meaning of the layout alone, and those that do not.
HARMLESS = ("none", "samples reordered", "last samples zeroed", "ones below w")
BROKEN_AT = 1e-2
MOVED = "least error of the fixed network when a variable was moved"


@claim(
    "elsa-input-format",
    paper="elsa",
    whose="extension",
    where="Section 3: the input's design; that constructions depend on it is a remark of the summary",
    title="Moving a variable breaks a compiled network, reordering the samples does not: nine changes",
    statement=r"""
        The weights of a compiled ridge descent are tied to the places of the variables. Another order of the samples,
        empty samples, and ones where nothing is read do no harm. Moving $y$ or $w$ (and with them $X$) to other
        columns or rows breaks the network, and an input of another shape can't be taken at all (biases have a row per
        token). The same algorithm, compiled for the new layout, is exact again. Shown for nine changes.
    """,
    refuted_by={
        "harmless": "One of the four changes called harmless that changes the answer.",
        "moved": "One of the three moves of a variable that leaves the answer as it was.",
        "shape": "An input of another shape that the network takes.",
        "mended": "A layout for which compiling anew does not give the algorithm's answer.",
    },
    method=r"""
        Ridge descent compiled for one layout (12 samples, 3 dimensions, 15 iterations) is run on changed inputs and
        compared with the algorithm itself; then the program is told where the variables are, and compiled again.
    """,
    quick="nine changes of the layout",
    full="the same",
    seconds=15,
)
def elsa_input_format(lab: Lab) -> Evidence:
    """The study of changed inputs."""
    found = [Outcome(**each) for each in lab.keep("outcomes", lambda: [asdict(each) for each in input_format()])]
    rounding = "Rounding over 15 iterations, relative to the largest weight."
    harmless = [each for each in found if each.name in HARMLESS]
    moved = [each for each in found if each.name not in HARMLESS]
    measured = [each for each in moved if each.fixed is not None]
    checks = (
        equal(
            "worst error of the fixed network on harmless changes",
            max(float("nan") if each.fixed is None else each.fixed for each in harmless),
            0.0,
            against="harmless",
            tolerance=1e-13,
            reason=rounding,
        ),
        at_least(
            MOVED,
            min(each.fixed for each in measured if each.fixed is not None),
            BROKEN_AT,
            against="moved",
            reason="An answer that is off by a hundredth or more is another answer.",
        ),
        shown(
            "inputs of another shape are refused",
            _refuses_other_shapes(),
            against="shape",
            exact=True,
            reason="Tried with an empty column more, and with the input transposed: yes or no.",
        ),
        equal(
            "worst error after compiling for the new layout",
            max(each.recompiled for each in found),
            0.0,
            against="mended",
            tolerance=1e-13,
            reason=rounding,
        ),
    )
    floor = 1e-17
    ticks = tuple((float(index), each.name) for index, each in enumerate(found))
    shown_fixed = [(index, each.fixed) for index, each in enumerate(found) if each.fixed is not None]
    figure = Figure(
        "input-format",
        "Error of a fixed network on changed inputs",
        "Errors are rounding, or as large as the answer itself. Compiled anew, the network is exact for every layout. "
        "Where there is no point for the fixed network, it can't take the input.",
        (
            Panel(
                "ridge descent, 12 samples, d = 3, 15 iterations",
                Axis("change of the input", ticks=ticks),
                Axis("relative error", log=True),
                (
                    Series(
                        "fixed network",
                        tuple(index for index, _ in shown_fixed),
                        tuple(max(error, floor) for _, error in shown_fixed),
                        style="points",
                    ),
                    Series(
                        "compiled anew",
                        tuple(range(len(found))),
                        tuple(max(each.recompiled, floor) for each in found),
                        style="points",
                    ),
                ),
                (Baseline("broken beyond this", BROKEN_AT),),
            ),
        ),
        columns=1,
    )
    table = Table(
        "changes",
        "Changes of the input",
        ("change", "fixed network", "relative error", "error, compiled anew"),
        tuple((each.name, "broken" if each.broken else "unharmed", each.fixed, each.recompiled) for each in found),
        "No error: the network takes no such input.",
    )
    return Evidence(checks, (figure,), (table,), headline=MOVED)


def _refuses_other_shapes() -> bool:
    """Whether the network for 12 samples in 3 dimensions takes no input of another shape."""
    network = compile_program("ridge", n=12, d=3, T=15).network
    columns = network.blocks[0].columns
    for shape in ((12, columns + 1), (columns, 12)):
        try:
            network(jnp.zeros(shape))
        except ValueError:
            continue
        return False
    return True
