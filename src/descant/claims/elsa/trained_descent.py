"""Does training find descent: one gradient step, and ridge regression in context?"""

from .. import Evidence, Lab, claim
from ._found import found_by_training
from ._problems import gradient_step, regression
from ._training import Kind, Settings

STEP = Settings(steps=1000, batch=128, rates=(0.01, 0.03), seeds=3, every=25)
RIDGE = Settings(steps=1000, batch=128, rates=(0.003, 0.01), seeds=3, every=25)
FULL = Settings(steps=10_000, batch=512, rates=(0.003, 0.01, 0.03), seeds=10, every=200)
KINDS = {"ELSA": Kind(2, 2, True), "LSA": Kind(2, 4, False)}


@claim(
    "elsa-trained-step",
    paper="elsa",
    where="Beyond the paper: are the constructions found by training?",
    title="Training finds a gradient step; plain attention can't learn it",
    statement=r"""
        Trained from random weights on $H = [X\;y\;0\;0\;0;\;0\;0\;w\;0\;0]$, ELSA with two blocks of two heads learns
        to put out $w - \eta(X^\top(Xw-y) + \lambda w)$ in the place of $w$. Plain LSA of equal size does not, and no
        plain LSA of any depth can: of the answer's part $\eta X^\top y$, which is even in $H$, it learns nothing.
    """,
    refuted_by="A mean loss over seeds clearly above a thousandth; or a network without biases below its floor.",
    method=r"""
        Adam on fresh inputs from random weights ($\eta=0.1$, $\lambda=0.5$, 4 samples in 2 dimensions, labels of
        another task with noise); loss on fresh inputs beside the network by hand (two blocks of two heads), predicting
        zero, and plain LSA with as many parameters (two blocks of four heads). Found means: within a thousandth of the
        answer's mean square, in the mean over seeds at the better step size. The paper trains nothing; this is new
        evidence.
    """,
    quick="1,000 steps, batches of 128, two step sizes, three seeds",
    full="10,000 steps, batches of 512, three step sizes, ten seeds",
    seconds=50,
)
def trained_step(lab: Lab) -> Evidence:
    """Two blocks: 2 heads with biases, 4 without."""
    return found_by_training(lab, gradient_step(), KINDS, lab.pick(STEP, FULL), odd_floor=True)


@claim(
    "elsa-trained-ridge",
    paper="elsa",
    where="Beyond the paper: are the constructions found by training?",
    title="Training on ridge regression in context finds something as good as the constructed step",
    statement=r"""
        Trained from random weights on in-context ridge regression with the natural input $[X\;y\;0;\;x_q\;0\;0]$, ELSA
        with two blocks reaches the loss of the constructed iteration that takes as many blocks: one gradient step from
        zero with the best step size.
    """,
    refuted_by="A mean loss over seeds that exceeds the constructed iteration's by clearly more than a thousandth.",
    method=r"""
        Adam on fresh inputs from random weights (3 samples in 2 dimensions, tasks $N(0, I)$, noise 0.5). The answer is
        the ridge prediction with the best penalty, so that the loss is the in-context risk less its least value. Beside
        it predicting zero and plain LSA with as many parameters; here the answer is odd in $H$, and nothing forbids
        plain LSA to learn it. The paper trains nothing; this is new evidence.
    """,
    quick="1,000 steps, batches of 128, two step sizes, three seeds",
    full="10,000 steps, batches of 512, three step sizes, ten seeds",
    seconds=40,
)
def trained_ridge(lab: Lab) -> Evidence:
    """Two blocks: 2 heads with biases, 4 without."""
    return found_by_training(lab, regression(), KINDS, lab.pick(RIDGE, FULL), odd_floor=False)
