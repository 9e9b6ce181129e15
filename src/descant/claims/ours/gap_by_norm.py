"""What LSA without an initial guess loses, as a function of how much the norm of the inputs varies."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from threadpoolctl import threadpool_limits

from ...measure import best, exact_risk, risk
from ...tasks import (
    AbstractInputs,
    AbstractPrior,
    FixedNoise,
    GaussianInputs,
    GaussianPrior,
    GivenInputs,
    LinearRegression,
    MappedInputs,
    PoolPrior,
    StudentTInputs,
    UniformInputs,
    independent_moments,
)
from ...theory import GramMoments, best_heads
from .. import Axis, Check, Evidence, Figure, Lab, Mean, Panel, Series, Table, at_most, claim, consistent, mean_over
from ._closed_form import closed_gap, general_signal, independent_signal, radial_signal
from ._inputs import three_points, two_radii

D = 4
LENGTHS = (2, 8, 32)
# Var |x|^2 / (E |x|^2)^2 of radial inputs, and E x^4 of independent coordinates of variance 1.
SPREADS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
KURTOSES = (1.01, 1.03, 1.1, 1.3, 2.0, 4.0, 10.0, 30.0)
SIGMAS = (0.0, 0.5, 2.0)
MEAN = np.array([1.0, -0.5, 0.3])
COVARIANCE = np.array([[1.0, 0.3, 0.1], [0.3, 0.6, -0.2], [0.1, -0.2, 0.8]])
POOL = PoolPrior([[1.0, 0.2, -0.4], [-1.5, 0.3, 0.9], [0.1, 2.0, 0.0]], [0.2, 0.3, 0.5])
# Contexts per batch and batches of the least-squares estimate.
CONTEXTS, BATCHES, PROMPTS = 20_000, 20, 65_536
ROUNDING = "Two exact numbers: rounding alone, at most 1e-11 in what we saw."


def exact_gap(task: LinearRegression) -> float:
    """Least risk of LSA with d + 1 heads and the guess 0, less that of the best affine function of the Gram matrix."""
    moments = GramMoments.of(task)
    return best_heads(moments, task.d + 1).risk - best_heads(moments, task.d + 1, free_offset=True).risk


def isotropic(d: int, n: int, inputs: AbstractInputs, sigma: float = 0.0) -> LinearRegression:
    """Tasks N((1, ..., 1), I)."""
    return LinearRegression(d, n, GaussianPrior(jnp.ones(d), jnp.eye(d)), inputs=inputs, noise=FixedNoise(sigma))


def sampled_distance(
    draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray], d: int, n: int, sigma: float, *, seed: int
) -> Mean:
    """Squared distance of the constant 1 from the span of the Gram matrix's entries: least squares on drawn contexts.

    Tasks are N(0, I): a mean would move labels by a linear map of tokens, and leave the span as it is.
    """
    random = np.random.default_rng(seed)
    rows, columns = np.triu_indices(d + 1)
    found = []
    with threadpool_limits(1, "blas"):
        for _ in range(BATCHES):
            x, w = draw(random, (CONTEXTS, n)), random.standard_normal((CONTEXTS, d, 1))
            y = x @ w + sigma * random.standard_normal((CONTEXTS, n, 1))
            tokens = np.concatenate([x, y], axis=2)
            entries = (tokens.swapaxes(1, 2) @ tokens / n)[:, rows, columns]
            normal, right = entries.T @ entries / CONTEXTS, entries.mean(0)
            found.append(1 - right @ np.linalg.solve(normal, right))
    return mean_over(found)


@claim(
    "gap-by-norm",
    paper="descant",
    where="docs/theory/gram.md, Other inputs",
    title="Without noise, what a guess is worth to many heads follows from the inputs' fourth moments",
    statement=r"""
        Without noise, the best linear self-attention with the guess 0, its query masked, and $d+1$ or more heads has
        the least risk of all affine functions of the Gram matrix plus
        $$\frac{|\mu|^2_\Lambda}{1 + n\kappa}, \qquad \kappa = \max_B \frac{(E\langle x,Bx\rangle)^2}
        {\mathrm{Var}\langle x,Bx\rangle},$$
        for all laws of inputs with fourth moments and all laws of tasks with mean $\mu$. For radial inputs $x = ru$,
        $u$ uniform on a sphere, and invertible linear images of them, $\kappa = (E r^2)^2/\mathrm{Var}\,r^2$, that is
        $$\mathrm{gap} = |\mu|^2_\Lambda\,\frac{\mathrm{Var}\,r^2}{\mathrm{Var}\,r^2 + n (E r^2)^2},$$
        which for Gaussian inputs of full rank is $2|\mu|^2_\Lambda/(dn+2)$. For independent coordinates, symmetric
        about 0 and of kurtoses $k_j$, and invertible linear images of them, $\kappa = \sum_j 1/(k_j-1)$. With Gaussian
        tasks and Gaussian noise of a fixed variance $\sigma^2$ the denominator is $1 + n\kappa + \sigma^4/V$, where $V
        = E\,\mathrm{Var}(|y - X\mu|^2/n \mid X)$.
    """,
    refuted_by={
        "exact": "Inputs, tasks or a context length for which the exact gap is away from the formula.",
        "sampled": "Contexts or prompts, drawn one by one, with another gap.",
    },
    method=r"""
        Among linear functions of the Gram matrix, the best imitation of the constant 1 that an affine one would use is
        its projection on $\langle B, X^\top X/n\rangle$: the other entries are uncorrelated with every function of $X$,
        up to what $X^\top X$ says of them, but for the noise in $|y|^2$. The gap is
        $|\mu|^2_\Lambda$ times the squared distance. Judged: the formula against exact least risks from the moments of
        the laws; against the distance itself, by least squares on contexts drawn in NumPy; and the best weights on
        prompts drawn token by token.
    """,
    quick="radial and independent inputs from constant to heavy-tailed, 3 context lengths, 3 noise levels",
    full="the same, with 16 times as many prompts",
    seconds=10,
)
def gap_by_norm(lab: Lab) -> Evidence:
    """Curves and settings against the formula, then sampling."""
    lab.tell("exact gaps", 0.0)
    radial = lab.keep("radial", lambda: [[_gap_of(n, two_radii(D, each)) for each in SPREADS] for n in LENGTHS])
    independent = lab.keep("separate", lambda: [[_gap_of(n, three_points(D, k)) for k in KURTOSES] for n in LENGTHS])
    by_radius = [[closed_gap(_task(n), radial_signal(1.0, each)) for each in SPREADS] for n in LENGTHS]
    by_kurtosis = [[closed_gap(_task(n), independent_signal(np.full(D, k))) for k in KURTOSES] for n in LENGTHS]
    rows = lab.keep("settings", _settings)
    lab.tell("sampling", 0.4)
    checks = [
        _agree(f"radial inputs, d = {D}, {len(SPREADS)} spreads and {len(LENGTHS)} lengths", radial, by_radius),
        _agree(
            f"independent coordinates, d = {D}, {len(KURTOSES)} kurtoses and {len(LENGTHS)} lengths",
            independent,
            by_kurtosis,
        ),
        *(_agree(row[0], [row[1]], [row[2]]) for row in rows),
        *_sampled(lab),
    ]
    tables = (
        Table(
            "settings",
            "Other inputs, tasks and noise",
            ("setting", "gap, exact least risks", "gap, formula"),
            tuple(tuple(row) for row in rows),
            "Covariances that are not diagonal; d = 3 and n = 5 but for those with noise, d = 4 and n = 8.",
        ),
    )
    return Evidence(
        tuple(checks), (_figure(radial, by_radius, independent, by_kurtosis),), tables, headline=checks[0].name
    )


def _task(n: int) -> LinearRegression:
    return isotropic(D, n, GaussianInputs(jnp.eye(D)))


def _gap_of(n: int, inputs: AbstractInputs) -> float:
    return exact_gap(isotropic(D, n, inputs))


def _agree(name: str, found, formula) -> Check:
    worst = np.max(np.abs(np.asarray(found) / np.asarray(formula) - 1))
    return at_most(
        f"{name}: largest relative difference from the formula",
        float(worst),
        1e-10,
        exact=True,
        against="exact",
        reason=ROUNDING,
    )


def _settings() -> list[tuple[str, float, float]]:
    """A name, the exact gap and the formula's, where something is different from the curves."""
    one = np.ones(3)
    exponential = GivenInputs(
        lambda key: jax.random.exponential(key, (3,)), independent_moments(one, one, 2 * one, 9 * one)
    )
    gaussian = GaussianPrior(MEAN, COVARIANCE)
    mapped = MappedInputs(two_radii(3, 0.5), COVARIANCE)
    heavy = StudentTInputs(5)

    def compared(name: str, prior: AbstractPrior, inputs: AbstractInputs, signal: float):
        task = LinearRegression(3, 5, prior, inputs=inputs, noise=FixedNoise(0.0))
        return name, exact_gap(task), closed_gap(task, signal)

    # E |x|^4 of Student-t inputs of covariance I is (nu - 2)/(nu - 4) times a Gaussian's, d (d + 2).
    rows = [
        compared("radial, mapped to another covariance", gaussian, mapped, radial_signal(1.0, 0.5)),
        compared("the same, a pool of three tasks", POOL, mapped, radial_signal(1.0, 0.5)),
        compared("Gaussian", gaussian, GaussianInputs(COVARIANCE), 3 / 2),
        compared("Student-t, 5 degrees of freedom", gaussian, heavy, radial_signal(3.0, 3 * 15 - 9)),
        compared("uniform", gaussian, UniformInputs(-1, 1), independent_signal(np.full(3, 1.8))),
        compared(
            "independent, mapped to another covariance",
            gaussian,
            MappedInputs(three_points(3, 5.0), COVARIANCE),
            independent_signal(np.full(3, 5.0)),
        ),
        compared(
            "exponential: skewed, mean not 0; κ by solving",
            gaussian,
            exponential,
            general_signal(exponential.moments(3)),
        ),
    ]
    for sigma in SIGMAS[1:]:
        for name, inputs, signal in (
            ("radial, spread 0.5", two_radii(4, 0.5), radial_signal(1.0, 0.5)),
            ("independent, kurtosis 5", three_points(4, 5.0), independent_signal(np.full(4, 5.0))),
        ):
            noisy = isotropic(4, 8, inputs, sigma)
            rows.append((f"{name}, noise {sigma:g}", exact_gap(noisy), closed_gap(noisy, signal)))
    return rows


