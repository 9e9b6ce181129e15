"""What every law of random vectors has, be it of tasks or of inputs, and which of its moments can be asked for."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.errors import ConcretizationTypeError, TracerArrayConversionError
from jaxtyping import Array, Float, PRNGKeyArray

from .._final import AbstractOpen
from .._linalg import whitened_square
from .._unknown import Unknown

Matrices = Float[np.ndarray, "*batch d d"]


class VectorMoments(NamedTuple):
    """Moments of a random vector v about 0, as far as they are known: all that exact risks of one layer ask of a law.

    | field | what | who needs it |
    |---|---|---|
    | `mean` | E v | everybody |
    | `second` | E v v^T | everybody |
    | `third` | A -> E v `<v, A v>`, for a batch of symmetric A | of tasks: whoever reads y^T y |
    | `fourth` | A -> E v v^T `<v, A v>`, for a batch of symmetric A | of inputs: all; of tasks: whoever reads y^T y |

    `None` stands for a moment that is not known or not finite. NumPy, not JAX: nothing is compiled for an exact number.

    >>> moments = symmetric_moments(np.ones(2), np.eye(2), elliptical_fourth(np.eye(2)))
    >>> moments.second
    array([[2., 1.],
           [1., 2.]])
    >>> moments.third(np.eye(2))
    array([6., 6.])
    """

    mean: Float[np.ndarray, " d"]
    second: Float[np.ndarray, "d d"]
    third: Callable[[Matrices], Float[np.ndarray, "*batch d"]] | None = None
    fourth: Callable[[Matrices], Matrices] | None = None

    @property
    def cov(self) -> Float[np.ndarray, "d d"]:
        """E (v - mean)(v - mean)^T."""
        return self.second - np.outer(self.mean, self.mean)


def symmetric_moments(
    mean: Float[np.ndarray, " d"], cov: Float[np.ndarray, "d d"], fourth: Callable[[Matrices], Matrices] | None
) -> VectorMoments:
    """Moments of mean + c, where c and -c have the same law with the covariance `cov`.

    **Arguments:** `mean` (d,), `cov` (d, d), and `fourth`, A -> E c c^T `<c, A c>`, if it is known: `elliptical_fourth`
    or `independent_fourth`, or one's own, for batches A (..., d, d).
    """
    mean, cov = np.asarray(mean), np.asarray(cov)
    second = cov + np.outer(mean, mean)

    def third(a: Matrices) -> Float[np.ndarray, "*batch d"]:
        moved = a @ mean
        size = moved @ mean + np.sum(a * cov, axis=(-2, -1))
        return size[..., None] * mean + 2 * moved @ cov

    def raw_fourth(a: Matrices) -> Matrices:
        assert fourth is not None
        moved = a @ mean
        across = (moved @ cov)[..., :, None] * mean
        spread = np.sum(a * cov, axis=(-2, -1))[..., None, None] * np.outer(mean, mean)
        both = 2 * (across + np.swapaxes(across, -1, -2)) + spread
        return (moved @ mean)[..., None, None] * second + both + fourth(a)

    return VectorMoments(mean, second, third, None if fourth is None else raw_fourth)


def elliptical_fourth(cov: Float[np.ndarray, "d d"], factor: float = 1.0) -> Callable[[Matrices], Matrices]:
    """A -> E c c^T `<c, A c>` = factor (2 C A C + tr(A C) C): 1 for a Gaussian, more for heavier tails.

    **Arguments:** `cov` (d, d) is C; `factor` is E s^2 / (E s)^2 where c is sqrt(s) times a Gaussian, d / (d + 2)
    on a sphere.
    """

    def fourth(a: Matrices) -> Matrices:
        return factor * (2 * cov @ a @ cov + np.sum(a * cov, axis=(-2, -1))[..., None, None] * cov)

    return fourth


def independent_fourth(
    variance: Float[np.ndarray, " d"], kurtosis: Float[np.ndarray, " d"]
) -> Callable[[Matrices], Matrices]:
    """The same for independent coordinates: Gaussian but for the diagonal.

    **Arguments:** `variance` (d,), and `kurtosis` (d,), E c_j^4 / (E c_j^2)^2, which is 3 for a Gaussian.
    """
    gaussian = elliptical_fourth(np.diag(variance))
    excess = (np.asarray(kurtosis) - 3) * np.asarray(variance) ** 2

    def fourth(a: Matrices) -> Matrices:
        diagonal = np.diagonal(a, axis1=-2, axis2=-1) * excess
        return gaussian(a) + diagonal[..., None] * np.eye(variance.shape[0])

    return fourth


def independent_moments(
    mean: Float[np.ndarray, " d"],
    variance: Float[np.ndarray, " d"],
    third: Float[np.ndarray, " d"],
    fourth: Float[np.ndarray, " d"],
) -> VectorMoments:
    """Moments about 0 of independent coordinates, from those about their mean.

    **Arguments:** `mean`, `variance`, `third` and `fourth`, each (d,): E v_j, and E (v_j - E v_j)^p for p = 2, 3, 4.

    >>> one = np.ones(2)
    >>> exponential = independent_moments(one, one, 2 * one, 9 * one)
    >>> float(exponential.fourth(np.eye(2))[0, 0])
    28.0
    """
    safe = np.where(variance > 0, variance, 1.0)
    even = symmetric_moments(mean, np.diag(variance), independent_fourth(variance, fourth / safe**2))
    even_third, even_fourth = even.third, even.fourth
    assert even_third is not None and even_fourth is not None

    def raw_third(a: Matrices) -> Float[np.ndarray, "*batch d"]:
        return even_third(a) + third * np.diagonal(a, axis1=-2, axis2=-1)

    def raw_fourth(a: Matrices) -> Matrices:
        across = (third * np.diagonal(a, axis1=-2, axis2=-1))[..., :, None] * mean
        skewed = (2 * third * (a @ mean))[..., None] * np.eye(mean.shape[0])
        return even_fourth(a) + across + np.swapaxes(across, -1, -2) + skewed

    return even._replace(third=raw_third, fourth=raw_fourth)


def discrete_moments(points: Float[np.ndarray, "m d"], weights: Float[np.ndarray, " m"]) -> VectorMoments:
    """Moments of a vector that is one of m points.

    **Arguments:** `points` (m, d), and `weights` (m,), their probabilities.

    >>> discrete_moments(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5])).mean
    array([0.5, 0.5])
    """

    def sizes(a: Matrices) -> Float[np.ndarray, "*batch m"]:
        return np.einsum("mi,...ij,mj->...m", points, a, points) * weights

    def third(a: Matrices) -> Float[np.ndarray, "*batch d"]:
        return sizes(a) @ points

    def fourth(a: Matrices) -> Matrices:
        return np.einsum("...m,mi,mj->...ij", sizes(a), points, points)

    return VectorMoments(weights @ points, points.T @ (weights[:, None] * points), third, fourth)


def mapped_moments(matrix: Float[np.ndarray, "d d"], moments: VectorMoments) -> VectorMoments:
    """Moments of matrix v, from those of v; what is not known of v stays so.

    **Arguments:** `matrix` (d, d).
    """
    inner_third, inner_fourth = moments.third, moments.fourth

    def third(a: Matrices) -> Float[np.ndarray, "*batch d"]:
        assert inner_third is not None
        return inner_third(matrix.T @ a @ matrix) @ matrix.T

    def fourth(a: Matrices) -> Matrices:
        assert inner_fourth is not None
        return matrix @ inner_fourth(matrix.T @ a @ matrix) @ matrix.T

    return VectorMoments(
        matrix @ moments.mean,
        matrix @ moments.second @ matrix.T,
        None if inner_third is None else third,
        None if inner_fourth is None else fourth,
    )


def mixed_moments(weights: Sequence[float] | Float[np.ndarray, " m"], parts: Sequence[VectorMoments]) -> VectorMoments:
    """Moments of a mixture: the means of those of its parts. A moment that one of them doesn't know is not known.

    **Arguments:** `weights` (m,), the probabilities of the m `parts`.
    """

    def mean(values: list[Any]) -> Any:
        if any(value is None for value in values):
            return None
        if callable(values[0]):
            return lambda a: mean([value(a) for value in values])
        return np.tensordot(np.asarray(weights), np.stack(values), axes=1)

    return VectorMoments(*(mean(list(column)) for column in zip(*parts, strict=True)))


class GaussianMixture(NamedTuple):
    """Weights, means and covariances of m Gaussians; posteriors are computed for laws that are such mixtures.

    `covs` may be rank deficient: a zero one is a single point.
    """

    log_weights: Float[Array, " m"]
    means: Float[Array, "m d"]
    covs: Float[Array, "m d d"]


def log_gaussian(v: Float[Array, " d"], cov: Float[Array, "d d"]) -> Float[Array, ""]:
    """The log density of N(0, cov) for a covariance of full rank."""
    square, log_det = whitened_square(v, cov)
    return -0.5 * (square + log_det + v.shape[0] * math.log(2 * math.pi))


class AbstractVectorLaw(AbstractOpen):
    """A law of random vectors in R^d. `check` and `sample` are all it must have.

    What else it knows makes more possible, and is asked of it; left out, the answer is no, and somebody else's number
    is Monte Carlo instead of exact:

    | method | what it makes possible |
    |---|---|
    | `numbers`, `place` | prompts as functions of standard normal numbers: faster draws |
    | `moments` | exact risks of one-layer attention |
    | `second_moment` | risks over sampled contexts with the query integrated by hand |
    """

    @abstractmethod
    def check(self, d: int) -> None:
        """Raise a ValueError if this is not a law of vectors in R^d; a law that fits any d has nothing to do."""

    @abstractmethod
    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw one vector, in JAX: it is mapped over keys and compiled, so no Python `if` on what was drawn."""

    def numbers(self, d: int) -> int | None:
        """How many standard normal numbers `place` makes a vector of; None if there is no `place`."""
        del d
        return None

    def place(self, normals: Float[Array, " numbers"]) -> Float[Array, " d"]:
        """The vector that standard normal numbers stand for, `numbers(d)` of them: a draw, if they are drawn."""
        raise Unknown(f"{type(self).__name__} is not made of normal numbers")

    def moments(self, d: int) -> VectorMoments:
        """Moments about 0. They are believed: nothing checks them against `sample`, and exact risks rest on them.

        `symmetric_moments`, `independent_moments`, `discrete_moments` and `mixed_moments` make them from a few numbers.
        """
        raise Unknown(f"the moments of {type(self).__name__} are not known")

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """E v v^T, in JAX. A law with arrays that may be traced should have it, beside `moments`."""
        try:
            return jnp.asarray(self.moments(d).second)
        except (ConcretizationTypeError, TracerArrayConversionError):
            raise Unknown(f"{type(self).__name__} has no second_moment of its own, so it can't be traced") from None


