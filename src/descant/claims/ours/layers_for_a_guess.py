"""What a second layer is worth, measured in the guess that it replaces."""

import numpy as np

from ...theory import one_step_risk
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim, equal
from ..initial_guess._setting import problem
from ._stacks import distance, left_over, stack_risk, two_layers

LENGTHS = tuple(range(1, 11))
# The length whose threshold the title speaks of.
SHOWN = 4
MEANS = (0.0, 1.0, 2.0, 4.0, 8.0)
# (d, n, degree) at which the bound's constant is compared with a least-squares fit.
FITTED = ((1, 4, 4), (1, 7, 4), (2, 3, 2), (2, 5, 4))
ROUNDING = "Two exact numbers: rounding alone, at most 1e-14 in what we saw."


def worth(n: int) -> float:
    """|mu| up to which, at d = 1 and Psi = 1, two layers without a guess beat one layer with the best."""
    return (left_over(1, n, 1) / left_over(1, n, 2) - 1) ** 0.5


@claim(
    "layers-for-a-guess",
    paper="descant",
    where="docs/theory/gram.md, More layers",
    title="Without noise, at d = 1, a second layer replaces a guess for small prior means; in no dimension does any "
    "depth for all",
    statement=r"""
        Let inputs be $N(0, \Lambda)$ of full rank, labels without noise, the query masked in every layer and its label
        slot empty. Then $L$ layers of linear self-attention, with any number of heads, have at least the risk
        $$\frac{E\,|w|^2_\Lambda}{\binom{dn/2+k}{k}}, \qquad k = \frac{3^L-1}{2},$$
        for every law of tasks. It grows with the prior mean, so at every depth there is a mean from which one layer
        with the right guess is better.

        At $d=1$ and up to $n=10$, two layers with one head each reach this bound, for all tasks at once. There two
        layers without a guess beat the best single layer with one exactly if
        $\mu^2 < \psi\,\bigl(\binom{n/2+4}{4}/(n/2+1) - 1\bigr)$, $|\mu| < 2$ at $n=4$ and $\psi=1$; and a
        right guess takes $\mu^2/\binom{n/2+4}{4}$ off the risk of the two layers, for every mean.
    """,
    refuted_by={
        "bound": "A distance of the constant 1 from the polynomials that is not the bound's.",
        "reached": "A context length up to 10 and a mean at which the two layers are away from the bound, $d=1$.",
        "worth": "A mean below the threshold at which they don't beat one layer with a guess, or one above at which "
        "they do.",
    },
    method=r"""
        The weights of a prediction are polynomials in the entries of the Gram matrix, of the degrees $1, 4, 13, \dots$
        and without a constant. Given the task $w$, these are polynomials in $S = X^\top X/n$ without a constant, and
        their distance from $w$ is at least $|w|$ times that of the constant 1. It is the value at 0 of the Christoffel
        function of the Wishart law, $1/\binom{dn/2+k}{k}$; compared with least squares on the nodes of Gauss's
        formulas. At $d=1$ two layers are written out whose error is $w$ times the polynomial of degree 4 that attains
        it, and their risk is integrated by formulas that are exact for polynomials of its degree.
    """,
    quick="n = 1 to 10 at d = 1 with means from 0 to 8; the bound at d = 1 and 2",
    full="the same",
    seconds=6,
)
def layers_for_a_guess(lab: Lab) -> Evidence:
    """The bound, the two layers that reach it, and the means on either side of the threshold."""
    lab.tell("the bound", 0.1)
    fitted = [(d, n, most, distance(d, n, most)) for d, n, most in FITTED]
    lab.tell("two layers", 0.3)
    rows, checks = [], []
    for d, n, most, found in fitted:
        # The degree k in the place of that of whole layers.
        wanted = 1 / float(np.prod([(d * n / 2 + j) / j for j in range(1, most + 1)]))
        checks.append(
            equal(
                f"squared distance of 1 from polynomials in S, d = {d}, n = {n}, degree {most}: over the bound's",
                found / wanted,
                1.0,
                tolerance=1e-12,
                exact=True,
                against="bound",
                reason="Exact but for rounding, at most 1e-14 in what we saw.",
            )
        )
    decisive = ""
    for n in LENGTHS:
        network, limit = two_layers(n), worth(n)
        step = float(one_step_risk(problem(0.0, d=1, n=n), np.zeros(1)))
        risks = lab.keep(f"risks-{n}", lambda net=network, n=n: [stack_risk(net, n, c) for c in MEANS])
        sides = lab.keep(
            f"sides-{n}", lambda net=network, n=n, at=limit: [stack_risk(net, n, f * at) for f in (0.99, 1.01)]
        )
        bounds = [(1 + c**2) * left_over(1, n, 2) for c in MEANS]
        rows += [
            (n, c, (1 + c**2) * left_over(1, n, 1), step, risk, bound, left_over(1, n, 2))
            for c, risk, bound in zip(MEANS, risks, bounds, strict=True)
        ]
        checks += _checks(n, risks, bounds, sides, step)
        decisive = checks[-2].name if n == SHOWN or not decisive else decisive
    return Evidence(tuple(checks), (_figure(),), (_table(rows),), (_words(),), headline=decisive)


