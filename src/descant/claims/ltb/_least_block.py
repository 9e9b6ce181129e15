"""The least exact risk of a linear transformer block whose keys have a given width, found by descent."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import minimize

from ...theory import Problem, ltb_risk


class Block(NamedTuple):
    """What a block computes, y_hat = `<skip, x>` + v^T (G/n) U x, and its exact risk."""

    risk: float
    v: Float[np.ndarray, " e"]
    u: Float[np.ndarray, "e d"]
    skip: Float[np.ndarray, " d"]


def unfold(flat: Float[Array, " p"], kept: Float[Array, " d"]) -> tuple[Array, Array, Array]:
    """v, U = W_K^T W_Q and the skip from one vector; rows of the keys that are not `kept` are zero."""
    d = kept.shape[0]
    v, keys, queries, skip = jnp.split(flat, np.cumsum([d + 1, d * (d + 1), d * d]))
    return v, keys.reshape(d, d + 1).T @ (kept[:, None] * queries.reshape(d, d)), skip


@jax.jit
def _slope(flat: Float[Array, " p"], problem: Problem, kept: Float[Array, " d"]):
    return jax.value_and_grad(lambda flat: ltb_risk(problem, *unfold(flat, kept)))(flat)


def block_ends(
    problem: Problem, *, starts: int, seed: int, width: int | None = None, goal: float = np.inf, most: int = 20
) -> list[Block]:
    """Where quasi-Newton steps on the exact risk end from random weights, the best first; `width` is d_k, d if None.

    At least `starts` are tried, and more, up to `most`, while none has come down to the `goal`. One compiled program
    serves all widths and all problems of one size.
    """
    d = problem.d
    kept = (jnp.arange(d) < (d if width is None else width)).astype(float)
    random = np.random.default_rng(seed)

    def both(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = _slope(jnp.asarray(flat), problem, kept)
        return float(value), np.asarray(slope)

    ends: list[Block] = []
    while len(ends) < starts or (len(ends) < most and min(end.risk for end in ends) > goal):
        start = 0.5 * random.standard_normal((d + 1) + d * (d + 1) + d * d + d)
        found = minimize(both, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
        ends.append(Block(float(found.fun), *(np.asarray(each) for each in unfold(jnp.asarray(found.x), kept))))
    return sorted(ends, key=lambda end: end.risk)


def narrow_risk(problem: Problem, width: int) -> float:
    """The least risk of a block with d_k = `width`: tr(Lambda Psi) less n phi_i^2 / ((n+1) phi_i + s) for the largest.

    The part of the block that is odd in the centred task is one step with Gamma^T = [q I, p] U for v = (p, q), whose
    rank is at most that of U, so at most d_k; the even part only costs. Among all Gamma of that rank the best keeps
    the largest eigenvalues phi_i of Lambda^(1/2) Psi Lambda^(1/2), and a block with d_v = d_f = 1 has it.
    """
    phi = spectrum(problem)
    s = phi.sum() + float(problem.noise2)
    bottom = (problem.n + 1) * phi + s
    gains = problem.n * phi**2 / np.where(bottom > 0, bottom, 1.0)
    return float(phi.sum() - gains[:width].sum())


def spectrum(problem: Problem) -> Float[np.ndarray, " d"]:
    """The eigenvalues phi_i of Lambda^(1/2) Psi Lambda^(1/2), the largest first."""
    return np.maximum(np.linalg.eigvalsh(np.asarray(problem.root @ problem.cov @ problem.root))[::-1], 0.0)
