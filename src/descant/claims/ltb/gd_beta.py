"""GD-beta: its risk and its optimum in closed form (Theorem 5.2)."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import minimize

from ...estimators import GDBeta
from ...tasks import LinearRegression
from ...theory import Problem, gd_beta_minimum, gd_beta_risk, optimal_gamma
from .. import Axis, Evidence, Figure, Lab, Panel, Series, at_most, claim, consistent, equal
from ._problems import crooked, isotropic
from ._sampled import sampled_risks

SAMPLES = 65_536
LENGTHS = (5, 10, 20, 40, 80, 160)
SIMULATED = (5, 40)
LONG = (10, 100, 1_000, 10_000, 100_000)


def theorem_risk(problem: Problem, beta: np.ndarray, gamma: np.ndarray) -> float:
    """The risk as the theorem writes it, less the query's label noise; plain NumPy, apart from the library's form."""
    h, m, gap = np.asarray(problem.inputs), problem.n, beta - np.asarray(problem.mean)
    values, vectors = np.linalg.eigh(h)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    s = root @ np.asarray(problem.cov) @ root
    omega = ((m + 1) * s + (np.trace(s) + float(problem.noise2)) * np.eye(len(h))) / m
    left = np.eye(len(h)) - gamma @ h
    h_gamma = left.T @ h @ left + (np.trace(h @ gamma.T @ h @ gamma) * h + h @ gamma.T @ h @ gamma @ h) / m
    apart = root @ gamma @ root - s @ np.linalg.inv(omega)
    floor = np.trace(s) - np.trace(s @ s @ np.linalg.inv(omega))
    return float(gap @ h_gamma @ gap + np.trace(apart @ omega @ apart.T) + floor)


@jax.jit
def _slope(flat: Float[Array, " p"], problem: Problem):
    d = problem.d
    return jax.value_and_grad(lambda flat: gd_beta_risk(problem, flat[:d], flat[d:].reshape(d, d)))(flat)


def descended(problem: Problem, start: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The least risk that quasi-Newton steps over (beta, Gamma) find from a start, and where.

    The theorem does not help.
    """
    d = problem.d

    def both(flat: np.ndarray) -> tuple[float, np.ndarray]:
        risk, slope = _slope(jnp.asarray(flat), problem)
        return float(risk), np.asarray(slope)

    found = minimize(both, start, jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 2000})
    return float(found.fun), found.x[:d], found.x[d:].reshape(d, d)


def apart(problem: Problem, beta: np.ndarray, gamma: np.ndarray) -> float:
    """How far (beta, Gamma) are from the stated optimum in the metric of the inputs, relative."""
    root, best = np.asarray(problem.root), np.asarray(optimal_gamma(problem, problem.mean))
    start = np.linalg.norm(root @ (beta - np.asarray(problem.mean))) / np.linalg.norm(root @ np.asarray(problem.mean))
    return float(max(start, np.linalg.norm(root @ (gamma - best) @ root) / np.linalg.norm(root @ best @ root)))


def _tasks(lab: Lab) -> dict[str, LinearRegression]:
    return {
        "isotropic, d = n = 5, prior mean 1, no noise": isotropic(5, 5, 1.0),
        "without symmetry, d = 4, n = 7, noise 0.7": crooked(4, 7, 0.7, key=lab.key("crooked")),
        "inputs of rank 3 in 5 dimensions, n = 6, noise 0.5": crooked(5, 6, 0.5, key=lab.key("flat"), rank=3),
    }


