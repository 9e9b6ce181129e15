"""Contexts in the eigenbasis of their X^T X, by NumPy: losses context by context, cheap enough for the tails.

Inputs N(0, I), tasks N(0, I), Gaussian label noise: then the eigenvectors of X^T X are independent of all else, and
whatever does not depend on the basis (GD++, DIAG, ridge regression; not FULL) may be run on diagonal ones.
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...tasks import CategoricalNoise, FixedNoise, LinearRegression, Moments, UniformNoise
from ._omegas import as_free
from ._spectra import eigenvalues


@dataclass(frozen=True)
class Contexts:
    """`values` are the eigenvalues, `tasks` and `products` (X^T y) in their basis, `squares` the |y|^2."""

    n: int
    values: np.ndarray
    tasks: np.ndarray
    products: np.ndarray
    squares: np.ndarray
    sigmas: np.ndarray

    @classmethod
    def draw(cls, task: LinearRegression, count: int, seed: int, sigma: float | None = None) -> "Contexts":
        """Random contexts of a task, or of one noise level in the place of its law."""
        generator = np.random.default_rng([seed, 1])
        values = eigenvalues(task, count, seed)
        w, z = generator.standard_normal((2, count, task.d))
        sigmas = np.full(count, sigma) if sigma is not None else _sigmas(task, count, generator)
        # U^T y for the left singular vectors U of X; the other n - d directions hold noise alone.
        rotated = np.sqrt(values) * w + sigmas[:, None] * z
        rest = sigmas**2 * generator.chisquare(task.n - task.d, count)
        return cls(task.n, values, w, np.sqrt(values) * rotated, (rotated**2).sum(axis=1) + rest, sigmas)

    @property
    def residuals(self) -> np.ndarray:
        """Sums of squared residuals of least squares."""
        return self.squares - (self.products**2 / self.values).sum(axis=1)

    def ridge(self, variances: Any) -> np.ndarray:
        """Weights of ridge regression with one number for all contexts, or one for each."""
        return self.products / (self.values + np.broadcast_to(variances, self.sigmas.shape)[:, None])

    def losses(self, weights: np.ndarray) -> np.ndarray:
        """Half of the adjusted loss of each context, the query averaged: half of |w - w_oracle|^2."""
        return ((weights - self.ridge(self.sigmas**2)) ** 2).sum(axis=1) / 2

    def network_losses(self, models: dict[str, Any]) -> dict[str, np.ndarray]:
        """The same of diagonal networks, made equally deep by layers that do nothing: one program for all."""
        free = [as_free(model) for model in models.values()]
        depth = max(model.layers for model in free)
        padded = [
            jax.tree.map(lambda leaf: jnp.concatenate([leaf, jnp.zeros(depth - leaf.shape[0])]), model)
            for model in free
        ]
        stack = jax.tree.map(lambda *leaves: jnp.stack(leaves), *padded)
        found = _answers(stack, self.values, self.products, self.squares, self.n)
        return {name: self.losses(np.asarray(weights)) for name, weights in zip(models, found, strict=True)}


def _sigmas(task: LinearRegression, count: int, generator: np.random.Generator) -> np.ndarray:
    match task.noise:
        case UniformNoise(high=high):
            return float(high) * generator.random(count)
        case CategoricalNoise(sigmas=levels):
            return generator.choice(np.asarray(levels), count)
        case FixedNoise(sigma=sigma):
            return np.full(count, float(sigma))
    raise TypeError(f"noise is {task.noise}; expected a law of the paper.")


@eqx.filter_jit
def _answers(stack, values, products, squares, n: int):
    """Weight vectors, [network][context]."""

    def one(context):
        values, product, square = context
        gram = jnp.block([[jnp.diag(values), product[:, None]], [product[None, :], square[None, None]]])
        return jax.vmap(lambda model: model.weights(Moments(gram, n)))(stack)

    contexts = tuple(map(jnp.asarray, (values, products, squares)))
    return jnp.moveaxis(jax.lax.map(one, contexts, batch_size=2048), 0, 1)


def entry_errors(contexts: Contexts, weights: np.ndarray, sequences: int) -> tuple[float, float]:
    """The standard error of an adjusted half-loss that is measured with one query for each of `sequences` contexts.

    First if the oracle ridge's loss is subtracted on the same sequences, then if it comes from others. The query is
    averaged by hand: for x ~ N(0, I), E (x^T A x)^2 = (tr A)^2 + 2 tr A^2.
    """
    own, oracle = weights - contexts.tasks, contexts.ridge(contexts.sigmas**2) - contexts.tasks
    a, b, both = (own**2).sum(axis=1), (oracle**2).sum(axis=1), (own * oracle).sum(axis=1)
    paired = ((a - b) ** 2 + 2 * (a**2 + b**2 - 2 * both**2)).mean() - (a - b).mean() ** 2
    apart = sum(3 * (each**2).mean() - each.mean() ** 2 for each in (a, b))
    return float(np.sqrt(paired / 4 / sequences)), float(np.sqrt(apart / 4 / sequences))
