"""The exact risk of linear self-attention with a constant c in the query's label slot.

The query token is (x, c), and the answer c + `<T(x, c), M>` with T(x, c) = sum_l x_l T_l + c S, where M is G/n, plus
(x, c)(x, c)^T / n if the query attends. It splits into a part that is odd in x and one that is even. The target is odd,
and inputs are Gaussian, so the two are uncorrelated and the even part only costs:

    odd:   sum_l x_l (<T_l, G/n> + x^T T_l x / n) + <b, x>,   b_l = c^2 (T_l + 2 S)_ly / n
    even:  c (1 + <S, G/n> + x^T (S + 2 Theta) x / n + c^2 S_yy / n),   Theta_l = the xy column of T_l

without the terms in 1/n that stand outside of G if the query is masked. The odd part is a layer whose query attends
with the label 0, and an offset b that it does not have without a constant. Derivation: docs/theory/gram.md.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..forms import (
    attending_risk,
    first_moment,
    fourth_moment,
    gram_risk,
    second_moment,
    symmetrise,
    to_whitened_tokens,
)
from ._problem import Problem

# Directions of the normal matrix below this share of its largest are ones that the risk does not see.
UNSEEN = 1e-14


def constant_guess_risk(
    problem: Problem, tensor: Float[Array, "e e e"], c: float | Float[Array, ""], *, query_masked: bool = True
) -> Float[Array, ""]:
    """The risk of the layer whose guess is the constant c.

    **Arguments:** `tensor` (d+1, d+1, d+1) are the merged weights that meet the entries of the query token (x, c): its
    last matrix is S. Inputs are Gaussian, as those of every `Problem`.

    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> float(constant_guess_risk(problem, jnp.zeros((3, 3, 3)), 2.0))  # predicts 2 everywhere
    8.0
    """
    d, n = problem.d, problem.n
    tensor = symmetrise(jnp.asarray(tensor))
    steps, constant = tensor[:d], tensor[d]
    # E (1 + <S, G/n>) and its variance, in whitened coordinates with labels y - <mu, x>
    to_tokens, cov = to_whitened_tokens(problem), problem.root @ problem.cov @ problem.root
    white = to_tokens.T @ constant @ to_tokens
    imitated = jnp.sum(white * first_moment(cov, problem.noise2))
    square = jnp.sum(white * second_moment(white[None], cov, n, problem.noise2, problem.noise4)[0])
    mean, variance = 1 + imitated, square - imitated**2
    if query_masked:
        return gram_risk(problem, jnp.zeros(d), steps) + c**2 * (mean**2 + variance)
    offset = c**2 * (steps[:, d, d] + 2 * constant[:d, d]) / n
    own = problem.root @ symmetrise(constant[:d, :d] + 2 * steps[:, :d, d]) @ problem.root
    mean = mean + (jnp.trace(own) + c**2 * constant[d, d]) / n
    variance = variance + 2 * jnp.sum(own**2) / n**2
    return attending_risk(problem, offset, steps) + c**2 * (mean**2 + variance)


def best_for_constant(
    problem: Problem, c: float, *, query_masked: bool = True
) -> tuple[float, Float[np.ndarray, "e e e"]]:
    """The least risk of d + 1 or more heads with the constant guess c, and their merged weights: a linear problem.

    >>> problem = Problem(10 * jnp.ones(3), jnp.eye(3), jnp.eye(3), 3, sigma=0.0)
    >>> round(best_for_constant(problem, 100.0, query_masked=False)[0], 2)
    3.19
    """
    size = problem.d + 1
    rows, columns = np.triu_indices(size)
    square, linear = _normal(problem, jnp.asarray(float(c)), query_masked)
    # Unknowns in units in which the diagonal is 1: constants of a thousand stand beside inputs of one.
    diagonal = np.diag(square)
    unit = np.where(diagonal > 0, diagonal, 1.0) ** -0.5
    scaled = unit * -np.linalg.lstsq(square * np.outer(unit, unit), linear * unit, rcond=UNSEEN)[0]
    tensor = np.asarray(_spread(jnp.asarray(scaled), size, rows, columns))
    return float(constant_guess_risk(problem, jnp.asarray(tensor), c, query_masked=query_masked)), tensor


def _spread(entries: Float[Array, " p"], size: int, rows: np.ndarray, columns: np.ndarray) -> Float[Array, "e e e"]:
    """Symmetric matrices from their different entries."""
    upper = jnp.zeros((size, size, size)).at[:, rows, columns].set(entries.reshape(size, -1))
    return symmetrise(upper)


@partial(jax.jit, static_argnames="query_masked")
def _normal(problem: Problem, c: Float[Array, ""], query_masked: bool) -> tuple[Array, Array]:
    """The risk as a quadratic form of the entries: its matrix and its slope at 0."""
    size = problem.d + 1
    rows, columns = np.triu_indices(size)

    def risk(entries):
        tensor = _spread(entries, size, rows, columns)
        return constant_guess_risk(problem, tensor, c, query_masked=query_masked)

    slope = jax.grad(risk)
    at_zero = slope(jnp.zeros(size * rows.size))
    square = jax.vmap(lambda direction: slope(direction) - at_zero)(jnp.eye(size * rows.size))
    return square, at_zero


def large_constant_risk(problem: Problem, c: float) -> Float[Array, ""]:
    """The risk of one attending head that, with a large constant c as its guess, predicts with the prior mean.

    Its value reads labels, and its query map is the last column (n / c^2)(mu, -1) alone: the answer is
    `<mu, x>` - y^T (y - X mu) / c, and its risk tr(Lambda Psi) + E (y^T (y - X mu))^2 / c^2.

    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> round(float(large_constant_risk(problem, 1e4)), 4)
    2.0
    """
    n, root = problem.n, problem.root
    cov, mean = root @ problem.cov @ root, root @ problem.mean
    fourth = fourth_moment(cov, problem.noise2, problem.noise4)
    spread = jnp.trace(cov) + problem.noise2
    cost = n * (n + 2) * fourth + n * spread * (mean @ mean) + n * (n + 1) * (mean @ cov @ mean)
    return problem.signal + cost / c**2
