"""Does training find products of blocks?"""

from .. import Evidence, Lab, claim
from ._found import REFUTED, found_by_training
from ._problems import Problem, product, transposed_product
from ._training import Kind, Settings

SETTINGS = Settings(steps=400, batch=128, rate=0.03, seeds=16, every=20)
FULL = Settings(steps=5000, batch=512, rate=0.03, seeds=24, every=100)

_METHOD = r"""
    Adam on fresh inputs from random weights, one block with a residual; loss on fresh inputs beside the network by
    hand, predicting zero, and plain LSA of equal size (as many parameters: its heads are smaller, so it has more of
    them). Found means: within a thousandth of the answer's mean square. The floor of plain LSA is exact: its output
    changes sign with $H$, the product does not. The paper trains nothing.
"""
_QUICK = "400 steps, batches of 128, step size 0.03, sixteen seeds; three of plain LSA"
_FULL = "5,000 steps, batches of 512, step size 0.03, 24 seeds; three of plain LSA"


@claim(
    "elsa-trained-ab",
    paper="elsa",
    whose="extension",
    where="Beyond the paper: are the constructions found by training?",
    title="Training finds the product $AB$ of $2\\times2$ blocks from most starts; plain attention can't learn it",
    statement=r"""
        Trained from random weights on standard normal $2\times2$ blocks $A$ and $B$, one block of ELSA with three heads
        and a residual learns to put out $AB$ from more than half of all starts. No plain LSA of any depth and size can
        where $H$ and $-H$ are equally likely: an odd function of $H$ is no better than zero here.
    """,
    refuted_by=REFUTED,
    method=_METHOD,
    quick=_QUICK,
    full=_FULL,
    seconds=15,
)
def trained_ab(lab: Lab) -> Evidence:
    """One block: 3 heads with biases, 5 without."""
    return _judged(lab, product(), plain_heads=5)


@claim(
    "elsa-trained-atb",
    paper="elsa",
    whose="extension",
    where="Beyond the paper: are the constructions found by training?",
    title="Training finds $A^\\top B$ of $2\\times2$ blocks from most starts; plain attention can't learn it",
    statement=r"""
        Trained from random weights on standard normal $2\times2$ blocks $A$ and $B$ side by side, one block of ELSA
        with three heads and a residual learns to put out $A^\top B$ (Property 4) from more than half of all starts. No
        plain LSA of any depth and size can where $H$ and $-H$ are equally likely.
    """,
    refuted_by=REFUTED,
    method=_METHOD,
    quick=_QUICK,
    full=_FULL,
    seconds=12,
)
def trained_atb(lab: Lab) -> Evidence:
    """One block: 3 heads with biases, 4 without."""
    return _judged(lab, transposed_product(), plain_heads=4)


def _judged(lab: Lab, problem: Problem, plain_heads: int) -> Evidence:
    kinds = {"ELSA": Kind(1, 3, True), "LSA": Kind(1, plain_heads, False)}
    checks, figure, table, _ = found_by_training(lab, problem, kinds, lab.pick(SETTINGS, FULL))
    return Evidence(tuple(checks), (figure,), (table,), headline=checks[0].name)