def _near_optimum(problem: Problem, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A start and a preconditioner some way off the best ones."""
    d = problem.d
    beta = np.asarray(problem.mean) + 0.5 * normal[0]
    return beta, np.asarray(optimal_gamma(problem, problem.mean)) + 0.1 * normal[1 : d + 1]


@claim(
    "gd-beta-optimum",
    paper="ltb",
    whose="paper",
    seen="transcription",
    where="Theorem 5.2",
    title="The risk of GD-beta in closed form, and its optimum, which is unique on the span of the inputs",
    statement=r"""
        One preconditioned gradient step from a learnt start, $\hat w = \beta - \Gamma X^\top (X\beta - y)/n$, has a
        risk that is known in closed form for every $\beta$ and $\Gamma$, inputs $N(0, \Lambda)$, tasks $N(\mu, \Psi)$
        and noise of a fixed level. It is least at $\beta = \mu$ and at a known $\Gamma^*$, and on the span of the
        inputs nowhere else; the least value is $\sum_i \phi_i(\phi_i + s)/((n+1)\phi_i + s)$ with $\phi_i$ the
        eigenvalues of $\Lambda^{1/2}\Psi\Lambda^{1/2}$ and $s = \sum_i \phi_i + \sigma^2$. It does not depend on
        $\mu$. If $\Lambda$ and $\Psi$ are invertible, $\Gamma^* \to \Lambda^{-1}$ as $n \to \infty$.
    """,
    refuted_by={
        "risk": "A beta and Gamma whose sampled risk differs from the formula.",
        "minimum": "A beta and Gamma whose risk is below the stated minimum.",
        "unique": "Another beta or Gamma, on the span of the inputs, that descent ends in.",
        "mean": "Another prior mean with another least risk.",
        "limit": "A distance of Gamma* from the inverse covariance of the inputs that does not vanish as n grows.",
    },
    method=r"""
        The theorem's formula is written out again in plain NumPy, and compared with an independent polynomial form and
        with a simulation on prompts, at random $\beta$ and $\Gamma$. The minimum, and where it is, is compared with
        what quasi-Newton descent over all of $(\beta, \Gamma)$ finds from a random start, for the prior mean and for
        one that is ten times as large. Three problems: isotropic, without symmetry, and with inputs of deficient rank.
    """,
    quick="65,536 prompts per problem",
    full="1,048,576 prompts per problem",
    seconds=12,
)
def gd_beta_optimum(lab: Lab) -> Evidence:
    """The formula against simulation, the optimum against descent, the limit against long contexts."""
    samples = lab.pick(SAMPLES, 16 * SAMPLES)
    checks = []
    for name, task in _tasks(lab).items():
        lab.tell(name, None)
        problem, d = Problem.of(task), task.d
        normal = np.asarray(jax.random.normal(lab.key(name), (d + 1, d)))
        beta, gamma = _near_optimum(problem, normal)
        formula = theorem_risk(problem, beta, gamma)
        polynomial = float(gd_beta_risk(problem, jnp.asarray(beta), jnp.asarray(gamma)))
        sampled, errors = sampled_risks([GDBeta(beta, gamma)], task, samples=samples, key=lab.key(f"{name} prompts"))
        closed = float(gd_beta_minimum(problem))
        found, *where = descended(problem, 0.3 * normal.ravel())
        shifted, *_ = descended(eqx.tree_at(lambda each: each.mean, problem, 10 * problem.mean), 0.3 * normal.ravel())
        best = theorem_risk(problem, np.asarray(problem.mean), np.asarray(optimal_gamma(problem, problem.mean)))
        checks += [
            equal(
                f"formula beside the polynomial form, {name}",
                formula,
                polynomial,
                against="risk",
                exact=True,
                tolerance=1e-12 * polynomial,
                reason="Two exact expressions in float64: rounding alone, 1e-15 of the risk here.",
            ),
            consistent(
                f"simulated risk beside the formula, {name}",
                sampled[0],
                formula,
                error=errors[0],
                against="risk",
                resolution=0.1 * formula,
                reason="Sampling error alone; a tenth of the risk would be seen, "
                "and the terms of the formula are larger.",
            ),
            equal(
                f"risk at the stated optimum beside the stated minimum, {name}",
                best,
                closed,
                against="minimum",
                exact=True,
                tolerance=1e-12 * closed,
                reason="Two exact expressions in float64: rounding alone, 1e-15 of the risk here.",
            ),
            equal(
                f"what descent over all beta and Gamma finds beside the stated minimum, {name}",
                found,
                closed,
                against="minimum",
                tolerance=1e-12 * closed,
                reason="The descent stops at slopes of about 1e-9, where its value is off by less than 1e-14.",
            ),
            equal(
                f"distance of where it ends from the stated optimum, relative, {name}",
                apart(problem, *where),
                0.0,
                against="unique",
                tolerance=1e-6,
                reason="Slopes of about 1e-9 at the end, over curvatures of order 1.",
            ),
            equal(
                f"what descent finds with ten times the prior mean beside the stated minimum, {name}",
                shifted,
                closed,
                against="mean",
                tolerance=1e-12 * closed,
                reason="The risk at the start is a hundred times larger; the descent ends within 1e-14 all the same.",
            ),
        ]
    gaps = [_distance_to_inverse(lab, n) for n in LONG]
    checks.append(
        at_most(
            f"distance of Gamma* Lambda from I at n = {LONG[-1]:,}, times n",
            LONG[-1] * gaps[-1],
            LONG[-2] * gaps[-2],
            against="limit",
            exact=True,
            tolerance=1e-2 * LONG[-2] * gaps[-2],
            reason="It falls like 1/n: n times the distance has settled to 1 % over the last factor of ten.",
        )
    )
    return Evidence(tuple(checks), (_figure(lab, gaps),), headline=checks[3].name)


def _distance_to_inverse(lab: Lab, n: int) -> float:
    problem = Problem.of(crooked(4, n, 0.7, key=lab.key("crooked")))
    return float(jnp.linalg.norm(optimal_gamma(problem, problem.mean) @ problem.inputs - jnp.eye(4)))


def _figure(lab: Lab, gaps: list[float]) -> Figure:
    lab.tell("least risk against the context length", None)
    series = []
    for mean in (0.0, 10.0):
        risks = []
        for n in SIMULATED:
            task = isotropic(4, n, mean, 1.0)
            problem = Problem.of(task)
            gamma = optimal_gamma(problem, problem.mean)
            key = lab.key(f"curve {mean} {n}")
            risks.append(sampled_risks([GDBeta(problem.mean, gamma)], task, samples=SAMPLES, key=key))
        series.append(
            Series(
                f"simulated, prior mean {mean:g}",
                SIMULATED,
                tuple(values[0] for values, _ in risks),
                tuple(errors[0] for _, errors in risks),
                style="points",
            )
        )
    closed = [float(gd_beta_minimum(Problem.of(isotropic(4, n, 10.0, 1.0)))) for n in LENGTHS]
    return Figure(
        "gd-beta-optimum",
        "The least risk of GD-beta, and where its preconditioner goes",
        "Left: simulation lies on the closed form, whatever the prior mean. Right: the preconditioner tends to the "
        "inverse of the inputs' covariance, and the distance falls like 1/n.",
        (
            Panel(
                "d = 4, noise 1",
                Axis("context length n", log=True),
                Axis("least in-context risk", log=True),
                (Series("closed form", LENGTHS, tuple(closed), style="line"), *series),
            ),
            Panel(
                "problem without symmetry, d = 4",
                Axis("context length n", log=True),
                Axis("|Γ*Λ − I| (Frobenius norm)", log=True),
                (Series("distance", LONG, tuple(gaps)),),
            ),
        ),
    )