def _sampled(lab: Lab) -> list[Check]:
    """Nothing of the library: the distance from the definition. Then the best layer, token by token."""
    d, n, spread, sigma = 2, 3, 0.5, 1.0

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        x = random.standard_normal((*shape, d))
        squares = d * (1 + spread**0.5 * random.choice([-1.0, 1.0], (*shape, 1)))
        return np.sqrt(squares) * x / np.linalg.norm(x, axis=2, keepdims=True)

    value, error, freedom = lab.keep("distance", lambda: sampled_distance(draw, d, n, sigma, seed=lab.seed))
    task = isotropic(d, n, two_radii(d, spread), sigma)
    # |mu|^2 is d.
    formula = closed_gap(task, radial_signal(1.0, spread)) / d
    layer, step = best("multi-head-lsa", task), exact_risk(best("gd-beta", task), task)
    prompts = risk(layer, task, "tokens", samples=lab.pick(PROMPTS, 16 * PROMPTS), key=lab.key("prompts"))
    return [
        consistent(
            f"squared distance of 1 from the span of Gram entries, radial inputs, d = {d}, n = {n}, noise {sigma:g}",
            value,
            formula,
            error=error,
            freedom=freedom,
            resolution=0.02 * formula,
            against="sampled",
            reason="A t quantile over batches; a formula without noise, or of Gaussian inputs, is off by more.",
        ),
        consistent(
            "the best d + 1 heads on sampled prompts, less GD-beta's least risk, in the same setting",
            prompts.value - step,
            d * formula,
            error=prompts.standard_error,
            resolution=0.25 * d * formula,
            against="sampled",
            reason="Three standard errors; Gaussian inputs would have a gap 74% larger.",
        ),
    ]


