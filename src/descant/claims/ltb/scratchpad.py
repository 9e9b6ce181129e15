"""A row of ones beside the tokens: what one head of self-attention makes of it, and what two do (Appendix J)."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...tasks import (
    FixedNoise,
    GaussianPrior,
    GivenInputs,
    LinearRegression,
    elliptical_fourth,
    symmetric_moments,
)
from ...theory import GramMoments, Problem, best_heads, gd_beta_minimum, merge_heads, optimal_gamma
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim, equal
from ._problems import crooked, isotropic

D, N, SIGMA = 2, 5, 0.5
SIZES = (0.3, 1.0, 3.0, 10.0)


def with_ones(task: LinearRegression) -> LinearRegression:
    """The same tasks, every token and the query having one more entry, 1, that no task looks at."""
    d = task.d
    cov, own = np.zeros((2, d + 1, d + 1))
    problem = Problem.of(task)
    cov[1:, 1:], own[1:, 1:] = problem.inputs, problem.cov
    root = jnp.asarray(np.linalg.cholesky(np.asarray(problem.inputs)))

    def draw(key):
        return jnp.concatenate([jnp.ones(1), root @ jax.random.normal(key, (d,))])

    moments = symmetric_moments(np.append(1.0, np.zeros(d)), cov, elliptical_fourth(cov))
    prior = GaussianPrior(jnp.append(0.0, problem.mean), jnp.asarray(own))
    return LinearRegression(
        d + 1, task.n, prior, inputs=GivenInputs(draw, moments), noise=FixedNoise(float(problem.noise2) ** 0.5)
    )


def two_heads(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """One head whose values read the ones and answers with the prior mean; one that makes the step from there."""
    d, mean, gamma = problem.d, np.asarray(problem.mean), np.asarray(optimal_gamma(problem, problem.mean))
    v, u = np.zeros((2, d + 2)), np.zeros((2, d + 2, d + 1))
    v[0, 0], u[0, 0, 1:] = 1.0, mean
    v[1, 1:], u[1, 1:-1, 1:] = np.append(-mean, 1.0), gamma.T
    return v, u


def tuned_excess(problem: Problem) -> float:
    """(2/n) sqrt(tr(L G* L G*^T) s) |mu|: the excess of one head with GD-beta's step and the best scale of its values.

    Its values read 1 in scale a and centred labels, so it adds mean(label) `<mu, x>` / a and a `<mean(x), G* x>`.
    """
    inputs, gamma = np.asarray(problem.inputs), np.asarray(optimal_gamma(problem, problem.mean))
    spread = np.trace(inputs @ gamma @ inputs @ gamma.T)
    s = float(problem.signal + problem.noise2)
    return 2 / problem.n * float(np.sqrt(spread * s * float(problem.size(problem.mean))))


def tuned_head(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The head of `tuned_excess`."""
    d, mean, gamma = problem.d, np.asarray(problem.mean), np.asarray(optimal_gamma(problem, problem.mean))
    inputs = np.asarray(problem.inputs)
    s = float(problem.signal + problem.noise2)
    scale = (s * float(problem.size(problem.mean)) / np.trace(inputs @ gamma @ inputs @ gamma.T)) ** 0.25
    u = np.zeros((1, d + 2, d + 1))
    u[0, 0, 1:], u[0, 1:-1, 1:] = mean / scale, gamma.T
    return np.concatenate([[scale], -mean, [1.0]])[None], u


def _risk(moments: GramMoments, heads: tuple[np.ndarray, np.ndarray]) -> float:
    v, u = heads
    return float(moments.risk(jnp.zeros(moments.d), merge_heads(jnp.asarray(v), jnp.asarray(u))))


def measured(task: LinearRegression) -> dict[str, float]:
    """Exact risks on one problem."""
    problem, moments = Problem.of(task), GramMoments.of(with_ones(task))
    return {
        "size": float(problem.size(problem.mean)),
        "step": float(gd_beta_minimum(problem)),
        "prior": float(problem.signal),
        "plain": best_heads(problem, 1).risk,
        "one": best_heads(moments, 1).risk,
        "two": _risk(moments, two_heads(problem)),
        "tuned": _risk(moments, tuned_head(problem)),
        "excess": tuned_excess(problem),
    }


def _tasks(lab: Lab) -> dict[str, LinearRegression]:
    return {
        **{f"mean {size:g}": isotropic(D, N, size, SIGMA) for size in SIZES},
        "without symmetry": crooked(D, N, SIGMA, key=lab.key("crooked")),
    }


