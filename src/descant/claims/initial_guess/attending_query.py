"""Whether the query's own token is among the keys and values."""

from itertools import pairwise

import jax.numpy as jnp

from ...attention import LSA, LinearGuess
from ...measure import token_risks
from ...theory import attending_risk, best_heads, merge_heads, optimal_gamma
from .. import (
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
    consistent,
    equal,
)
from ._setting import one_step, problem, task

D = N = 10
MEANS = (0.0, 0.5, 1.0, 2.0, 4.0, 10.0)
# With d + 1 heads, whose least risks are no search, larger means are looked at, too.
FURTHER = (20.0, 50.0)
# Up to this mean d + 1 heads, or one, are worse off if the query attends; from the next one on, they are better off.
WIDENS, TURN = 10.0, 1.0
# About what the ratio of the two gaps is said to be.
STATED = {0.5: 3.0, 10.0: 1.1, 50.0: 0.9}
# Where attending to the query helps: little data, much noise, a large mean.
SMALL, NOISE, LARGE = 3, 2.0, 3.0


def _risk(c: float, masked: bool, d: int, n: int, sigma: float = 0.0, heads: int | None = None) -> float:
    return best_heads(problem(c, d=d, n=n, sigma=sigma), heads or d + 1, query_masked=masked).risk


@claim(
    "attending-query",
    paper="initial-guess",
    whose="control",
    where="The embedding of the prompt; which convention the paper's experiments use could not be read",
    title="At d = n = 10 an attending query widens the gap of d + 1 heads up to means of 10 per coordinate, not from "
    "20 on; a right guess makes it irrelevant",
    statement=r"""
        Let inputs be $N(0, I)$, tasks $N(c\,(1, \dots, 1), I)$, $d = n = 10$, and no noise. Leaving the query token
        $(x_q, 0)$ among the keys and values makes the gap to one gradient step larger with $d+1$ heads while the mean
        is not large: an empty label slot then also teaches a wrong label. It is about three times as large at
        $c = 1/2$, and less so the larger the mean: 1.1 times at $c = 10$, and 0.9 times at $c = 50$. It is larger up to
        $c = 10$ and smaller at 20 and 50. With one head it is larger at $c = 1/2$ and 1, and smaller at 2, 4 and 10;
        with a zero prior mean it makes no difference there. With the right guess it makes none at all, because the
        query's own residual is zero. At $d=n=3$ with noise variance 2 and $|\mu|^2 = 27$ an attending query lowers the
        risk of $d+1$ heads too.
    """,
    refuted_by={
        "many": "With $d+1$ heads a gap that is smaller with an attending query up to $c=10$, or larger from 20 on.",
        "falls": "A ratio of the two gaps that grows with the mean, or is not near 3 at $c=1/2$, 1.1 at 10, 0.9 at 50.",
        "one": "With one head a gap that is smaller up to $c=1$, larger from $c=2$ on, or another at $c=0$.",
        "guess": "y_q-LSA whose risk depends on the convention.",
        "helps": "A setting with little data, much noise and a large mean in which attending does not help.",
        "prompts": "Sampled prompts on which the weights have another risk.",
    },
    method=r"""
        Exact least risks for both conventions (the query's own token adds a cubic form in $x_q$, integrated by Wick's
        formula), and the weights found for the attending query measured on sampled prompts. y_q-LSA at the prior mean
        is measured under both conventions on the same prompts. What is said of single means was written after a look
        at these risks, which have no error: a first version, up to $c = 2$, had two to three times, a second one, up to
        $c = 10$, a larger gap throughout.
    """,
    quick="prior means c (1, ..., 1), c = 0, 0.5, 1, 2, 4, 10, and 20 and 50 with d + 1 heads; 65,536 prompts",
    full="1,048,576 prompts",
    seconds=22,
)
def attending_query(lab: Lab) -> Evidence:
    """Gaps with both conventions, Monte Carlo, and y_q-LSA."""
    base = one_step(D, N)
    lab.tell("least risks", 0.1)

    means = (*MEANS, *FURTHER)

    def gaps(masked: bool, heads: int | None = None) -> list[float]:
        return [_risk(c, masked, D, N, heads=heads) - base for c in (MEANS if heads else means)]

    many = {masked: lab.keep(f"many-{masked}", lambda m=masked: gaps(m)) for masked in (True, False)}
    lab.tell("one head", 0.3)
    one = {masked: lab.keep(f"one-{masked}", lambda m=masked: gaps(m, 1)) for masked in (True, False)}
    checks: list[Check] = []
    ratios = [attending / masked for masked, attending in zip(many[True][1:], many[False][1:], strict=True)]
    for c, ratio in zip(means[1:], ratios, strict=True):
        relation, bound = (at_least, 1.05) if c <= WIDENS else (at_most, 0.95)
        checks.append(
            relation(
                f"gap with an attending query over the masked one, d + 1 heads, c = {c:g}",
                ratio,
                bound,
                exact=True,
                against="many",
                reason="Exact numbers. A twentieth larger, or smaller, is far above rounding.",
            )
        )
    checks.append(
        at_most(
            "largest step up of that ratio from one mean to the next",
            max(after - before for before, after in pairwise(ratios)),
            0.0,
            exact=True,
            against="falls",
            reason="Exact numbers: where it falls, every step is below 0.",
        )
    )
    checks += [
        equal(
            f"that ratio at c = {c:g}",
            ratios[means[1:].index(c)],
            stated,
            tolerance=0.05,
            exact=True,
            against="falls",
            reason="To the digits of the statement.",
        )
        for c, stated in STATED.items()
    ]
    for c, masked, attending in zip(MEANS[1:], one[True][1:], one[False][1:], strict=True):
        less, more = ("masked", "attending") if c <= TURN else ("attending", "masked")
        checks.append(
            at_least(
                f"one head, c = {c:g}: gap {more} less gap {less}",
                attending - masked if c <= TURN else masked - attending,
                0.02,
                against="one",
                reason="Minima by descent are known to 1e-7 of the risk, which is about 5.",
            )
        )
    checks.append(
        equal(
            "gap with one attending head at prior mean zero",
            one[False][0],
            0.0,
            tolerance=1e-11,
            against="one",
            reason="Descents end within 1e-12 of it in what we saw.",
        )
    )
    lab.tell("sampled prompts", 0.6)
    measured = lab.keep("measured", lambda: _measured(lab))
    for name, value, error, wanted in measured:
        checks.append(
            consistent(
                name,
                value,
                wanted,
                error=error,
                resolution=0.05 * wanted,
                against="prompts",
                reason="Three standard errors of the sample; the exact risk has none.",
            )
        )
    checks.append(
        equal(
            "y_q-LSA at the prior mean: masked less attending, on the same prompts",
            measured[1][1] - measured[2][1],
            0.0,
            tolerance=1e-13,
            against="guess",
            reason="The same predictions: rounding alone.",
        )
    )
    small = [_risk(LARGE, masked, SMALL, SMALL, NOISE**0.5) for masked in (True, False)]
    checks.append(
        at_least(
            "masked less attending where attending helps (d = n = 3, noise variance 2, |μ|² = 27)",
            small[0] - small[1],
            0.1,
            exact=True,
            against="helps",
            reason="Exact risks of several units: a tenth of one is far above rounding.",
        )
    )
    figure = Figure(
        "attending-query",
        "The gap with a masked and with an attending query",
        "An attending query is worse for small prior means and better for large ones: with one head from 2 on, with "
        "d + 1 heads only beyond 10. y_q-LSA has no gap either way.",
        tuple(
            Panel(
                title,
                Axis("prior mean, c in c (1, ..., 1)"),
                Axis("risk less that of one gradient step"),
                (
                    Series("query masked", over, tuple(both[True])),
                    Series("query attends", over, tuple(both[False])),
                ),
                (Baseline("y_q-LSA, either way", 0.0),),
            )
            for title, both, over in (
                (f"d = n = {D}, {D + 1} heads", many, means),
                (f"d = n = {D}, one head", one, MEANS),
            )
        ),
    )
    table = Table(
        "risks",
        "Least risks with both conventions",
        ("d", "n", "noise variance", "c", "heads", "masked", "attends", "one step from μ"),
        (
            *(
                (D, N, 0.0, c, D + 1, base + a, base + b, base)
                for c, a, b in zip(means, many[True], many[False], strict=True)
            ),
            *(
                (D, N, 0.0, c, 1, base + a, base + b, base)
                for c, a, b in zip(MEANS, one[True], one[False], strict=True)
            ),
            (SMALL, SMALL, NOISE, LARGE, SMALL + 1, *small, one_step(SMALL, SMALL, NOISE**0.5)),
        ),
        "One head is the best of many descents, d + 1 are exact minima.",
    )
    words = (
        f"With {D + 1} heads the gap of an attending query is "
        + ", ".join(f"{ratio:.2f} (c = {c:g})" for c, ratio in zip(means[1:], ratios, strict=True))
        + " times that of a masked one.",
    )
    return Evidence(tuple(checks), (figure,), (table,), words, headline=checks[0].name)


