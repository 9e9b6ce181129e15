"""What networks are trained to compute here: a matrix H goes in, and a block of the output is the answer.

Every H is the natural input: the variables simply listed, empty columns for the answer. A network without biases is
odd: its output changes sign with H. Where H and -H are equally likely it can learn nothing of a target's even part, at
any depth and size, and the mean square of that part is its floor.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...attention import ELSA, gd_beta_as_elsa
from ...estimators import GDBeta
from ...programs.paper import Part, product_ab, product_atb, ridge_as_elsa

# Step size and penalty of the gradient step, and the labels' noise; with tasks N(0, I),
# SIGMA^2 is the best ridge penalty.
ETA, LAM, SIGMA = 0.1, 0.5, 0.5
# Uniform numbers of variance 1 end here; the fourth moments of uniform and normal ones.
UNIFORM, UNIFORM_FOURTH, NORMAL_FOURTH = math.sqrt(3), 1.8, 3.0


@dataclass(frozen=True, eq=False)
class Problem:
    """A law of inputs with their answers, and the network by hand.

    `place` makes (H, answer) of `numbers` standard normal numbers; multiplied by `mirror`, the same numbers make -H.
    The answer is read at `answer` of the output. The numbers before `inputs_end` stand for the inputs: their
    scale is changed where that is studied.
    """

    name: str
    rows: int
    columns: int
    numbers: int
    place: Callable[[Array], tuple[Array, Array]]
    mirror: Array
    answer: Part
    constructed: ELSA
    inputs_end: int | None = None

    def read(self, out: Float[Array, "r c"]) -> Array:
        """The answer's block of an output."""
        return out[self.answer.row_range, self.answer.column_range]


@cache
def product(p: int = 2) -> Problem:
    """A B of two p x p blocks, A above on the left and B below in the middle; the answer goes right of A."""

    def place(numbers: Array) -> tuple[Array, Array]:
        left, right = numbers.reshape(2, p, p)
        h = jnp.zeros((2 * p, 3 * p), numbers.dtype).at[:p, :p].set(left).at[p:, p : 2 * p].set(right)
        return h, left @ right

    hand = ELSA([product_ab(2 * p, 3 * p, Part(0, 0, p, p), Part(p, p, p, p), 2 * p).block])
    count = 2 * p * p
    return Problem("A B", 2 * p, 3 * p, count, place, -jnp.ones(count), Part(0, 2 * p, p, p), hand)


@cache
def transposed_product(p: int = 2) -> Problem:
    """A^T B of two p x p blocks side by side; the answer goes right of them."""

    def place(numbers: Array) -> tuple[Array, Array]:
        left, right = numbers.reshape(2, p, p)
        return jnp.concatenate([left, right, jnp.zeros((p, p), numbers.dtype)], axis=1), left.T @ right

    hand = ELSA([product_atb(p, 3 * p, Part(0, 0, p, p), Part(0, p, p, p), 0, 2 * p).block])
    count = 2 * p * p
    return Problem("AᵀB", p, 3 * p, count, place, -jnp.ones(count), Part(0, 2 * p, p, p), hand)


@cache
def gradient_step(n: int = 4, d: int = 2) -> Problem:
    """w - eta (X^T (X w - y) + lam w) in the place of w, from H = [X y 0 0 0; 0 0 w 0 0].

    Labels are those of another task: y = X w' + noise.
    """
    count = n * d + 2 * d + n

    def place(numbers: Array) -> tuple[Array, Array]:
        x = numbers[: n * d].reshape(n, d)
        w, noise, task = numbers[n * d : n * d + d], numbers[n * d + d : -d], numbers[-d:]
        y = x @ task + SIGMA * noise
        h = jnp.zeros((n + d, d + 4), numbers.dtype).at[:n, :d].set(x).at[:n, d].set(y).at[n:, d + 1].set(w)
        return h, (w - ETA * (x.T @ (x @ w - y) + LAM * w))[:, None]

    by_hand = ridge_as_elsa(jnp.zeros((n, d)), jnp.zeros(n), jnp.zeros(d), eta=ETA, lam=LAM, steps=1)
    # The hidden task keeps its sign: y changes its own with X.
    mirror = (-jnp.ones(count)).at[-d:].set(1.0)
    answer = Part(n, d + 1, d, 1)
    return Problem("a gradient step", n + d, d + 4, count, place, mirror, answer, by_hand.network, n * d)


@cache
def regression(n: int = 3, *, bounded: bool = True) -> Problem:
    """Ridge regression's prediction for a query, in the last column of its row, from H = [X y 0; x_query 0 0]; d = 2.

    Inputs and noise are uniform and tasks on a circle, of the covariances of standard normal inputs, tasks N(0, I) and
    noise SIGMA; or, if not `bounded`, those themselves. In both laws ridge with the penalty SIGMA^2 is the best
    estimate that is linear in the labels. The network by hand is one step of descent from zero with the best step size.
    """
    d = 2
    count = n * d + 2 * d + n

    def place(numbers: Array) -> tuple[Array, Array]:
        task, rest = numbers[-d:], numbers[:-d]
        if bounded:
            task = task * jnp.sqrt(d / jnp.sum(task**2)).astype(numbers.dtype)
            rest = UNIFORM * jax.scipy.special.erf(rest / math.sqrt(2))
        x, query, noise = rest[: n * d].reshape(n, d), rest[n * d : n * d + d], rest[n * d + d :]
        y = x @ task + SIGMA * noise
        h = jnp.zeros((n + 1, d + 2), numbers.dtype).at[:n, :d].set(x).at[:n, d].set(y).at[n, :d].set(query)
        gram, right = x.T @ x + SIGMA**2 * jnp.eye(d, dtype=x.dtype), x.T @ y
        # The inverse of a 2 x 2 matrix, written out.
        inverse = jnp.array([[gram[1, 1], -gram[0, 1]], [-gram[1, 0], gram[0, 0]]])
        w = inverse @ right / (gram[0, 0] * gram[1, 1] - gram[0, 1] * gram[1, 0])
        return h, (w @ query)[None, None]

    step = best_step(n, d, UNIFORM_FOURTH if bounded else NORMAL_FOURTH)
    # The estimator divides by n what it sums over the context.
    hand = gd_beta_as_elsa(GDBeta(jnp.zeros(d), n * step * jnp.eye(d)), n).network
    mirror = (-jnp.ones(count)).at[-d:].set(1.0)
    name = "ridge regression, bounded inputs" if bounded else "ridge regression, Gaussian inputs"
    return Problem(name, n + 1, d + 2, count, place, mirror, Part(n, d + 1, 1, 1), hand)


def best_step(n: int, d: int, fourth: float) -> float:
    """The best step size from zero, E tr S / E tr(S^2 + SIGMA^2 S) with S = X^T X.

    Entries of X are independent, of variance 1 and with this fourth moment.
    """
    square = n * (n - 1) * d + n * (d * fourth + d * (d - 1))
    return n * d / (square + SIGMA**2 * n * d)
