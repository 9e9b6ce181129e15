"""How many parameters the biases cost."""

import numpy as np

from ...attention import ELSABlock
from .. import Axis, Evidence, Figure, Lab, Panel, Series, Table, claim, equal
from ._formula import SHAPES, drawn

# Samples of the natural input, in five dimensions: m = N + d rows, n = d + 4 columns.
SAMPLES, D = (4, 20, 40, 100), 5


def count(block: ELSABlock) -> int:
    """Numbers in the weights and biases."""
    arrays = (block.w1, block.w2, block.w3, block.b1, block.b2, block.b3)
    return sum(each.size for each in arrays if each is not None)


@claim(
    "elsa-parameters",
    paper="elsa",
    whose="derived",
    identity=True,
    where="The definition of ELSA; the summary says twice as many",
    title="ELSA has $1 + m/n$ times the parameters of plain attention with as many heads: twice only for $m = n$",
    statement=r"""
        A head of plain linear attention on $H \in R^{m\times n}$ has $3n^2$ parameters, a head of ELSA
        $3n^2 + 3mn$: $1 + m/n$ times as many. On the natural input of ridge descent, $m$ is the number of samples plus
        $d$ and $n = d + 4$, so that the factor grows with the context.
    """,
    refuted_by={
        "factor": "A shape for which the numbers of parameters have another ratio.",
        "two": "A shape with $m \\ne n$ for which the ratio is 2.",
    },
    method="Blocks of both kinds are made, and the numbers in their arrays counted.",
    quick="three shapes, and the natural input for four context lengths",
    full="the same",
    seconds=2,
)
def parameters(lab: Lab) -> Evidence:
    """Counted arrays."""
    random = np.random.default_rng(lab.seed)
    natural = [(samples + D, D + 4) for samples in SAMPLES]
    rows = []
    for m, n in (*SHAPES, *natural):
        plain, extended = count(drawn(m, n, random, bias=False)), count(drawn(m, n, random))
        rows.append((m, n, plain, extended, extended / plain, 1 + m / n))
    decisive = f"ratio for {SAMPLES[-1]} samples in {D} dimensions"
    checks = (
        equal(
            decisive, rows[-1][4], rows[-1][5], against="factor", exact=True, tolerance=1e-14, reason="One division."
        ),
        equal(
            "largest difference between the ratio and 1 + m/n",
            max(abs(row[4] - row[5]) for row in rows),
            0.0,
            against="factor",
            exact=True,
            tolerance=1e-14,
            reason="Whole numbers, divided.",
        ),
        equal(
            "shapes with m ≠ n and a ratio of 2",
            sum(row[4] == 2 for row in rows if row[0] != row[1]),
            0,
            against="two",
            exact=True,
            tolerance=0.0,
            reason="Counted.",
        ),
    )
    figure = Figure(
        "parameters",
        "What the biases cost on the natural input",
        f"Parameters of ELSA over those of plain attention with as many heads, d = {D}: the factor grows with the "
        "context.",
        (
            Panel(
                "",
                Axis("samples in the context"),
                Axis("parameters, ELSA / plain"),
                (
                    Series("counted", SAMPLES, tuple(row[4] for row in rows[len(SHAPES) :]), style="points"),
                    Series("1 + m/n", SAMPLES, tuple(row[5] for row in rows[len(SHAPES) :]), style="line"),
                ),
            ),
        ),
        columns=1,
    )
    columns = ("m", "n", "plain, 4 heads", "ELSA, 4 heads", "ratio", "1 + m/n")
    table = Table("parameters", "Parameters counted", columns, tuple(rows))
    return Evidence(checks, (figure,), (table,), headline=decisive)
