"""Contexts in the eigenbasis of their X^T X, by NumPy: losses context by context, cheap enough for the tails.

Inputs and tasks are Gaussian with covariances that are multiples of I, label noise is Gaussian: then the eigenvectors
of X^T X are independent of all else, and whatever does not depend on the basis (GD++, DIAG, ridge regression; not FULL)
may be run on diagonal ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...attention import AbstractDiagonal
from ...tasks import CategoricalNoise, FixedNoise, LinearRegression, UniformNoise
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
    def draw(
        cls, task: LinearRegression, count: int, seed: int, sigma: float | None = None, variance: float = 1.0
    ) -> "Contexts":
        """Random contexts of a task, or of one noise level in the place of its law; inputs N(0, variance I), n > d."""
        generator = np.random.default_rng([seed, 1])
        values = variance * eigenvalues(task, count, seed)
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

    def tokens(self, model: AbstractDiagonal) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Before the first layer and after each: what a layer makes of tokens, and their Gram matrix.

        (count, d + 1, d + 1) each; the first maps a token to what has become of it, the context's and the query alike.
        """
        inputs = range(self.values.shape[-1])
        gram = np.zeros((*self.values.shape, len(inputs) + 1))
        gram[:, inputs, inputs] = self.values
        gram = np.concatenate([gram, np.concatenate([self.products, self.squares[:, None]], axis=1)[:, None]], axis=1)
        gram[:, :-1, -1] = self.products
        now = np.broadcast_to(np.eye(gram.shape[1]), gram.shape)
        yield now, gram
        for (w_xx, w_xy), (w_yx, w_yy) in np.asarray(model.omegas()):
            update = np.empty_like(gram)
            update[:, :-1, :-1], update[:, :-1, -1] = w_xx * gram[:, :-1, :-1], w_xy * gram[:, :-1, -1]
            update[:, -1, :-1], update[:, -1, -1] = w_yx * gram[:, -1, :-1], w_yy * gram[:, -1, -1]
            now = now + update @ now
            change = update @ gram
            gram = gram + change + change.swapaxes(1, 2) + change @ update.swapaxes(1, 2)
            yield now, gram

    def answers(self, model: AbstractDiagonal) -> np.ndarray:
        """The weight vectors with which a diagonal network answers."""
        *_, (last, _) = self.tokens(model)
        return -last[:, -1, :-1]

    def network_losses(self, models: dict[str, Any]) -> dict[str, np.ndarray]:
        """The same of diagonal networks by name; explosions may overflow."""
        with np.errstate(over="ignore", invalid="ignore"), threadpool_limits(1, user_api="blas"):
            return {name: self.losses(self.answers(model)) for name, model in models.items()}


def _sigmas(task: LinearRegression, count: int, generator: np.random.Generator) -> np.ndarray:
    match task.noise:
        case UniformNoise(high=high):
            return float(high) * generator.random(count)
        case CategoricalNoise(sigmas=levels):
            return generator.choice(np.asarray(levels), count)
        case FixedNoise(sigma=sigma):
            return np.full(count, float(sigma))
    raise TypeError(f"noise is {task.noise}; expected a law of the paper.")


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