@claim(
    "scratchpad",
    paper="ltb",
    whose="extension",
    where="Appendix J, which says that one head can't easily do it; the numbers are ours",
    title="With a row of ones, two heads are GD-beta; one head falls short, but by a bounded amount",
    statement=r"""
        Give every token a further entry 1. Two heads of linear self-attention then are GD-$\beta$ exactly, without an
        MLP. The best single head stays above GD-$\beta$'s risk whenever $\mu \ne 0$ (in the problems looked at), by
        no more than $\tfrac2n \sqrt{\mathrm{tr}(\Lambda\Gamma^*\Lambda\Gamma^{*\top})\, s}\; \|\mu\|_\Lambda$ and no
        more than the prior mean alone would cost, $\mathrm{tr}(\Lambda\Psi)$ less that risk: bounded in $\mu$, where
        the gap without the ones grows like $\|\mu\|^2$. (Gaussian inputs, query masked, $s = \mathrm{tr}(\Lambda\Psi) +
        \sigma^2$.)
    """,
    refuted_by={
        "two": "A problem on which the two heads have another risk than GD-beta.",
        "one": "A mean other than zero at which one head reaches GD-beta.",
        "bounds": "A best single head above one of the two bounds, or another excess of the head that the first is of.",
    },
    method=r"""
        All risks are exact, from the moments of tokens with the further entry; the best single head is found by descent
        from many starts. The first bound is the excess of one head with values $(a, -\mu, 1)$ and GD-$\beta$'s step at
        the best $a$: it also adds $\bar y\langle\mu, x\rangle/a$ and $a\langle\bar x, \Gamma^* x\rangle$, which are
        uncorrelated with all else. The second is its limit as $a$ grows, the step left out.
    """,
    quick=f"{len(SIZES)} sizes of the mean and a problem without symmetry, d = {D}, n = {N}",
    full="the same",
    seconds=8,
)
def scratchpad(lab: Lab) -> Evidence:
    """One head, two heads, plain heads, exactly."""
    rows = {}
    for name, task in _tasks(lab).items():
        lab.tell(name, None)
        rows[name] = lab.keep(name, lambda task=task: measured(task))
    checks = [check for name, row in rows.items() for check in _judged(name, row)]
    columns = (
        "problem", "GD-beta", "two heads, ones", "one head, ones", "GD-beta + first bound", "prior mean alone",
        "one head, no ones",
    )  # fmt: skip
    table = Table(
        "scratchpad",
        "Exact risks with a row of ones",
        columns,
        tuple(
            (name, row["step"], row["two"], row["one"], row["step"] + row["excess"], row["prior"], row["plain"])
            for name, row in rows.items()
        ),
    )
    headline = f"best single head over GD-beta, mean {SIZES[-1]:g}"
    return Evidence(tuple(checks), (_figure(rows),), (table,), headline=headline)


def _judged(name: str, row: dict[str, Any]) -> list[Check]:
    found = "The descent to the best head ends within 1e-9 of its risk."
    return [
        equal(
            f"two heads over GD-beta, {name}",
            row["two"] / row["step"], 1.0, against="two", exact=True, tolerance=1e-12,
            reason="Two exact risks in float64: rounding alone, 1e-14 here.",
        ),
        at_least(
            f"best single head over GD-beta, {name}",
            row["one"] / row["step"], 1.01, against="one", reason="Above by more than a hundredth of the risk.",
        ),
        equal(
            f"excess of the tuned head over the first bound, {name}",
            (row["tuned"] - row["step"]) / row["excess"], 1.0, against="bounds", exact=True, tolerance=1e-11,
            reason="Two exact numbers in float64: rounding alone, 1e-13 here.",
        ),
        at_most(
            f"best single head over GD-beta and the smaller bound, {name}",
            row["one"] / min(row["step"] + row["excess"], row["prior"]), 1.0, against="bounds", tolerance=1e-9,
            reason=found,
        ),
    ]  # fmt: skip


def _figure(rows: dict[str, dict[str, float]]) -> Figure:
    shown = [row for name, row in rows.items() if name.startswith("mean")]
    sizes = tuple(row["size"] ** 0.5 for row in shown)
    return Figure(
        "scratchpad",
        f"Self-attention with a row of ones, d = {D}, n = {N}, noise {SIGMA:g}",
        "Without the ones the risk grows with the prior mean. With them one head stays below the prior mean alone, and "
        "two are GD-beta.",
        (
            Panel(
                "inputs N(0, I), tasks N(μ, I)",
                Axis("|μ|", log=True),
                Axis("least in-context risk", log=True),
                (
                    Series("one head, no ones", sizes, tuple(row["plain"] for row in shown)),
                    Series("one head, ones", sizes, tuple(row["one"] for row in shown)),
                    Series("two heads, ones", sizes, tuple(row["two"] for row in shown)),
                ),
                (Baseline("prior mean alone", shown[0]["prior"]), Baseline("GD-beta", shown[0]["step"])),
            ),
        ),
        columns=1,
    )