class AbstractPrior(AbstractVectorLaw):
    """A law of tasks w. One that is a mixture of Gaussians, finite or to quadrature, also has posteriors.

    Beside what every law may know (see `AbstractVectorLaw`):

    | method | what it makes possible |
    |---|---|
    | `gaussian` | the papers' closed forms |
    | `components` | the posterior, and with it Bayes, adjusted risks, the objectives `posterior` and `adjusted` |
    | `log_density` | the posterior by Monte Carlo, where there are no components |
    """

    def gaussian(self, d: int) -> tuple[Float[Array, " d"], Float[Array, "d d"]]:
        """Mean (d,) and covariance (d, d), if the law is Gaussian: then the closed forms of the papers hold."""
        raise Unknown(f"{type(self).__name__} is not Gaussian")

    def components(self, d: int) -> GaussianMixture:
        """The Gaussians that the law is a mixture of."""
        raise Unknown(f"{type(self).__name__} is no mixture of Gaussians, so its posterior has no closed form")

    def log_density(self, w: Float[Array, " d"]) -> Float[Array, ""]:
        """The logarithm of the density at w, constants included, for posteriors by Monte Carlo."""
        raise Unknown(f"the density of {type(self).__name__} is not known")


class AbstractInputs(AbstractVectorLaw):
    """A law of inputs x, independent from token to token; the query is drawn from it too.

    Beside what every law may know (see `AbstractVectorLaw`), one that is N(0, cov) says so by `centred_gaussian`: then
    contexts are drawn as Wishart matrices, at a cost that doesn't grow with n, and the papers' closed forms hold.
    """

    def centred_gaussian(self, d: int) -> Float[Array, "d d"]:
        """The covariance, if the law is Gaussian with mean 0: then contexts are Wishart, and the papers' forms hold."""
        raise Unknown(f"{type(self).__name__} is not Gaussian with mean 0")
