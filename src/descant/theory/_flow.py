"""Gradient flow of GD-beta on the population risk (Zhang, Wu and Bartlett, Theorem 6.3)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from .. import _check
from ..forms import Whitened, gd_beta_risk, optimal_gamma, whitened_gamma
from ._problem import Problem


class Flow(NamedTuple):
    """A trajectory of (beta, Gamma) at given times, its risk, and its distances to the optimum on the inputs' span.

    `beta_distance` is |P (beta - mu)|, `gamma_distance` is |P (Gamma - Gamma*) P| in the Frobenius norm, P the
    projection on the image of Lambda; what lies in its null space never moves.
    """

    times: Float[np.ndarray, " times"]
    beta: Float[np.ndarray, "times d"]
    gamma: Float[np.ndarray, "times d d"]
    risk: Float[np.ndarray, " times"]
    beta_distance: Float[np.ndarray, " times"]
    gamma_distance: Float[np.ndarray, " times"]


class FlowBounds(NamedTuple):
    """Upper bounds on the two distances of a `Flow` at the same times.

    `beta` is the paper's. `gamma` is proved in the documentation, "Gradient flow"; `gamma_printed` is the paper's,
    whose proof seems to drop a sqrt(d); it is not needed, because `gamma` is never above `gamma_printed`.
    """

    beta: Float[np.ndarray, " times"]
    gamma: Float[np.ndarray, " times"]
    gamma_printed: Float[np.ndarray, " times"]


def gradient_flow(
    problem: Problem,
    beta: Float[Array, " d"],
    gamma: Float[Array, "d d"],
    times: Float[np.ndarray, " times"],
) -> Flow:
    """Solve d(beta, Gamma)/dt = -grad (risk / 2) for the risk of GD-beta; the factor 1/2 is the paper's.

    **Arguments:** `beta` (d,) and `gamma` (d, d) are where it starts, at `times[0]`; `times` are at least two, each
    later than the one before.

    **Returns:** a `Flow`: the trajectory at these times, its risk and its distances to the optimum. `RuntimeError` if
    it can't be followed so far.

    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> flow = gradient_flow(problem, jnp.zeros(2), jnp.zeros((2, 2)), np.array([0.0, 100.0]))
    >>> flow.risk.round(3)
    array([4.   , 0.578])
    >>> flow.beta[-1].round(2)
    array([1., 1.])
    """
    times = np.asarray(times, dtype=float)
    _check.finite("times", times)
    if times.ndim != 1 or times.size < 2 or np.any(np.diff(times) <= 0):
        raise ValueError("times is not a rising list; expected at least two times, each later than the one before.")
    d = problem.d

    @jax.jit
    def velocity(flat):
        slope = jax.grad(lambda flat: gd_beta_risk(problem, flat[:d], flat[d:].reshape(d, d)))(flat)
        return -slope / 2

    start = np.concatenate([np.asarray(beta, dtype=float), np.asarray(gamma, dtype=float).ravel()])
    # LSODA turns to a stiff method by itself: ill-conditioned inputs have rates that differ by kappa^2.
    solved = scipy.integrate.solve_ivp(
        lambda _, flat: np.asarray(velocity(flat)),
        (times[0], times[-1]),
        start,
        method="LSODA",
        t_eval=times,
        rtol=1e-10,
        atol=1e-13,
    )
    if not solved.success:
        raise RuntimeError(f"the flow could not be followed to time {times[-1]:g}: {solved.message}")
    betas, gammas = solved.y.T[:, :d], solved.y.T[:, d:].reshape(-1, d, d)
    white = Whitened.of(problem)
    projection = np.linalg.pinv(white.forth) @ white.forth
    apart = projection @ (gammas - np.asarray(optimal_gamma(problem, problem.mean))) @ projection
    return Flow(
        times,
        betas,
        gammas,
        np.asarray(jax.vmap(lambda b, g: gd_beta_risk(problem, b, g))(jnp.asarray(betas), jnp.asarray(gammas))),
        np.linalg.norm((betas - np.asarray(problem.mean)) @ projection, axis=1),
        np.linalg.norm(apart, axis=(1, 2)),
    )


def flow_bounds(problem: Problem, flow: Flow) -> FlowBounds:
    """The theorem's bounds along a flow.

    With l the least positive and L the largest eigenvalue of Lambda: |beta - mu| falls at least like
    e^{-l t / (n+1)}, and |Gamma - Gamma^*| at least like e^{-A_1 t} up to a forcing A_2 e^{-2 l t / (n+1)}, where
    A_1 = l^2 times the least eigenvalue of Omega.

    **Arguments:** `flow` is what `gradient_flow` found on the same problem.

    **Returns:** `FlowBounds`, at the flow's times; `flow.beta_distance` never exceeds `beta`, nor `gamma_distance`
    `gamma`.
    """
    white, n = Whitened.of(problem), problem.n
    eigenvalues = 1 / np.linalg.norm(white.forth, axis=1) ** 2
    least, largest = eigenvalues.min(), eigenvalues.max()
    phi = np.linalg.eigvalsh(white.cov)
    omega = ((n + 1) * phi.min() + phi.sum() + white.noise2) / n
    slow, fast = 2 * least / (n + 1), least**2 * omega
    t = flow.times - flow.times[0]
    decay = np.exp(-fast * t)
    # (e^(-slow t) - e^(-fast t)) / (fast - slow), in a form that survives fast = slow.
    gap = abs(fast - slow)
    mixed = np.exp(-min(slow, fast) * t) * (t if gap == 0 else -np.expm1(-gap * t) / gap)
    start, forcing = flow.gamma_distance[0], largest**2 * flow.beta_distance[0] ** 2
    largest_gamma = np.linalg.norm(whitened_gamma(white.cov, n, white.noise2))
    return FlowBounds(
        beta=flow.beta_distance[0] * np.exp(-slow * t / 2),
        gamma=decay * start + (1 + largest_gamma / n) * forcing * mixed,
        gamma_printed=decay * start + (2 + 2 / n) * forcing * mixed,
    )
