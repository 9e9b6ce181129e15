"""GD-beta: one preconditioned step from a learnt start, its risk and optimum (Zhang, Wu and Bartlett, Theorem 5.2)."""

from jaxtyping import Float

from .._arrays import Arrays, Number, Scalar, namespace
from .._linalg import eigh, from_spectrum, rank_tolerance, safe_reciprocal
from ._problem import AbstractProblem


def second_moment_about(problem: AbstractProblem, start: Float[Arrays, " d"]) -> Float[Arrays, "d d"]:
    """E (w - start)(w - start)^T = Psi + (mu - start)(mu - start)^T, C: what a step from `start` feels of the prior."""
    shift = problem.mean - start
    return problem.cov + shift[:, None] * shift[None, :]


def gd_beta_risk(problem: AbstractProblem, beta: Float[Arrays, " d"], gamma: Float[Arrays, "d d"]) -> Number:
    """Risk of beta - Gamma X^T (X beta - y) / n, for any beta and Gamma.

    With C = Psi + (beta - mu)(beta - mu)^T and L = Lambda,

        tr(L C) - 2 tr(L G L C) + (n+1)/n tr(L G L C L G^T) + (tr(L C) + sigma^2)/n tr(L G L G^T).

    Equal to the form of Theorem 5.2, less the query's own label noise.

    **Arguments:** `beta` (d,) and `gamma` (d, d), as in `estimators.GDBeta`.

    >>> import jax.numpy as jnp
    >>> from descant.theory import Problem
    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> round(float(gd_beta_risk(problem, problem.mean, 0.5 * jnp.eye(2))), 4)
    0.7031
    """
    inputs, n = problem.inputs, problem.n
    c = second_moment_about(problem, beta)
    size = (inputs @ c).trace()
    step = inputs @ gamma @ inputs
    quadratic = (n + 1) / n * (step @ c @ inputs @ gamma.T).trace()
    spread = (size + problem.noise2) / n * (step @ gamma.T).trace()
    return size - 2 * (step @ c).trace() + quadratic + spread


def whitened_gamma(second: Float[Arrays, "k k"], n: int, noise2: Scalar) -> Float[Arrays, "k k"]:
    """S Omega^-1 with Omega = ((n+1) S + (tr S + sigma^2) I) / n: the best Gamma where inputs are N(0, I).

    S is the second moment of tasks about the start, in NumPy or JAX. The two commute, so Gamma is symmetric.
    """
    xp = second.__array_namespace__()
    identity = xp.eye(second.shape[0])
    size = second.trace() + noise2
    # Omega is nowhere smaller than size / n; without tasks and noise any Gamma does, and 0 is the answer.
    omega = ((n + 1) * second + xp.where(size > 0, size, 1.0) * identity) / n
    return xp.linalg.solve(omega, second)


def optimal_gamma(problem: AbstractProblem, start: Float[Arrays, " d"]) -> Float[Arrays, "d d"]:
    """The Gamma of least risk for a step from `start`; with start = mu, the Gamma* of Theorem 5.2.

    In whitened coordinates it is `whitened_gamma` of L^(1/2) C L^(1/2); directions without inputs are left alone (their
    Gamma is 0).

    **Arguments:** `start` (d,) is where the step is taken from.

    **Returns:** Gamma (d, d), for `estimators.GDBeta(start, gamma)`.

    >>> import jax.numpy as jnp
    >>> from descant.theory import Problem
    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> optimal_gamma(problem, problem.mean).round(4)
    Array([[0.7111, 0.    ],
           [0.    , 0.7111]], dtype=float64)
    """
    xp = namespace(problem.inputs)
    values, vectors = eigh(problem.inputs)
    nonzero = values > rank_tolerance(values)
    root = from_spectrum(xp.sqrt(xp.maximum(values, 0.0)), vectors)
    inverse_root = from_spectrum(xp.sqrt(safe_reciprocal(values, nonzero)), vectors)
    white = whitened_gamma(root @ second_moment_about(problem, start) @ root, problem.n, problem.noise2)
    return inverse_root @ white @ inverse_root


def one_step_risk(problem: AbstractProblem, start: Float[Arrays, " d"]) -> Number:
    """The least risk of one preconditioned step from `start`.

    It is sum_i phi_i (phi_i + s) / ((n+1) phi_i + s) with s = sum_i phi_i + sigma^2, where phi_i are the eigenvalues of
    L^(1/2) C L^(1/2). At start = mu this is the minimum over all GD-beta (and over LTB, and over y_q-LSA), whatever mu
    is; at start = 0 it is the best preconditioned GD from zero.

    >>> import jax.numpy as jnp
    >>> from descant.theory import Problem
    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> round(float(one_step_risk(problem, jnp.zeros(2))), 4), round(float(one_step_risk(problem, problem.mean)), 4)
    (1.0922, 0.5778)
    """
    root = problem.root
    phi = namespace(root).maximum(eigh(root @ second_moment_about(problem, start) @ root)[0], 0.0)
    s = phi.sum() + problem.noise2
    bottom = (problem.n + 1) * phi + s
    return (phi * (phi + s) * safe_reciprocal(bottom, bottom > 0)).sum()


def gd_beta_minimum(problem: AbstractProblem) -> Number:
    """The least risk of GD-beta: no predictor that is affine in the context's Gram matrix does better. Its beta is mu.

    >>> import numpy as np
    >>> from descant.theory import Problem
    >>> problem = Problem(np.ones(2), np.eye(2), np.eye(2), 8, sigma=0.5)
    >>> round(float(gd_beta_minimum(problem)), 4)
    0.5778
    """
    return one_step_risk(problem, problem.mean)


def optimal_step(problem: AbstractProblem, start: Float[Arrays, " d"]) -> Number:
    """The scalar step size of least risk for one step of gradient descent from `start` (d,).

    >>> import numpy as np
    >>> from descant.theory import Problem
    >>> problem = Problem(np.ones(2), np.eye(2), np.eye(2), 8, sigma=0.5)
    >>> round(float(optimal_step(problem, problem.mean)), 4)
    0.7111
    """
    inputs, n = problem.inputs, problem.n
    c = second_moment_about(problem, start)
    cubed = (inputs @ inputs @ c @ inputs).trace()
    spread = ((inputs @ c).trace() + problem.noise2) * (inputs @ inputs).trace()
    bottom = ((n + 1) * cubed + spread) / n
    return (inputs @ inputs @ c).trace() * safe_reciprocal(bottom, bottom > 0)


def gd_risk(problem: AbstractProblem, start: Float[Arrays, " d"], step: Scalar) -> Number:
    """Risk of one step of plain gradient descent of the size `step` from `start` (d,): GD-beta with Gamma = step I.

    >>> import numpy as np
    >>> from descant.theory import Problem
    >>> problem = Problem(np.ones(2), np.eye(2), np.eye(2), 8, sigma=0.5)
    >>> round(float(gd_risk(problem, np.zeros(2), 0.5)), 4)
    1.3906
    """
    return gd_beta_risk(problem, start, step * namespace(problem.inputs).eye(problem.d))