def _measured(lab: Lab) -> list[list]:
    """The best attending heads and y_q-LSA under both conventions, on the same prompts: name, risk, error, exact."""
    posed, law = problem(1.0, d=D, n=N), task(1.0, d=D, n=N)
    best = best_heads(posed, D + 1, query_masked=False)
    heads = LSA(jnp.asarray(best.v), jnp.pad(jnp.asarray(best.u), ((0, 0), (0, 0), (0, 1))), query_masked=False)
    exact = float(attending_risk(posed, jnp.zeros(D), merge_heads(jnp.asarray(best.v), jnp.asarray(best.u))))
    mu = jnp.ones(D)
    v = jnp.append(-mu, 1.0)[None, :]
    u = jnp.pad(optimal_gamma(posed, mu).T, ((0, 1), (0, 1)))[None]
    guessing = [LSA(v, u, LinearGuess(mu), masked) for masked in (True, False)]
    samples = lab.pick(65_536, 1_048_576)
    found = token_risks([heads, *guessing], law, samples=samples, key=lab.key("prompts"))
    names = (
        f"risk of the best {D + 1} attending heads on sampled prompts, c = 1",
        "risk of y_q-LSA on sampled prompts, masked",
        "risk of y_q-LSA on sampled prompts, attending",
    )
    wanted = (exact, one_step(D, N), one_step(D, N))
    return [
        [name, risk.value, risk.standard_error, value] for name, risk, value in zip(names, found, wanted, strict=True)
    ]
