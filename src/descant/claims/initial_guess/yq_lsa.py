"""One head with a trained initial guess is one gradient step."""

import jax
import jax.numpy as jnp

from ...attention import LSA, gd_beta_as_yq_lsa
from ...estimators import GDBeta
from ...theory import Problem, best_heads, gd_risk, one_step_risk, optimal_gamma, optimal_step, saturated_risk
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, claim, equal
from ._setting import crooked, one_step, problem, stretched, task

D = N = 10
MEANS = (0.0, 0.5, 1.0, 2.0)
PROMPTS = 200
# A prior mean for the settings whose covariances are no multiples of I.
CROOKED_MEAN, STRETCHED_MEAN = (1.0, -2.0, 0.5), 1.0


@claim(
    "yq-lsa",
    paper="initial-guess",
    whose="paper",
    seen="summary",
    where="Section on y_q-LSA",
    title="One head with a trained initial guess does what one preconditioned gradient step can",
    statement=r"""
        Let tasks be $N(\mu, \Psi)$, inputs $N(0, \Lambda)$ of full rank, label noise Gaussian or none. LSA with one
        head and a trainable guess $y_q = \langle g, x_q\rangle$ in the query's label slot (y_q-LSA) computes one step
        of gradient descent from every start with every matrix for a step, and its least risk is that of the
        best such step from $\mu$, for every $\mu$. At the minimum $g = \mu$, and further heads add nothing. The
        step is *preconditioned*: a scalar step does as well if $\Psi$ and $\Lambda$ are multiples of $I$, and
        not in general.
    """,
    refuted_by={
        "step": "A prompt on which the head built for a step does not compute it.",
        "risk": "A prior mean at which the least risk of one head with a guess differs from one preconditioned step.",
        "heads": "A lower risk with a guess and more heads.",
        "guess": "A best guess away from the prior mean.",
        "scalar": "A scalar step that does as well at $\\Psi = \\mathrm{diag}(4, 1, \\tfrac14, \\tfrac14)$.",
    },
    method=r"""
        The construction $v = (-w_0, 1)$, $U = [\Gamma^\top\,0; 0\,0]$, $g = w_0$ against one gradient step written out,
        on random prompts, query masked and attending. Least exact risks with a free guess, query masked, for one head
        (descent) and for $d+1$ (a linear system) against the closed form $d(d+1)/(n+d+1)$ and, for covariances that are
        no multiples of $I$, against the best step's; and the guess they end with beside the prior mean. (Training from
        random weights is a claim of its own.)
    """,
    quick="prior means c (1, ..., 1), c = 0, 0.5, 1, 2, at d = n = 10; two settings with other covariances",
    full="the same",
    seconds=13,
)
def yq_lsa(lab: Lab) -> Evidence:
    """Construction and least risks."""
    base = one_step(D, N)
    checks: list[Check] = _construction(lab)
    settings = {f"c = {c:g}": (problem(c, d=D, n=N), base) for c in MEANS}
    for name, posed in (("Ψ = diag(4, 1, ¼, ¼)", stretched(STRETCHED_MEAN)), ("Ψ and Λ not diagonal", _crooked())):
        settings[name] = posed, float(one_step_risk(posed, posed.mean))
    rows = []
    for index, (name, (posed, wanted)) in enumerate(settings.items()):
        lab.tell(name, index / len(settings))
        found = lab.keep(f"least-{index}", lambda p=posed: _least(p))
        rows.append((name, found["without"], found["many"], wanted, found["one"], found["guess"]))
        checks += [
            equal(
                f"least risk of one head with a guess, {name}",
                found["one"],
                wanted,
                tolerance=1e-12 * wanted,
                against="risk",
                reason="A closed form, and a descent that ends at rounding, 1e-15 of it, in what we saw.",
            ),
            at_least(
                f"least risk of d + 1 heads with a guess, {name}",
                found["many"],
                wanted,
                tolerance=1e-12 * wanted,
                exact=True,
                against="heads",
                reason="A linear system and a closed form: rounding alone.",
            ),
        ]
    checks.append(
        equal(
            "largest distance of an entry of the best guess from the prior mean's",
            max(row[-1] for row in rows),
            0.0,
            tolerance=1e-9,
            against="guess",
            reason="For given values the guess is solved for, not searched: 1e-15 here, 1e-10 at d = n = 3.",
        )
    )
    mean = jnp.full(4, STRETCHED_MEAN)
    posed = stretched(STRETCHED_MEAN)
    scalar, matrix = float(gd_risk(posed, mean, optimal_step(posed, mean))), rows[-2][3]
    checks.append(
        at_least(
            "Ψ = diag(4, 1, ¼, ¼), d = n = 4: risk of the best scalar step from μ",
            scalar,
            1.1 * matrix,
            exact=True,
            against="scalar",
            reason="A tenth above the best matrix: exact numbers, far from rounding.",
        )
    )
    words = (
        f"At $\\Psi = \\mathrm{{diag}}(4, 1, \\tfrac14, \\tfrac14)$, $d=n=4$, y_q-LSA has {rows[-2][4]:.4f}, as the "
        f"best preconditioned step from the prior mean; the best scalar step from there has {scalar:.4f}.",
    )
    plain = rows[: len(MEANS)]
    saturated = [float(saturated_risk(problem(c, d=D, n=N))) for c in MEANS]
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
                    Series("LSA, 1 head", MEANS, tuple(row[1] for row in plain)),
                    Series(f"LSA, {D + 1} heads", MEANS, tuple(saturated)),
                    Series("y_q-LSA, 1 head", MEANS, tuple(row[4] for row in plain), style="points"),
                ),
                (Baseline("one GD step from μ", base),),
            ),
        ),
        columns=1,
    )
    columns = (
        "setting",
        "1 head, no guess",
        "d + 1 heads, guess",
        "one step from μ",
        "1 head, guess",
        "|g − μ|, largest",
    )
    caption = "Least risks; those of one head are the best of many descents, the others are exact."
    table = Table("risks", "Risks with and without a guess", columns, tuple(rows), caption)
    return Evidence(tuple(checks), (figure,), (table,), words, headline="least risk of one head with a guess, c = 1")


def _crooked() -> Problem:
    return crooked(jnp.array(CROOKED_MEAN))


def _least(posed: Problem) -> dict[str, float]:
    """Least risks of one head without a guess, of one and of d + 1 with one, and how far the guess is from the mean."""
    one, many = (best_heads(posed, heads, free_offset=True) for heads in (1, posed.d + 1))
    distance = max(float(jnp.abs(each.offset - posed.mean).max()) for each in (one, many))
    return {"without": best_heads(posed, 1).risk, "one": one.risk, "many": many.risk, "guess": distance}


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
            tolerance=1e-13,
            against="step",
            reason="An identity: rounding of sums of a few hundred products.",
        )
        for name, each in layers.items()
    ]
