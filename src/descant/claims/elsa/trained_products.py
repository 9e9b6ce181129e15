"""Does training find products of blocks?"""

from .. import Evidence, Lab, claim
from ._found import found_by_training
from ._problems import product, transposed_product
from ._training import Kind, Settings

SETTINGS = Settings(steps=600, batch=128, rates=(0.01, 0.03), seeds=3, every=20)
FULL = Settings(steps=5000, batch=512, rates=(0.003, 0.01, 0.03), seeds=10, every=100)

_REFUTED = "A mean loss over seeds clearly above a thousandth; or a network without biases below its floor."
_METHOD = r"""
    Adam on fresh inputs from random weights, two step sizes and three seeds each, one block with a residual; loss on
    fresh inputs beside the network by hand, predicting zero, and plain LSA of equal size (as many parameters: its heads
    are smaller, so it has more of them). Found means: within a thousandth of the answer's mean square, in the mean over
    seeds at the better step size. The floor of plain LSA is exact: its output changes sign with $H$, the product does
    not. The paper trains nothing; this is new evidence.
"""


@claim(
    "elsa-trained-ab",
    paper="elsa",
    where="Beyond the paper: are the constructions found by training?",
    title="Training finds the product $AB$; plain attention can't learn it",
    statement=r"""
        Trained from random weights on inputs that hold two $2\times2$ blocks $A$ and $B$, ELSA with one block learns to
        put out $AB$. Plain LSA of equal size does not, and no plain LSA of any depth can: an odd function of $H$ can't
        be better than zero here.
    """,
    refuted_by=_REFUTED,
    method=_METHOD,
    quick="600 steps, batches of 128, two step sizes, three seeds",
    full="5,000 steps, batches of 512, three step sizes, ten seeds",
    seconds=25,
)
def trained_ab(lab: Lab) -> Evidence:
    """One block: 3 heads with biases, 5 without."""
    kinds = {"ELSA": Kind(1, 3, True), "LSA": Kind(1, 5, False)}
    return found_by_training(lab, product(), kinds, lab.pick(SETTINGS, FULL), odd_floor=True)


@claim(
    "elsa-trained-atb",
    paper="elsa",
    where="Beyond the paper: are the constructions found by training?",
    title="Training finds the product $A^\\top B$; plain attention can't learn it",
    statement=r"""
        Trained from random weights on inputs that hold two $2\times2$ blocks $A$ and $B$ side by side, ELSA with one
        block learns to put out $A^\top B$ (Property 4). Plain LSA of equal size does not, and no plain LSA of any depth
        can.
    """,
    refuted_by=_REFUTED,
    method=_METHOD,
    quick="600 steps, batches of 128, two step sizes, three seeds",
    full="5,000 steps, batches of 512, three step sizes, ten seeds",
    seconds=20,
)
def trained_atb(lab: Lab) -> Evidence:
    """One block: 3 heads with biases, 4 without."""
    kinds = {"ELSA": Kind(1, 3, True), "LSA": Kind(1, 4, False)}
    return found_by_training(lab, transposed_product(), kinds, lab.pick(SETTINGS, FULL), odd_floor=True)
