"""A constant in the label slot of a query that attends: what it can teach, and what it can't."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ...attention import LSA, ConstantGuess
from ...measure import token_risks
from ...tasks import FixedNoise, GaussianInputs, GaussianPrior, LinearRegression
from ...theory import Problem, best_for_constant, gd_beta_minimum, large_constant_risk
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

# (d, n, c, sigma) with the prior N(c (1, ..., 1), I); the last has another covariance of tasks and inputs.
SETTINGS = ((3, 3, 1.0, 0.0), (3, 3, 10.0, 0.0), (3, 10, 3.0, 0.0), (2, 6, 4.0, 1.0), (4, 4, 6.0, 0.5))
CROOKED = np.array([[1.0, 0.4, 0.0], [0.4, 0.7, -0.2], [0.0, -0.2, 0.5]])
# Where among them the mean is large.
LARGE = 1
CONSTANTS = (0.0, *np.geomspace(0.1, 1000.0, 33))
FAR, FARTHER = 300.0, 1000.0
MEASURED, PROMPTS = 30.0, 65_536


def tasks() -> list[LinearRegression]:
    """Those of the settings, and one with covariances that are no multiples of I."""
    plain = [
        LinearRegression(d, n, GaussianPrior.isotropic(d, mean=c), noise=FixedNoise(sigma))
        for d, n, c, sigma in SETTINGS
    ]
    prior = GaussianPrior(jnp.array([8.0, -3.0, 5.0]), jnp.asarray(CROOKED))
    other = GaussianInputs(jnp.asarray(CROOKED @ CROOKED + np.eye(3)))
    return [*plain, LinearRegression(3, 5, prior, inputs=other, noise=FixedNoise(0.3))]


def explicit(tensor: np.ndarray, c: float) -> LSA:
    """Merged weights as d + 1 heads whose values are the unit vectors, with the guess c and an attending query."""
    heads = jnp.asarray(tensor).transpose(1, 2, 0)
    return LSA(jnp.eye(tensor.shape[0]), heads, ConstantGuess(jnp.asarray(c)), query_masked=False)


def one_head(problem: Problem, c: float) -> LSA:
    """The head of `large_constant_risk`: it reads labels, and meets nothing of the query but its label slot."""
    d, n = problem.d, problem.n
    last = n / c**2 * jnp.append(problem.mean, -1.0)
    u = jnp.zeros((1, d + 1, d + 1)).at[0, :, d].set(last)
    return LSA(jnp.eye(d + 1)[-1:], u, ConstantGuess(jnp.asarray(c)), query_masked=False)


@claim(
    "constant-and-mean",
    paper="descant",
    where="docs/theory/gram.md, A constant guess",
    title="A large constant guess can teach one attending head the prior mean, and then no head anything else",
    statement=r"""
        Let the query attend, and a constant $c$ stand in its label slot. Tasks are $N(\mu, \Psi)$, inputs
        $N(0, \Lambda)$, the noise has any fixed level.

        One head with the right weights answers $\langle\mu, x\rangle - y^\top(y - X\mu)/c$: as $|c|$ grows its risk
        tends to $\mathrm{tr}\,\Lambda\Psi$, that of the prior mean, whatever the mean. The least risk of $d+1$ or more
        heads tends to the same number, and no lower. In six settings, what is left above it falls like $1/c^2$; where
        the mean is large, the limit is far below the least risk without a constant; and at no constant that was looked
        at is the risk below the smaller of the two, the one at $c=0$ and $\mathrm{tr}\,\Lambda\Psi$.
    """,
    refuted_by={
        "limit": "A least risk that does not come down with large constants to $\\mathrm{tr}\\,\\Lambda\\Psi$.",
        "rate": "One in which what is left above it does not fall like $1/c^2$.",
        "between": "One in which some constant is better than both none and a very large one.",
        "large": "A mean of 10 (1, 1, 1) at which a large constant is not far below no constant.",
        "prompts": "Prompts on which these heads have another risk.",
    },
    method=r"""
        The answer splits into a part odd in the query and one that is even. The constant's token adds
        $2c^2\langle S_{xy}, x\rangle/n$ to the odd part, an offset that LSA lacks otherwise; the even part, which only
        costs, holds $(2c/n)\,x^\top\Theta x$, where $\Theta$ is what takes a gradient step. It can be cancelled in the
        mean only, so as $c$ grows $\Theta$ has to vanish, and with it all that the context teaches.

        The risk is a quadratic form of the merged weights in closed form, minimised exactly for each constant. Both
        heads are then measured on prompts drawn token by token.
    """,
    quick="six settings, 34 constants from 0 to 1000, 65,536 prompts",
    full="524,288 prompts",
    seconds=40,
)
def constant_and_mean(lab: Lab) -> Evidence:
    """Least risks over constants, their limit, and heads on prompts."""
    rows = lab.keep("risks", _risks)
    checks = [check for row in rows for check in _limits(row)]
    decisive = f"d = n = 3, μ = 10 (1, 1, 1): least risk without a constant over that at c = {FARTHER:g}"
    large = rows[LARGE]
    checks.append(
        at_least(
            decisive,
            large["risks"][0] / large["far"][1],
            5.0,
            exact=True,
            against="large",
            reason="Exact numbers: far below is a fifth or less.",
        )
    )
    lab.tell("sampled prompts", 0.7)
    checks += _measured(lab)
    return Evidence(tuple(checks), (_figure(rows),), (_table(rows),), headline=decisive)


def _risks() -> list[dict[str, Any]]:
    rows = []
    for task in tasks():
        problem = Problem.of(task)
        rows.append(
            {
                "d": task.d,
                "n": task.n,
                "mean": float(problem.size(problem.mean)) ** 0.5,
                "prior": float(problem.signal),
                "step": float(gd_beta_minimum(problem)),
                "risks": [best_for_constant(problem, c, query_masked=False)[0] for c in CONSTANTS],
                "far": [best_for_constant(problem, c, query_masked=False)[0] for c in (FAR, FARTHER)],
            }
        )
    return rows


def _limits(row: dict[str, Any]) -> list[Check]:
    where = f"d = {row['d']}, n = {row['n']}, |μ| = {row['mean']:.3g}"
    left = [c**2 * (risk - row["prior"]) for c, risk in zip((FAR, FARTHER), row["far"], strict=True)]
    return [
        at_least(
            f"{where}: c² times what is left above tr ΛΨ, c = {FARTHER:g}",
            left[1],
            0.0,
            exact=True,
            against="limit",
            reason="From above.",
        ),
        at_most(
            f"{where}: what is left there, over tr ΛΨ",
            left[1] / FARTHER**2 / row["prior"],
            2e-3,
            exact=True,
            against="limit",
            reason="It falls like 1/c², so that a hundred times the constant leaves a ten thousandth of it.",
        ),
        equal(
            f"{where}: the same at c = {FAR:g}, as a share of it",
            left[0] / left[1],
            1.0,
            tolerance=0.02,
            exact=True,
            against="rate",
            reason="If it falls like 1/c², the two are alike but for the next order, c^-4.",
        ),
        at_least(
            f"{where}: least risk over the {len(CONSTANTS)} constants",
            min(row["risks"]),
            min(row["risks"][0], row["prior"]),
            tolerance=1e-9 * row["prior"],
            against="between",
            reason="Rounding of the linear problem.",
        ),
    ]


def _measured(lab: Lab) -> list[Check]:
    task = tasks()[LARGE]
    problem = Problem.of(task)
    least, tensor = best_for_constant(problem, MEASURED, query_masked=False)
    heads = [explicit(tensor, MEASURED), one_head(problem, MEASURED)]
    samples = lab.pick(PROMPTS, 8 * PROMPTS)
    found = token_risks(heads, task, samples=samples, key=lab.key("prompts"))
    wanted = (least, float(large_constant_risk(problem, MEASURED)))
    return [
        consistent(
            f"{name} on sampled prompts, d = n = 3, μ = 10 (1, 1, 1), c = {MEASURED:g}",
            risk.value,
            value,
            error=risk.standard_error,
            resolution=0.1 * value,
            against="prompts",
            reason="Three standard errors of the sample; the closed form is exact.",
        )
        for name, risk, value in zip(("the best d + 1 heads", "one head by hand"), found, wanted, strict=True)
    ]


def _figure(rows: list[dict[str, Any]]) -> Figure:
    shown = [row for row in rows if row["d"] == 3 and row["n"] == 3]
    return Figure(
        "constants",
        "Least risk of d + 1 attending heads with a constant in the label slot",
        "With a small mean a constant only costs. With a large one it is worth more the larger it is, down to the risk "
        "of answering with the prior mean; a gradient step from there is out of reach.",
        tuple(
            Panel(
                f"d = n = 3, |μ| = {row['mean']:.3g}, no noise",
                Axis("constant c", log=True),
                Axis("in-context risk", log=True),
                (Series("least risk", CONSTANTS[1:], tuple(row["risks"][1:]), style="line"),),
                (
                    Baseline("without a constant", row["risks"][0]),
                    Baseline("the prior mean alone", row["prior"]),
                    Baseline("one gradient step from it", row["step"]),
                ),
            )
            for row in shown
        ),
    )


def _table(rows: list[dict[str, Any]]) -> Table:
    return Table(
        "limits",
        "Least risks of d + 1 attending heads",
        ("d", "n", "|μ|", "no constant", f"c = {FAR:g}", f"c = {FARTHER:g}", "tr ΛΨ", "one step from μ"),
        tuple(
            (row["d"], row["n"], row["mean"], row["risks"][0], *row["far"], row["prior"], row["step"]) for row in rows
        ),
        "Exact minima.",
    )
