"""A constant in the label slot does not help."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..._sampling import mean_over_keys
from ...attention import LSA, ConstantGuess
from ...tasks import LinearRegression
from ...theory import best_heads, saturated_gap
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, claim, consistent
from ._setting import one_step, problem, task

D = N = 10
CONSTANTS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)


def best_with_constant(c: Float[Array, ""]) -> LSA:
    """The best d + 1 heads for a constant guess c, without noise and for the prior mean (1, ..., 1).

    The heads meet x_query as they would without a guess. The guess adds c (1 + sum_h v_h^T G u_h), u_h the last columns
    of the U_h: all that they can do for the risk is to imitate -1, at best by -tr(X^T X / n) / (d + 2/n).
    """
    best = best_heads(problem(1.0, d=D, n=N), D + 1)
    v, u = jnp.asarray(best.v), jnp.asarray(best.u)
    imitation = -jnp.eye(D + 1).at[D, D].set(0.0) / (D + 2 / N)
    # The d + 1 value vectors span R^(d+1): solve for the last columns.
    last = jnp.linalg.solve(v.T, imitation)
    return LSA(v, jnp.concatenate([u, last[:, :, None]], axis=2), ConstantGuess(c))


@claim(
    "constant-guess",
    paper="initial-guess",
    where="Discussion of what stands in the query's label slot; the argument is derived here",
    title="A constant initial guess does not close the gap, if the query is masked",
    statement=r"""
        Let the query's own token be left out of the keys and values. A guess $y_q = c$ that does not depend on the
        query can't help then, whatever the constant, the heads and their number: for inputs symmetric about 0 the
        target is odd in $x_q$, and all that the constant adds is even. For $d+1$ heads, inputs $N(0, I)$, tasks
        $N(\mu, I)$ and no noise, the least risk is $R_{\mathrm{GD}} + (|\mu|^2 + c^2)\,\delta$, $\delta = 2/(dn+2)$:
        larger than with $c=0$ for every other $c$. (A query that attends is another matter: see
        `constant-and-mean`.)
    """,
    refuted_by="A constant with a lower risk than zero.",
    method=r"""
        For any weights, the constant adds $c^2\,E(1+\sum_h v_h^\top G u_h)^2 \ge 0$ to the risk, $u_h$ the last column
        of $U_h$. The best last columns are written out, and the risk of the resulting $d+1$ heads is measured on
        prompts drawn token by token: in total, and as the paired difference to the same heads without the constant.
    """,
    quick="seven constants, 131,072 prompts each, d = n = 10, prior mean (1, ..., 1)",
    full="1,048,576 prompts each",
    seconds=15,
)
def constant_guess(lab: Lab) -> Evidence:
    """The best layer for each constant, on sampled prompts, beside the closed form."""
    law, posed = task(1.0, d=D, n=N), problem(1.0, d=D, n=N)
    delta = 2 / (D * N + 2)
    base = one_step(D, N) + D * delta
    samples = lab.pick(131_072, 1_048_576)
    checks: list[Check] = []

    def measured() -> list[list[list[float]]]:
        layers = [best_with_constant(jnp.asarray(c)) for c in CONSTANTS]
        means, errors = mean_over_keys(_errors, (layers, law), lab.key("prompts"), samples)
        return np.stack([means, errors], axis=-1).tolist()

    lab.tell("sampled prompts", 0.2)
    # The same prompts for all layers: what the constant costs is seen far more sharply than the risk itself.
    risks, costs = lab.keep("measured", measured)
    closed = [base + c**2 * delta for c in CONSTANTS]
    for c, (value, error), wanted in zip(CONSTANTS, risks, closed, strict=True):
        checks.append(
            consistent(
                f"risk with the constant {c:g}",
                value,
                wanted,
                error=error,
                resolution=0.05 * wanted,
                reason="Three standard errors of the sample; the closed form is exact.",
            )
        )
    for c, (value, error) in zip(CONSTANTS, costs, strict=True):
        if abs(c) >= 1:
            checks.append(
                at_least(
                    f"what the constant {c:g} adds to the risk, on the same prompts",
                    value,
                    0.0,
                    error=error,
                    reason="A constant that helps would make this negative. "
                    "The small ones add too little to be seen here.",
                )
            )
    figure = Figure(
        "constant-guess",
        "Risk of the best d + 1 heads with a constant in the label slot",
        "The risk is least without a constant, and even there one gradient step is not reached.",
        (
            Panel(
                f"d = n = {D}, prior mean (1, ..., 1), no noise",
                Axis("constant c"),
                Axis("in-context risk"),
                (
                    Series("sampled", CONSTANTS, tuple(r[0] for r in risks), tuple(r[1] for r in risks), "points"),
                    Series("closed form", CONSTANTS, tuple(closed), style="line"),
                ),
                (Baseline("one GD step from μ", one_step(D, N)),),
            ),
            Panel(
                "what the constant adds",
                Axis("constant c"),
                Axis("added risk"),
                (
                    Series("sampled", CONSTANTS, tuple(r[0] for r in costs), tuple(r[1] for r in costs), "points"),
                    Series("closed form", CONSTANTS, tuple(c**2 * delta for c in CONSTANTS), style="line"),
                ),
            ),
        ),
    )
    table = Table(
        "constants",
        "Constant guesses",
        ("c", "risk", "±", "closed form"),
        tuple((c, r[0], r[1], w) for c, r, w in zip(CONSTANTS, risks, closed, strict=True)),
        f"{samples} prompts; without a constant {float(saturated_gap(posed)):.4f} above one gradient step.",
    )
    return Evidence(tuple(checks), (figure,), (table,))


def _errors(subject: tuple[list[Any], LinearRegression], key: PRNGKeyArray) -> Array:
    """Squared errors on a prompt, and by how much they exceed that of the layer without a constant."""
    layers, law = subject
    prompt = law.sample(key=key)
    assert prompt.y_query is not None
    errors = jnp.stack([(layer(prompt) - prompt.y_query) ** 2 for layer in layers])
    return jnp.stack([errors, errors - errors[CONSTANTS.index(0.0)][None]])
