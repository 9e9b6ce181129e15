"""What a stack of linear attention without a guess can do about a prior mean, where labels have no noise.

Derived in docs/theory/gram.md, "More layers".
"""

import math
from collections.abc import Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import binom, roots_genlaguerre, roots_hermitenorm

from ...attention import Full
from ...tasks import Moments

# Up to this context length the four numbers of `two_layers` are real.
LONGEST = 10


def degree(layers: int) -> int:
    """Of a prediction's weights as polynomials in G: 1, 4, 13, ..., as each layer's G is cubic in that before."""
    return (3**layers - 1) // 2


def left_over(d: int, n: int, layers: int) -> float:
    """1 / binom(d n / 2 + k, k), k the degree: the share of E |w|^2 that no stack without a guess gets rid of."""
    k = degree(layers)
    return float(1 / binom(d * n / 2 + k, k))


def two_layers(n: int) -> Full:
    """The best two layers for d = 1, one head each: their error is w (1 - p(s)), s = |x|^2 / n, for every task w.

    1 - p is the polynomial of degree 4 that is 1 at 0 and least in the mean of squares, Laguerre's; p is written as
    g s + s (1 - a s)^2 (b + c s).
    """
    steps = np.arange(1, 5)
    rising = np.cumprod(n / 2 + steps)
    t1, t2, t3, t4 = -((-n / 2) ** steps) * binom(4, steps) / rising
    if n > LONGEST:
        raise ValueError(f"n is {n}; expected at most {LONGEST}, beyond which these weights are not real.")
    a = (-t3 + math.sqrt(max(t3**2 - 3 * t2 * t4, 0.0))) / t2
    c = t4 / a**2
    b = (c - t2) / (2 * a)
    g = t1 - b
    p = jnp.array([[[-a, 0.0], [0.0, -g]], [[0.0, 0.0], [1.0, 0.0]]])
    q = jnp.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, c / g + b], [-b, 0.0]]]) / n
    return Full(p[:, None], q[:, None])


def stack_risk(network: Full, n: int, mean: float, variance: float = 1.0) -> float:
    """The risk of a stack at d = 1 without noise, tasks N(mean, variance), inputs N(0, 1): exact.

    The squared error is a polynomial in s, which has a chi-square law, and in w, and is integrated by Gauss's formulas
    of as high a degree.
    """
    most = degree(network.layers)
    half, s_shares = roots_genlaguerre(most + 1, n / 2 - 1)
    z, w_shares = roots_hermitenorm(2 * most + 1)
    w = mean + variance**0.5 * z
    tokens = jnp.stack([jnp.ones_like(w), w], axis=1)
    grams = (2 * half)[:, None, None, None] * (tokens[:, :, None] * tokens[:, None, :])[None]
    weights = _weights(network, jnp.asarray(grams), n)
    shares = np.outer(s_shares / s_shares.sum(), w_shares / w_shares.sum())
    return float(np.sum(shares * (np.asarray(weights) - w[None]) ** 2))


@eqx.filter_jit
def _weights(network: Full, grams: Float[Array, "s w 2 2"], n: int) -> Float[Array, "s w"]:
    return jax.vmap(jax.vmap(lambda gram: network.weights(Moments(gram, n))[0]))(grams)


def distance(d: int, n: int, most: int) -> float:
    """Squared distance of 1 from polynomials in X^T X / n without a constant, by least squares; d = 1 or 2.

    On the nodes of Gauss's formulas for the factors of X^T X (chi-squares, and a normal number): exact.
    """
    shares, entries = _gram_nodes(d, n, most)
    columns = [np.prod(powers, axis=0) for powers in _monomials(entries, most)]
    basis = np.stack(columns, axis=1) / np.sqrt(np.mean(np.square(columns), axis=1))
    root = np.sqrt(shares)
    fit, *_ = np.linalg.lstsq(basis * root[:, None], root, rcond=None)
    return float(np.sum(shares * (1 - basis @ fit) ** 2))


def _gram_nodes(d: int, n: int, most: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Shares of the nodes, and the different entries of X^T X / n on them."""
    first, its = roots_genlaguerre(most + 1, n / 2 - 1)
    if d == 1:
        return its / its.sum(), [2 * first / n]
    second, others = roots_genlaguerre(most + 1, (n - 1) / 2 - 1)
    z, normal = roots_hermitenorm(2 * most + 1)
    a, b, c = (each.ravel() for each in np.meshgrid(2 * first, 2 * second, z, indexing="ij"))
    shares = np.einsum("i,j,k->ijk", its, others, normal).ravel()
    return shares / shares.sum(), [a / n, np.sqrt(a) * c / n, (b + c**2) / n]


def _monomials(entries: list[np.ndarray], most: int) -> Iterator[list[np.ndarray]]:
    for powers in np.ndindex(*(most + 1,) * len(entries)):
        if 1 <= sum(powers) <= most:
            yield [entry**power for entry, power in zip(entries, powers, strict=True)]