def _figure(radial, by_radius, independent, by_kurtosis) -> Figure:
    def series(x, exact, formula):
        points = (
            Series(f"n = {n}, exact", x, tuple(np.array(each) / D), style="points", family=f"n = {n}")
            for n, each in zip(LENGTHS, exact, strict=True)
        )
        lines = (
            Series(f"n = {n}, formula", x, tuple(np.array(each) / D), style="line", family=f"n = {n}")
            for n, each in zip(LENGTHS, formula, strict=True)
        )
        return (*points, *lines)

    level = Axis("gap / |μ|²", log=True)
    return Figure(
        "gap-by-norm",
        "The gap against the spread of the inputs",
        "Points, exact least risks, lie on the lines of the formula. The gap vanishes with the spread of the norm "
        "(left) or of each squared coordinate (right), and grows to all of |μ|² as tails grow heavy. Gaussian inputs "
        f"are at {2 / D:g} and at 2.",
        (
            Panel(
                f"radial, d = {D}", Axis("Var |x|² / (E |x|²)²", log=True), level, series(SPREADS, radial, by_radius)
            ),
            Panel(
                f"independent coordinates, d = {D}",
                Axis("kurtosis less 1", log=True),
                level,
                series(tuple(k - 1 for k in KURTOSES), independent, by_kurtosis),
            ),
        ),
    )
