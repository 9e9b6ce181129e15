"""Where the curve over heads ends: at d or at d + 1."""

import numpy as np

from ...theory import best_heads, heads_needed
from .. import (
    CONTROL,
    Axis,
    Baseline,
    Check,
    Evidence,
    Figure,
    Lab,
    Panel,
    Series,
    Table,
    at_least,
    at_most,
    claim,
    shown,
)
from ._setting import one_step, problem

# The example of both cases: d = n = 3, noise variance 2.
SMALL, NOISE = 3, 2.0
# The paper's own sizes, without noise.
D = N = 10
# What descents leave open of a least risk.
LEFT = 1e-11
# |mu|^2 as multiples of the criterion's threshold.
AROUND = (0.25, 0.5, 0.8, 0.95, 1.05, 1.25, 2.0, 4.0)


def threshold(d: int, n: int, noise: float) -> float:
    """|mu|^2 up to which d heads do: a^2 / (4 g (e - g)) with the optimum's three numbers, prior covariance I."""
    kappa = d + noise
    variance = 2 * kappa**2 / n + 2 * d * (1 + 1 / n)
    whole = 1 + d * n / 2 + noise**2 / variance
    a, e, g = n / (n + d + 1 + noise), n / 2 / whole, noise / variance / whole
    return a**2 / (4 * g * (e - g))


@claim(
    "head-saturation",
    paper="initial-guess",
    whose="derived",
    where="Section on multi-head LSA: the bound of d + 1 heads, made sharp by derivation",
    title="With a non-zero prior mean the risk stops falling at $d$ heads, or at $d+1$",
    statement=r"""
        Let inputs be $N(0, I)$, tasks $N(\mu, I)$ with $\mu \ne 0$, the query masked and its label slot empty. Then the
        least risk falls with every head up to $d$ (seen at $d=n=10$ and 3). Whether the last, $(d+1)$-th head still
        helps is decided by a criterion: without noise it never does; with noise and
        $V = 2\kappa^2/n + 2d(1+1/n)$, $\kappa = d+\sigma^2$, $D = 1 + dn/2 + \sigma^4/V$, it does exactly if
        $a^2 < 4|\mu|^2 g(e-g)$, where $a = n/(n+d+1+\sigma^2)$, $e = n/(2D)$, $g = \sigma^2/(VD)$. Among these laws
        the bound $d+1$ of the paper is tight for noisy data with a large mean only; for others, see `constant-norm`.
    """,
    refuted_by={
        "useless": "A last head that helps where the criterion says that it does not.",
        "useful": "A last head that does not help where the criterion says that it does.",
        "before": "A head before the last two that does not help.",
    },
    method=r"""
        Least risks for given numbers of heads, by descent on the exact risk over subspaces from many starts: at $d=n=3$
        with noise variance 2 for eight means around the criterion's threshold, among them $|\mu|^2 = 3$ and $27$, and
        at $d=n=10$ without noise.
    """,
    quick="ten means at d = n = 3, all heads at d = n = 10",
    full="the same",
    seconds=15,
)
def head_saturation(lab: Lab) -> Evidence:
    """Risks with d and d + 1 heads around the criterion's threshold, and two whole curves."""
    d, n = SMALL, SMALL
    limit = threshold(d, n, NOISE)
    base = one_step(d, n, NOISE**0.5)

    def gaps(size: float, heads: tuple[int, ...]) -> list[float]:
        posed = problem((size / d) ** 0.5, d=d, n=n, sigma=NOISE**0.5)
        return [best_heads(posed, each).risk - base for each in heads]

    lab.tell("means around the threshold", 0.1)
    sizes = [factor * limit for factor in AROUND]
    pairs = lab.keep("pairs", lambda: [gaps(size, (d, d + 1)) for size in sizes])
    lab.tell("both cases", 0.4)
    few = lab.keep("few", lambda: gaps(3.0, (1, 2, 3, 4, 5)))
    many = lab.keep("many", lambda: gaps(27.0, (1, 2, 3, 4, 5)))
    lab.tell("the paper's sizes", 0.6)
    posed = problem(1.0, d=D, n=N)
    clean = lab.keep("clean", lambda: [best_heads(posed, each).risk - one_step(D, N) for each in range(1, D + 2)])
    gains = [first - second for first, second in pairs]
    expected = [factor > 1 for factor in AROUND]
    counted = [heads_needed(problem((size / d) ** 0.5, d=d, n=n, sigma=NOISE**0.5)) == d + 1 for size in sizes]
    below = [gain for gain, helps in zip(gains, expected, strict=True) if not helps]
    beyond = [gain for gain, helps in zip(gains, expected, strict=True) if helps]
    left = "Rounding: nothing was left open in what we saw."
    decisive = f"least gain of head d + 1 beyond the threshold, from {min(f for f in AROUND if f > 1):g} times it on"
    checks: list[Check] = [
        at_most(
            f"largest gain of head d + 1 below the threshold, up to {max(f for f in AROUND if f < 1):g} times it",
            max(*below, few[2] - few[3]),
            LEFT,
            against="useless",
            reason=left,
        ),
        at_least(decisive, min(beyond), 1e-6, against="useful", reason="Far above what the descents leave open."),
        at_least(
            "gain of head d + 1 at |μ|² = 27, d = n = 3",
            many[2] - many[3],
            0.05,
            against="useful",
            reason="Far above what the descents leave open.",
        ),
        at_most(
            f"gain of head d + 1 without noise, d = n = {D}",
            clean[-2] - clean[-1],
            LEFT,
            against="useless",
            reason=left,
        ),
        at_least(
            f"least gain of a head before that, d = n = 3 and {D}",
            float(min(np.min(-np.diff(curve)) for curve in (few[:3], many[:3], clean[:-1]))),
            1e-3,
            against="before",
            reason="Far above what the descents leave open.",
        ),
        shown(
            "the library's criterion in general coordinates agrees",
            counted == expected,
            against=CONTROL,
            reason="Another form of the same criterion, by eigenvalues: yes or no.",
        ),
    ]
    heads = (1, 2, 3, 4, 5)
    figure = Figure(
        "saturation",
        "Where more heads stop helping",
        "Left: at |μ|² = 3 the curve ends at d = 3 heads, at 27 the fourth still lowers it. Right: what the last head "
        "buys, zero up to the criterion's threshold (the shaded part) and growing beyond it.",
        (
            Panel(
                "d = n = 3, noise variance 2",
                Axis("heads"),
                Axis("gap to one gradient step", log=True),
                (Series("|μ|² = 3", heads, tuple(few)), Series("|μ|² = 27", heads, tuple(many))),
            ),
            Panel(
                "what head d + 1 buys",
                Axis("|μ|²"),
                Axis("risk with d heads less risk with d + 1"),
                (Series("d = n = 3", tuple(sizes), tuple(gains)),),
                (Baseline("nothing", 0.0),),
                shaded=(0.0, limit),
            ),
        ),
    )
    table = Table(
        "around",
        "Around the threshold",
        ("|μ|²", "times the threshold", "gap, d heads", "gap, d + 1 heads", "heads needed, by the criterion"),
        tuple(
            (size, factor, pair[0], pair[1], d + 1 if factor > 1 else d)
            for size, factor, pair in zip(sizes, AROUND, pairs, strict=True)
        ),
        f"d = n = {d}, noise variance {NOISE:g}: the threshold is |μ|² = {limit:.4f}. d + 1 heads are exact, d a "
        "minimum over one number.",
    )
    return Evidence(tuple(checks), (figure,), (table,), headline=decisive)
