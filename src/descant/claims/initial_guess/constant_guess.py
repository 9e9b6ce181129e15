"""A constant in the label slot does not help."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..._sampling import mean_over_keys
from ...attention import LSA, ConstantGuess
from ...tasks import LinearRegression
from ...theory import best_for_constant, best_heads, saturated_gap
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, claim, consistent, equal
from ._setting import crooked, one_step, problem, task

D = N = 10
# Where least risks are found by solving for all weights.
SMALL, LENGTH = 3, 5
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
    whose="derived",
    where="What may stand in the query's label slot; derived in docs/theory/gram.md, A constant guess",
    title="A constant initial guess does not close the gap, if the query is masked",
    statement=r"""
        Let the query's own token be left out of the keys and values. A guess $y_q = c$ that does not depend on the
        query can't help then, whatever the constant, the heads and their number: for inputs symmetric about 0 the
        target is odd in $x_q$, and all that the constant adds is even. For $d+1$ heads, inputs $N(0, I)$, tasks
        $N(\mu, I)$ and no noise, the least risk is $R_{\mathrm{GD}} + (|\mu|^2 + c^2)\,\delta$, $\delta = 2/(dn+2)$:
        larger than with $c=0$ for every other $c$. (A query that attends is another matter: see
        `constant-and-mean`.)
    """,
    refuted_by={
        "helps": "A constant with a lower risk than zero.",
        "formula": "A risk of the best $d+1$ heads with a constant that is not the closed form's.",
    },
    method=r"""
        For any weights, the constant adds $c^2\,E(1+\sum_h v_h^\top G u_h)^2 \ge 0$ to the risk, $u_h$ the last column
        of $U_h$. The least risk of $d+1$ heads with each constant is the solution of a linear problem, compared with
        the closed form at $d=3$, $n=5$; and in another setting, with noise and covariances that are not diagonal, with
        the least risk without a constant. At $d=n=10$ the best weights are written out, and measured on prompts drawn
        token by token: in total, and as the paired difference to the same heads without the constant.
    """,
    quick="seven constants, 65,536 prompts each, d = n = 10, prior mean (1, ..., 1)",
    full="1,048,576 prompts each",
    seconds=11,
)
def constant_guess(lab: Lab) -> Evidence:
    """The least risk with each constant, and the best layer on sampled prompts."""
    law, posed = task(1.0, d=D, n=N), problem(1.0, d=D, n=N)
    delta = 2 / (D * N + 2)
    base = one_step(D, N) + D * delta
    closed = [base + c**2 * delta for c in CONSTANTS]
    lab.tell("least risks", 0.1)
    small = problem(1.0, d=SMALL, n=LENGTH)
    least = lab.keep("least", lambda: [best_for_constant(small, c)[0] for c in CONSTANTS])
    other = lab.keep("other", lambda: [best_for_constant(crooked(2.0), c)[0] for c in CONSTANTS])
    share = 2 / (SMALL * LENGTH + 2)
    wanted = [one_step(SMALL, LENGTH) + (SMALL + c**2) * share for c in CONSTANTS]
    checks: list[Check] = [
        equal(
            f"d = {SMALL}, n = {LENGTH}: least risk with a constant over the closed form, less 1, the worst of seven",
            float(np.max(np.abs(np.divide(least, wanted) - 1))),
            0.0,
            tolerance=1e-13,
            exact=True,
            against="formula",
            reason="A linear problem and a formula: rounding alone.",
        ),
        *(
            at_least(
                f"{name}: least risk with a constant, over that without one",
                min(risk / risks[CONSTANTS.index(0.0)] for c, risk in zip(CONSTANTS, risks, strict=True) if c),
                1.0,
                exact=True,
                against="helps",
                reason="Exact numbers; a constant that helps would make it smaller than 1.",
            )
            for name, risks in ((f"d = {SMALL}, n = {LENGTH}", least), ("Ψ and Λ not diagonal, with noise", other))
        ),
    ]
    samples = lab.pick(65_536, 1_048_576)

    def measured() -> list[list[list[float]]]:
        layers = [best_with_constant(jnp.asarray(c)) for c in CONSTANTS]
        means, errors = mean_over_keys(_errors, (layers, law), lab.key("prompts"), samples)
        return np.stack([means, errors], axis=-1).tolist()

    lab.tell("sampled prompts", 0.3)
    # The same prompts for all layers: what the constant costs is seen far more sharply than the risk itself.
    risks, costs = lab.keep("measured", measured)
    checks += [
        consistent(
            f"risk on prompts with the constant {c:g}",
            value,
            wanted,
            error=error,
            resolution=0.05 * wanted,
            against="formula",
            reason="Three standard errors of the sample; the closed form is exact.",
        )
        for c, (value, error), wanted in zip(CONSTANTS, risks, closed, strict=True)
    ]
    checks += [
        at_least(
            f"what the constant {c:g} adds to the risk, on the same prompts",
            value,
            0.0,
            error=error,
            against="helps",
            reason="A constant that helps would make this negative. The small ones add too little to be seen here.",
        )
        for c, (value, error) in zip(CONSTANTS, costs, strict=True)
        if abs(c) >= 2
    ]
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
        ("c", "risk on prompts", "±", "closed form"),
        tuple((c, *r, w) for c, r, w in zip(CONSTANTS, risks, closed, strict=True)),
        f"{samples} prompts; without a constant {float(saturated_gap(posed)):.4f} above one gradient step.",
    )
    return Evidence(tuple(checks), (figure,), (table,), headline=checks[1].name)


def _errors(subject: tuple[list[Any], LinearRegression], key: PRNGKeyArray) -> Array:
    """Squared errors on a prompt, and by how much they exceed that of the layer without a constant."""
    layers, law = subject
    prompt = law.sample(key=key)
    assert prompt.y_query is not None
    errors = jnp.stack([(layer(prompt) - prompt.y_query) ** 2 for layer in layers])
    return jnp.stack([errors, errors - errors[CONSTANTS.index(0.0)][None]])
