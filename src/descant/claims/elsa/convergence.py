"""How many iterations the network needs, against the condition number."""

import numpy as np

from ...programs.studies import CONDITIONS, Convergence, convergence
from .. import Axis, Evidence, Figure, Lab, Panel, Series, Table, claim, equal

# Distance to the ridge estimate, relative to its start, that counts as having arrived.
ARRIVED = 1e-6


@claim(
    "elsa-convergence",
    paper="elsa",
    where="Section 3.5: T stacked modules approach the ridge estimate",
    title="The network converges at the rate of gradient descent",
    statement=r"""
        The stacked modules approach the ridge estimate as $T$ grows, at the rate of gradient descent:
        $\log|w_T - \hat w|$ falls by $-\log(1-\eta\lambda_{\min})$ in each iteration, so that with
        $\eta \propto 1/\lambda_{\max}$ the number of iterations grows in proportion to the condition number of
        $X^\top X + \lambda I$.
    """,
    refuted_by="A fitted rate more than 2% away from the theoretical one at some condition number.",
    method=r"""
        Problems are built through their singular values, so that the condition number is known. Ridge descent is
        compiled to an ELSA network (with half the largest stable step), run on its own result again and again, and the
        slope of the logarithm of the distance is fitted from the fourth stretch on.
    """,
    quick="condition numbers 1, 10, 100 and 1000; 20 samples in 4 dimensions",
    full="the same",
    seconds=20,
)
def elsa_convergence(lab: Lab) -> Evidence:
    """The study of compiled networks, per condition number."""
    found: list[Convergence] = []
    for index, condition in enumerate(CONDITIONS):
        lab.tell(f"condition number {condition}", index / len(CONDITIONS))
        kept = lab.keep(f"condition-{condition}", lambda c=condition: _plain(convergence(c)))
        found.append(
            Convergence(**{**kept, "iterations": tuple(kept["iterations"]), "distances": tuple(kept["distances"])})
        )
    needed = [np.log(1 / ARRIVED) / -each.slope for each in found]
    growth = np.polyfit(np.log(CONDITIONS[1:]), np.log(needed[1:]), 1)[0]
    checks = [
        equal(
            f"fitted rate over the theoretical one, condition number {each.condition}",
            each.slope / each.theory,
            1.0,
            tolerance=0.02,
            reason="The slope is fitted where faster modes have left less than 1% of the distance.",
        )
        for each in found
    ]
    checks.append(
        equal(
            "power of the condition number that the iterations grow with, from 10 on",
            float(growth),
            1.0,
            tolerance=0.05,
            reason="−log(1 − x) is x to first order: at condition number 10 it is 2.6% off.",
        )
    )
    figure = Figure(
        "convergence",
        "Convergence of the network to the ridge estimate",
        "Left: the network's points fall along the theoretical rate (lines). Right: the iterations to one millionth of "
        "the distance grow in proportion to the condition number.",
        (
            Panel(
                "distance against iterations",
                Axis("iterations T", log=True),
                Axis("|w_T − ridge|", log=True),
                tuple(series for each in found for series in _lines(each)),
            ),
            Panel(
                "iterations to 1e-6 of the start",
                Axis("condition number", log=True),
                Axis("iterations T", log=True),
                (
                    Series("network, fitted rate", CONDITIONS, tuple(needed), style="points"),
                    Series(
                        "theory", CONDITIONS, tuple(np.log(1 / ARRIVED) / -each.theory for each in found), style="line"
                    ),
                ),
            ),
        ),
    )
    table = Table(
        "rates",
        "Rates",
        ("condition number", "fitted slope of log |w_T − ridge|", "theory", "ratio"),
        tuple((each.condition, each.slope, each.theory, each.slope / each.theory) for each in found),
    )
    return Evidence(tuple(checks), (figure,), (table,))


def _plain(each: Convergence) -> dict:
    return {name: getattr(each, name) for name in ("condition", "iterations", "distances", "slope", "theory")}


def _lines(each: Convergence) -> tuple[Series, Series]:
    label = f"κ = {each.condition}"
    steps = np.geomspace(each.iterations[0], each.iterations[-1], 40)
    line = each.distances[-1] * np.exp(each.theory * (steps - steps[-1]))
    return (
        Series(label, each.iterations, each.distances, style="points", family=label),
        Series(f"{label}, theory", tuple(steps), tuple(line), style="line", family=label),
    )