def _checks(n: int, risks: list[float], bounds: list[float], sides: list[float], step: float) -> list[Check]:
    return [
        equal(
            f"n = {n}: risk of the two layers over the bound, less 1, the worst of {len(MEANS)} means",
            float(np.max(np.abs(np.divide(risks, bounds) - 1))),
            0.0,
            tolerance=1e-12,
            exact=True,
            against="reached",
            reason=ROUNDING,
        ),
        at_most(
            f"n = {n}: risk of two layers without a guess, 1% below the threshold |μ| = {worth(n):.3f}",
            sides[0],
            step,
            exact=True,
            against="worth",
            reason="Exact numbers: they must be below one layer with the right guess.",
        ),
        at_least(
            f"n = {n}: the same 1% above, where it is the least that two layers can have",
            sides[1],
            step,
            exact=True,
            against="worth",
            reason="Exact numbers: they must be above one layer with the right guess.",
        ),
    ]


def _words() -> str:
    limits = ", ".join(f"{worth(n):.3f} at n = {n}" for n in LENGTHS)
    return (
        f"At $d=1$ and $\\psi=1$ the second layer is worth a guess up to $|\\mu|$ = {limits}. For larger $d$ the bound "
        "is not reached by anything that we know: what two layers can do there is open."
    )


def _figure() -> Figure:
    n = SHOWN
    means = tuple(np.linspace(0.0, 4.0, 41))
    step = left_over(1, n, 1)
    return Figure(
        "layers",
        "One and two layers, with and without a guess",
        "Without a guess the risk grows with the prior mean, with two layers more slowly: they beat one layer with the "
        f"right guess up to |μ| = {worth(n):g}. With a guess the mean makes no difference.",
        (
            Panel(
                f"d = 1, n = {n}, Ψ = 1, no noise",
                Axis("prior mean μ"),
                Axis("least in-context risk", log=True),
                tuple(
                    Series(f"{words} without a guess", means, tuple((1 + m**2) * left_over(1, n, L) for m in means))
                    for words, L in (("one layer", 1), ("two layers", 2))
                ),
                (
                    Baseline("one layer with the right guess", step, "one layer without a guess"),
                    Baseline("two layers with the right guess", left_over(1, n, 2), "two layers without a guess"),
                ),
            ),
        ),
        columns=1,
    )


def _table(rows: list[tuple]) -> Table:
    columns = ("n", "μ", "one layer, no guess", "one, guess", "two layers, no guess", "bound for two", "two, guess")
    return Table("risks", "Risks at d = 1, Ψ = 1, no noise", columns, tuple(rows), "All are exact.")
