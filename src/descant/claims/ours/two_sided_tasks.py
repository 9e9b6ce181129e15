"""Tasks around +mu or -mu: the mean is zero, and one layer sees no more of them than their covariance."""

import jax.numpy as jnp
import numpy as np

from ...measure import bayes_risk, best, exact_risk
from ...tasks import (
    AbstractInputs,
    FixedNoise,
    GaussianInputs,
    GaussianMixturePrior,
    GaussianPrior,
    LinearRegression,
    RademacherInputs,
    SphereInputs,
    UniformInputs,
)
from ...theory import best_heads, known_laws
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim, equal

# (d, n) of the settings; the mean is c (1, ..., 1) and each side N(±mu, I).
SIZES = ((2, 3), (3, 6), (4, 10))
SCALES = (0.5, 1.0, 2.0, 4.0, 8.0)
CROOKED = np.array([[1.0, 0.4, 0.0], [0.4, 0.7, -0.2], [0.0, -0.2, 0.5]])
MEAN = np.array([1.0, -0.5, 2.0])
# Where Bayes is looked at.
D, N, SIGMA, BAYES, SAMPLES, TIMES = 3, 6, 0.5, 4.0, 1024, 40
LIMIT = 1e4


def two_sided(
    n: int, mean: np.ndarray, cov: np.ndarray, inputs: AbstractInputs, sigma: float, weight: float = 0.5
) -> LinearRegression:
    """Tasks N(mean, cov) or N(-mean, cov)."""
    prior = GaussianMixturePrior([weight, 1 - weight], [mean, -mean], [cov, cov])
    return LinearRegression(len(mean), n, prior, inputs=inputs, noise=FixedNoise(sigma))


def as_gaussian(task: LinearRegression) -> LinearRegression:
    """Gaussian tasks of the same second moments about zero."""
    second = jnp.asarray(task.prior.moments(task.d).second)
    prior = GaussianPrior(jnp.zeros(task.d), second)
    return LinearRegression(task.d, task.n, prior, inputs=task.inputs, noise=task.noise)


def settings() -> dict[str, LinearRegression]:
    """Sizes with Gaussian inputs of covariance I, then other inputs, covariances, and noise."""
    found = {
        f"d = {d}, n = {n}, Gaussian": two_sided(n, 2 * np.ones(d), np.eye(d), GaussianInputs(jnp.eye(d)), 0.0)
        for d, n in SIZES
    }
    crooked = GaussianInputs(jnp.asarray(CROOKED @ CROOKED + np.eye(3)))
    others = {"Gaussian, not diagonal": crooked, "sphere": SphereInputs(), "uniform": UniformInputs(-1, 1)}
    others["corners of a cube"] = RademacherInputs()
    return found | {f"{name}, noise 0.7": two_sided(5, MEAN, CROOKED, law, 0.7) for name, law in others.items()}


