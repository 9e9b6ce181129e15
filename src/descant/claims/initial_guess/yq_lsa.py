"""One head with a trained initial guess is one gradient step."""

import jax
import jax.numpy as jnp

from ...attention import LSA, gd_beta_as_yq_lsa
from ...estimators import GDBeta
from ...theory import best_heads, optimal_gamma, saturated_risk
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, claim, equal
from ._setting import one_step, problem, task

D = N = 10
MEANS = (0.0, 0.5, 1.0, 2.0)
PROMPTS = 200


@claim(
    "yq-lsa",
    paper="initial-guess",
    where="Section on y_q-LSA",
    title="One head with a trained initial guess closes the gap",
    statement=r"""
        LSA with one head and a trainable guess $y_q = \langle g, x_q\rangle$ in the query's label slot (y_q-LSA)
        computes one step of gradient descent from every start, and its least risk is that of one step from the prior
        mean, for every prior mean. At the minimum $g = \mu$, and further heads add nothing.
    """,
    refuted_by="A prior mean at which the least risk differs from one gradient step, or a better risk with more heads.",
    method=r"""
        The construction $v = (-w_0, 1)$, $U = [\Gamma^\top\,0; 0\,0]$, $g = w_0$ against one gradient step written out,
        on random prompts, query masked and attending. Least exact risks with a free guess for 1, 2 and $d+1$ heads
        against the closed form $d(d+1)/(n+d+1)$, and the guess they end with beside the prior mean. (Training from
        random weights is a claim of its own.)
    """,
    quick="prior means c (1, ..., 1), c = 0, 0.5, 1, 2, at d = n = 10",
    full="the same",
    seconds=15,
)
def yq_lsa(lab: Lab) -> Evidence:
    """Construction and least risks."""
    base = one_step(D, N)
    exact = "Both are exact but for the descent, which ends at relative steps of about 1e-8."
    checks: list[Check] = _construction(lab)
    rows, found = [], []
    for index, c in enumerate(MEANS):
        lab.tell(f"prior mean {c:g}", index / len(MEANS))
        posed = problem(c, d=D, n=N)
        risks = lab.keep(
            f"heads-{c:g}", lambda p=posed: [best_heads(p, each, free_offset=True).risk for each in (1, 2, D + 1)]
        )
        worst = max(risks, key=lambda risk: abs(risk - base))
        checks.append(
            equal(f"least risk, worst of 1, 2 and {D + 1} heads, c = {c:g}", worst, base, tolerance=1e-6, reason=exact)
        )
        guess = max(float(jnp.abs(best_heads(posed, each, free_offset=True).offset - c).max()) for each in (1, D + 1))
        rows.append((c, float(saturated_risk(posed)), best_heads(posed, 1).risk, base, *risks, guess))
        found.append(risks[0])
    checks.append(
        equal(
            "largest distance of an entry of the best guess from the prior mean's",
            max(row[-1] for row in rows),
            0.0,
            tolerance=1e-4,
            reason="The risk is flat at its minimum: good to 1e-8, it leaves the square root of that in the weights.",
        )
    )
    figure = Figure(
        "yq-lsa",
        "Least risk against the prior mean",
        "LSA without a guess rises with the prior mean, with many heads slowly; "
        "with a trained guess one head stays at one gradient step.",
        (
            Panel(
                f"d = n = {D}, no noise",
                Axis("prior mean, c in c (1, ..., 1)"),
                Axis("in-context risk", log=True),
                (
                    Series("LSA, 1 head", MEANS, tuple(row[2] for row in rows)),
                    Series(f"LSA, {D + 1} heads", MEANS, tuple(row[1] for row in rows)),
                    Series("y_q-LSA, 1 head", MEANS, tuple(found), style="points"),
                ),
                (Baseline("one GD step from μ", base),),
            ),
        ),
        columns=1,
    )
    columns = ("c", f"LSA, {D + 1} heads", "LSA, 1 head", "one step")
    columns += ("guess, 1 head", "guess, 2", f"guess, {D + 1}", "|g − μ|, largest entry")
    table = Table("risks", "Risks with and without a guess", columns, tuple(rows), "All risks are exact.")
    return Evidence(tuple(checks), (figure,), (table,))


def _construction(lab: Lab) -> list[Check]:
    """The explicit head on prompts, beside the gradient step written out."""
    law = task(1.0, d=D, n=N)
    start = 0.5 * jax.random.normal(lab.key("start"), (D,))
    gamma = optimal_gamma(problem(1.0, d=D, n=N), start)
    prompts = jax.vmap(lambda key: law.sample(key=key))(jax.random.split(lab.key("prompts"), PROMPTS))
    layer = gd_beta_as_yq_lsa(GDBeta(start, gamma))

    def step(prompt):
        gradient = prompt.x.T @ (prompt.x @ start - prompt.y) / N
        return (start - gamma @ gradient) @ prompt.x_query

    wanted = jax.vmap(step)(prompts)
    scale = float(jnp.abs(wanted).max())
    layers = {"masked": layer, "attending": LSA(layer.v, layer.u, layer.guess, query_masked=False)}
    return [
        equal(
            f"construction less one gradient step, worst of {PROMPTS} prompts, query {name}",
            float(jnp.abs(jax.vmap(each)(prompts) - wanted).max()) / scale,
            0.0,
            tolerance=1e-12,
            reason="An identity: rounding of sums of a few hundred products.",
        )
        for name, each in layers.items()
    ]
