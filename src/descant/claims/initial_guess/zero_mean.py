"""With a zero prior mean, heads don't matter."""

import jax.numpy as jnp

from ...theory import Problem, best_heads, one_step_risk
from .. import Axis, Baseline, Evidence, Figure, Lab, Panel, Series, claim, equal

D = N = 10


@claim(
    "zero-mean-heads",
    paper="initial-guess",
    where="Section 3, the case of a zero prior mean",
    title="With a zero prior mean, one head is as good as many",
    statement=r"""
        If tasks are drawn with prior mean zero, $w \sim N(0, \Psi)$, the least in-context risk of linear self-attention
        is the same for every number of heads, and equals that of one step of gradient descent from zero.
    """,
    refuted_by="A number of heads whose least risk differs from one step of gradient descent from zero.",
    method=r"""
        The risk of a layer is an exact polynomial in its weights; its minimum for each number of heads is found by
        descent from many starts and compared with the closed form $\psi d\,(d+1+k)/(n+d+1+k)$, $k = \sigma^2/\psi$, at
        $d = n = 10$ without noise and with $\sigma = 1$.
    """,
    quick="1 to 12 heads, with and without noise",
    full="the same",
    seconds=10,
)
def zero_mean_heads(lab: Lab) -> Evidence:
    """Least risks for 1 to d + 2 heads beside the closed form."""
    heads = range(1, D + 3)
    checks, panels = [], []
    for sigma in (0.0, 1.0):
        lab.tell(f"noise {sigma:g}", None)
        problem = Problem(jnp.zeros(D), jnp.eye(D), jnp.eye(D), N, sigma=sigma)
        risks = lab.keep(f"risks-{sigma:g}", lambda problem=problem: [best_heads(problem, each).risk for each in heads])
        closed = D * (D + 1 + sigma**2) / (N + D + 1 + sigma**2)
        worst = max(risks, key=lambda risk: abs(risk - closed))
        checks += [
            equal(
                f"least risk, the number of heads where it is furthest from the closed form, noise {sigma:g}",
                worst,
                closed,
                tolerance=1e-6,
                reason="Both are exact but for the descent, which stops at relative steps of about 1e-8.",
            ),
            equal(
                f"the library's one-step risk from zero beside the closed form, noise {sigma:g}",
                float(one_step_risk(problem, jnp.zeros(D))),
                closed,
                tolerance=1e-9,
                reason="Two exact formulas: rounding alone.",
            ),
        ]
        panels.append(
            Panel(
                f"noise {sigma:g}",
                Axis("heads"),
                Axis("least in-context risk"),
                (Series("LSA", tuple(heads), tuple(risks)),),
                (Baseline("one GD step from zero", closed),),
            )
        )
    figure = Figure(
        "zero-mean-heads",
        "Least risk against the number of heads, prior mean zero",
        "The curve is flat: more heads buy nothing while tasks are centred at zero.",
        tuple(panels),
    )
    return Evidence(tuple(checks), (figure,))
