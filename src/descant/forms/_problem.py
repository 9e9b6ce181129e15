"""The numbers that the closed forms speak of."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .._linalg import psd_root

# Tokens of a context. Least risks are differences of numbers that are alike up to 1/n: beyond, they lose digits.
LONGEST = 10_000_000


class AbstractProblem:
    """What the closed forms read of a problem; `theory.Problem` says what each number is.

    All arrays are NumPy's, or all are JAX's: whatever is computed from a problem is of the same sort.
    """

    mean: Float[Any, " d"]
    cov: Float[Any, "d d"]
    inputs: Float[Any, "d d"]
    n: int
    noise2: Float[Any, ""]
    noise4: Float[Any, ""]

    @property
    def d(self) -> int:
        """Input dimension."""
        return self.mean.shape[0]

    @property
    def root(self) -> Float[Any, "d d"]:
        """Lambda^(1/2)."""
        return psd_root(self.inputs)

    @property
    def signal(self) -> Float[Any, ""]:
        """tr(Lambda Psi): how much of the label's variance the unknown part of the task makes."""
        return (self.inputs @ self.cov).trace()

    def size(self, vector: Float[Any, " d"]) -> Float[Any, ""]:
        """|vector|^2 in the Lambda norm."""
        return vector @ self.inputs @ vector


@dataclass(frozen=True)
class PlainProblem(AbstractProblem):
    """A problem of NumPy arrays, for whom JAX is too slow to load; `theory.Problem` checks what it is given."""

    mean: Float[np.ndarray, " d"]
    cov: Float[np.ndarray, "d d"]
    inputs: Float[np.ndarray, "d d"]
    n: int
    noise2: np.float64
    noise4: np.float64


def conditioned_covariance(d: int, condition: float) -> Float[np.ndarray, "d d"]:
    """A diagonal covariance with log-spaced eigenvalues in the ratio 1 to 1/condition, scaled to trace d."""
    eigenvalues = np.logspace(0.0, -np.log10(condition), d)
    return np.diag(eigenvalues * (d / eigenvalues.sum()))


def whitening(inputs: Float[np.ndarray, "d d"]) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "d k"]]:
    """The maps of inputs to whitened ones (z = forth x) and of weight vectors back (w = back w_z).

    The second is the transpose of the first.
    Directions without inputs are dropped: k is the rank of the second moment.
    """
    values, vectors = np.linalg.eigh(inputs)
    # The rule of `_linalg.rank_tolerance`: estimators and theory must agree on what is rounding.
    kept = values > values.max(initial=0.0) * values.size * np.finfo(float).eps
    forth = (vectors[:, kept] / np.sqrt(values[kept])).T
    return forth, forth.T


class Whitened(NamedTuple):
    """The same problem in coordinates z with x = root z, z ~ N(0, I_k), where k is the rank of Lambda.

    Risks are the same there; `back` takes weight vectors home (w = back w_z), `forth` takes inputs there (z = forth x).
    Plain NumPy: ranks and minimisations are not traced.
    """

    mean: Float[np.ndarray, " k"]
    cov: Float[np.ndarray, "k k"]
    n: int
    noise2: float
    noise4: float
    forth: Float[np.ndarray, "k d"]

    @classmethod
    def of(cls, problem: AbstractProblem) -> "Whitened":
        """Drop the directions without inputs and scale the others to unit variance."""
        forth, _ = whitening(np.asarray(problem.inputs))
        root = np.linalg.pinv(forth)
        return cls(
            mean=root.T @ np.asarray(problem.mean),
            cov=root.T @ np.asarray(problem.cov) @ root,
            n=problem.n,
            noise2=float(problem.noise2),
            noise4=float(problem.noise4),
            forth=forth,
        )

    @property
    def k(self) -> int:
        """How many directions have inputs."""
        return self.mean.shape[0]

    @property
    def back(self) -> Float[np.ndarray, "d k"]:
        """Takes weight vectors of whitened coordinates to the original ones."""
        return self.forth.T

    def label_size(self) -> float:
        """Root mean square of a label."""
        return float(np.sqrt(np.trace(self.cov) + self.mean @ self.mean + self.noise2))

    def in_units(self, unit: float) -> "Whitened":
        """The same problem with labels divided by `unit`."""
        return self._replace(
            mean=self.mean / unit,
            cov=self.cov / unit**2,
            noise2=self.noise2 / unit**2,
            noise4=self.noise4 / unit**4,
        )

    @property
    def from_tokens(self) -> Float[np.ndarray, "s e"]:
        """The matrix that takes a token (x, y) to (z, y - `<mu, x>`)."""
        bottom = np.append(-self.mean @ self.forth, 1.0)
        return np.vstack([np.pad(self.forth, ((0, 0), (0, 1))), bottom])
