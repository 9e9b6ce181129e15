"""Where the curve over heads ends: at d or at d + 1."""

import numpy as np

from ...theory import best_heads, heads_needed
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, claim, equal, shown
from ._setting import one_step, problem

# The example of both cases: d = n = 3, noise variance 2.
SMALL, NOISE = 3, 2.0
# The paper's own sizes, without noise.
D = N = 10
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
    where="Section on multi-head LSA: the bound of d + 1 heads, made sharp by derivation",
    title="The risk stops falling at $d$ heads, or at $d+1$",
    statement=r"""
        With a prior mean $\mu \ne 0$ the least risk falls with every head up to $d$. Whether the last, $(d+1)$-th head
        still helps is decided by a criterion: without noise it never does; with noise, identity covariances and
        $V = 2\kappa^2/n + 2d(1+1/n)$, $\kappa = d+\sigma^2$, $D = 1 + dn/2 + \sigma^4/V$, it does exactly if
        $a^2 < 4|\mu|^2 g(e-g)$, where $a = n/(n+d+1+\sigma^2)$, $e = n/(2D)$, $g = \sigma^2/(VD)$. The bound $d+1$ of
        the paper is tight for noisy data with a large mean only.
    """,
    refuted_by="A case in which the least risk with $d$ heads exceeds that with $d+1$ against the criterion, "
    "or the reverse.",
    method=r"""
        Least risks for given numbers of heads, by descent on the exact risk over subspaces from many starts: at $d=n=3$
        with noise variance 2 for eight means around the criterion's threshold, among them $|\mu|^2 = 3$ and $27$, and
        at $d=n=10$ without noise.
    """,
    quick="ten means at d = n = 3, all heads at d = n = 10",
    full="the same",
    seconds=20,
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
    rounding = "Both are exact but for the descent, which ends at relative steps of about 1e-8."
    checks: list[Check] = [
        equal("gain of head d + 1 at |μ|² = 3, d = n = 3", few[2] - few[3], 0.0, tolerance=1e-6, reason=rounding),
        at_least(
            "gain of head d + 1 at |μ|² = 27, d = n = 3",
            many[2] - many[3],
            1e-2,
            reason="Ten thousand times what the descents leave open: a head that helps is told from one that does not.",
        ),
        equal(
            "gain of head d + 1 without noise, d = n = 10", clean[-2] - clean[-1], 0.0, tolerance=1e-6, reason=rounding
        ),
        at_least(
            "least gain of a head before that, d = n = 10",
            float(np.min(-np.diff(clean[:-1]))),
            1e-3,
            reason="Far above what the descents leave open.",
        ),
    ]
    gains = [first - second for first, second in pairs]
    helps = [gain > 1e-6 for gain in gains]
    expected = [factor > 1 for factor in AROUND]
    counted = [heads_needed(problem((size / d) ** 0.5, d=d, n=n, sigma=NOISE**0.5)) == d + 1 for size in sizes]
    checks += [
        shown(
            "the last head helps exactly beyond the criterion's threshold",
            helps == expected,
            reason="Means 5% on either side of the threshold are among the eight; "
            "gains are told from rounding at 1e-6.",
        ),
        shown(
            "the library's criterion in general coordinates agrees",
            counted == expected,
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
        f"d = n = {d}, noise variance {NOISE:g}: the threshold is |μ|² = {limit:.4f}. All numbers are exact minima.",
    )
    return Evidence(tuple(checks), (figure,), (table,))