@claim(
    "two-sided-tasks",
    paper="descant",
    where="docs/theory/gram.md, Tasks on two sides",
    title="On tasks around +μ or −μ neither heads nor a guess help one layer: it is a step from zero",
    statement=r"""
        Let tasks be $N(\mu, \Psi)$ or $N(-\mu, \Psi)$, each half of the time, inputs of any law with fourth moments,
        label noise symmetric or none, the query masked. Then one layer of linear self-attention has one least risk, for
        every number of heads, with and without a linear guess: that of one preconditioned step from zero on Gaussian
        tasks $N(0, \Psi + \mu\mu^\top)$. It can't see that tasks lie on two sides.

        So with inputs $N(0, I)$, $\Psi = I$ and no noise the risk grows with $\mu$, like $2|\mu|^2/(n+2)$, while with
        the side known, one step from there, it does not; and at $d=3$, $n=6$, noise 0.5 and $|\mu|^2 = 48$ it is more
        than forty times the Bayes risk.
    """,
    refuted_by={
        "equal": "A number of heads, or a guess, with another least risk than that step's.",
        "grows": "A least risk over $|\\mu|^2$ that does not tend to $2/(n+2)$.",
        "bayes": "A least risk below forty times the Bayes risk at that mean.",
    },
    method=r"""
        $-w$ and minus the noise are as likely as $w$ and the noise: $X^\top y$ changes its sign with them, and
        $X^\top X$, $|y|^2$ and a constant don't. So of all that a layer can read only $X^\top y$ is correlated with the
        task, and its second moments are those of Gaussian tasks. Least risks are exact, from the moments of the
        mixture: of $d+1$ heads with a guess, which are a lower bound for all, by a linear system; of one head without,
        by descent. The Bayes risk is the mean posterior variance over sampled prompts; that it is forty times
        smaller was written after a look at it.
    """,
    quick="seven settings with four laws of inputs; 1,024 prompts for the Bayes risk",
    full="16,384 prompts",
    seconds=10,
)
def two_sided_tasks(lab: Lab) -> Evidence:
    """Least risks with and without heads and guess, their growth, and Bayes."""
    rows, checks = [], []
    for index, (name, task) in enumerate(settings().items()):
        lab.tell(name, index / 10)
        step, one, many = lab.keep(name, lambda t=task: _risks(t))
        rows.append((name, one, many, step))
        checks += [
            at_least(
                f"{name}: d + 1 heads and a guess, least risk over that of the step",
                many / step,
                1.0,
                tolerance=1e-12,
                exact=True,
                against="equal",
                reason="Nothing is below it: two exact numbers, rounding alone.",
            ),
            equal(
                f"{name}: one head without a guess, the same",
                one / step,
                1.0,
                tolerance=1e-12,
                against="equal",
                reason="A descent that ends at rounding, 1e-14 in what we saw.",
            ),
        ]
    lab.tell("large means", 0.7)
    checks += [_growth(d, n) for d, n in SIZES]
    lab.tell("Bayes", 0.8)
    task = two_sided(N, BAYES * np.ones(D), np.eye(D), GaussianInputs(jnp.eye(D)), SIGMA)
    least = _step(task)
    bayes = bayes_risk(task, samples=lab.pick(SAMPLES, 16 * SAMPLES), key=lab.key("prompts"))
    checks.append(
        at_most(
            f"{TIMES} times the Bayes risk, over the layer's least, d = {D}, n = {N}, noise {SIGMA:g}, |μ|² = "
            f"{D * BAYES**2:g}",
            TIMES * bayes.value / least,
            1.0,
            error=TIMES * bayes.standard_error / least,
            against="bayes",
            reason="Three standard errors of the sample.",
        )
    )
    words = (
        f"There the layer's least risk is {least:.3f}, the Bayes risk {bayes.value:.3f} ± {bayes.standard_error:.3f}.",
    )
    columns = ("setting", "one head, no guess", "d + 1 heads, guess", "one step from zero, Gaussian tasks")
    table = Table("risks", "Least risks on tasks around +μ or −μ", columns, tuple(rows))
    return Evidence(tuple(checks), (_figure(),), (table,), words, headline=checks[0].name)


def _step(task: LinearRegression) -> float:
    """The least risk of one preconditioned step from zero, on Gaussian tasks of the same second moments."""
    gaussian = as_gaussian(task)
    return exact_risk(best("preconditioned-gd", gaussian), gaussian)


def _risks(task: LinearRegression) -> list[float]:
    laws = known_laws(task)
    return [_step(task), best_heads(laws, 1).risk, best_heads(laws, task.d + 1, free_offset=True).risk]


def _growth(d: int, n: int) -> Check:
    mean = LIMIT / d**0.5 * np.ones(d)
    task = two_sided(n, mean, np.eye(d), GaussianInputs(jnp.eye(d)), 0.0)
    return equal(
        f"d = {d}, n = {n}: least risk over |μ|², at |μ| = {LIMIT:g}, times (n + 2) / 2",
        _step(task) / LIMIT**2 * (n + 2) / 2,
        1.0,
        tolerance=1e-6,
        exact=True,
        against="grows",
        reason="The next order is |μ|^-2, here 1e-8 times a few.",
    )


def _figure() -> Figure:
    gaussian = GaussianInputs(jnp.eye(D))
    tasks = [two_sided(N, c * np.ones(D), np.eye(D), gaussian, 0.0) for c in SCALES]
    sizes = tuple(D * c**2 for c in SCALES)
    one_side = D * (D + 1) / (N + D + 1)
    return Figure(
        "two-sided",
        "Least risk on tasks around +μ or −μ",
        "It grows with |μ|², whatever the heads and the guess; with the side known, one gradient step from there stays "
        "where it is.",
        (
            Panel(
                f"d = {D}, n = {N}, Ψ = I, no noise",
                Axis("|μ|²", log=True),
                Axis("in-context risk", log=True),
                (Series("one layer, any heads and guess", sizes, tuple(map(_step, tasks)), style="line"),),
                (Baseline("one step from the right side", one_side),),
            ),
        ),
        columns=1,
    )
