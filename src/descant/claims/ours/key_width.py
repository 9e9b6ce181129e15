"""The least risk of a linear transformer block whose keys are narrower than its inputs, in closed form."""

from typing import Any

import numpy as np

from ...tasks import LinearRegression
from ...theory import Problem
from .. import Axis, Baseline, Evidence, Figure, Lab, Panel, Series, Table, claim, equal
from ..ltb._least_block import block_ends, narrow_risk, spectrum
from ..ltb._problems import crooked, isotropic

D, N = 3, 6
STARTS, MOST_STARTS = 2, 20
CLOSE = 1e-12


def _tasks(lab: Lab) -> dict[str, LinearRegression]:
    return {
        "isotropic, mean 1, noise 0.3": isotropic(D, N, 1.0, 0.3),
        "isotropic, mean 10, no noise": isotropic(D, N, 10.0),
        "without symmetry, noise 0.4": crooked(D, N, 0.4, key=lab.key("crooked")),
        "inputs of rank 2, noise 0.4": crooked(D, N, 0.4, key=lab.key("flat"), rank=2),
    }


def least_found(task: LinearRegression, width: int, seed: int, most: int) -> dict[str, Any]:
    """The least risk that descents from random weights reach, and how many were tried."""
    problem = Problem.of(task)
    goal = (1 + CLOSE) * narrow_risk(problem, width)
    ends = block_ends(problem, starts=STARTS, seed=seed, width=width, goal=goal, most=most)
    return {"risk": ends[0].risk, "starts": len(ends)}


@claim(
    "key-width",
    paper="descant",
    whose="extension",
    where="Proved in the method; the LTB paper asks for keys of width d",
    title="What a block loses with narrow keys, exactly; keys as wide as the rank of the problem suffice",
    statement=r"""
        Inputs $N(0, \Lambda)$, tasks $N(\mu, \Psi)$, label noise of a fixed level $\sigma$, one linear transformer
        block, query masked. With keys of width $d_k$ its least risk is
        $\mathrm{tr}(\Lambda\Psi) - \sum_{i \le d_k} \tfrac{n\phi_i^2}{(n+1)\phi_i + s}$, where
        $\phi_1 \ge \phi_2 \ge \dots$ are the eigenvalues of $\Lambda^{1/2}\Psi\Lambda^{1/2}$ and
        $s = \mathrm{tr}(\Lambda\Psi) + \sigma^2$. So every column of keys is worth one eigenvalue, whatever $\mu$ is,
        and $d_k = \mathrm{rank}(\Lambda^{1/2}\Psi^{1/2})$, $d_v = d_f = 1$ already reach the least risk of all blocks.
    """,
    refuted_by={
        "formula": "A width at which the least risk that descent over all weights finds differs from the formula.",
        "enough": "A problem on which more width than its rank lowers the risk.",
    },
    method=r"""
        Proof. In labels $y - X\mu$, write $v = (p, q)$ for what values read and $U = W_K^\top W_Q$. What the block adds
        to its start splits into a part odd in $w - \mu$, a step with $\Gamma^\top = [q I,\ p]\,U$, and an even part,
        uncorrelated with it and with the target, which only costs. The rank of $\Gamma$ is at most that of $U$, so at
        most $d_k$; and the best $\Gamma$ of a given rank keeps the largest $\phi_i$ (the risk is a squared distance
        from $\Gamma^*$ in a metric that commutes with it). Values that read $y - X\mu$ alone reach it.

        The experiment minimises the exact risk over $v$, $W_K$, $W_Q$ and the skip by quasi-Newton steps from random
        weights, without the proof's help.
    """,
    quick="4 problems in 3 dimensions, widths 1 to 3, at least 2 starts each",
    full="at least 20 starts each",
    seconds=8,
)
def key_width(lab: Lab) -> Evidence:
    """Descent over blocks of each width beside the formula."""
    checks, rows, panels = [], [], []
    for number, (name, task) in enumerate(_tasks(lab).items()):
        lab.tell(name, None)
        problem = Problem.of(task)
        rank = int(np.sum(spectrum(problem) > 1e-12 * spectrum(problem)[0]))
        found = lab.keep(
            name,
            lambda task=task, number=number: [
                least_found(task, width, 100 * number + width + 1000 * lab.seed, MOST_STARTS)
                for width in range(1, D + 1)
            ],
        )
        formula = [narrow_risk(problem, width) for width in range(1, D + 1)]
        worst = max(range(D), key=lambda index: abs(found[index]["risk"] / formula[index] - 1))
        checks.append(
            equal(
                f"least risk found over the formula, {name}, furthest off (d_k = {worst + 1})",
                found[worst]["risk"] / formula[worst],
                1.0,
                against="formula",
                tolerance=CLOSE,
                reason="Both are the exact risk of given weights; descents that arrive end within 1e-14 of each other.",
            )
        )
        if rank < D:
            checks.append(
                equal(
                    f"least risk found at d_k = {D} over that at the rank, {rank}, {name}",
                    found[-1]["risk"] / found[rank - 1]["risk"],
                    1.0,
                    against="enough",
                    tolerance=CLOSE,
                    reason="As above.",
                )
            )
        rows += [
            (name, width, formula[width - 1], found[width - 1]["risk"], found[width - 1]["starts"])
            for width in range(1, D + 1)
        ]
        widths = tuple(range(D + 1))
        panels.append(
            Panel(
                name,
                Axis("width of the keys"),
                Axis("least in-context risk"),
                (
                    Series("formula", widths, (narrow_risk(problem, 0), *formula), style="line"),
                    Series("found by descent", widths[1:], tuple(each["risk"] for each in found), style="points"),
                ),
                (Baseline("all widths", narrow_risk(problem, D)),),
            )
        )
    figure = Figure(
        "key-width",
        f"Least risk of a block against the width of its keys, d = {D}, n = {N}",
        "Each unit of width is worth one eigenvalue of the problem, the largest first; width 0 answers with the prior "
        "mean. Inputs of rank 2 need no third.",
        tuple(panels),
    )
    columns = ("problem", "width", "formula", "least risk found", "starts tried")
    return Evidence(
        tuple(checks), (figure,), (Table("key-width", "Least risks of blocks", columns, tuple(rows)),),
        headline=checks[0].name,
    )  # fmt: skip
