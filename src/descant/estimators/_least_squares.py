"""The two ends of the scale: know nothing, believe the data."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._linalg import eigh, rank_tolerance, safe_reciprocal
from .._predictor import AbstractLinearPredictor, Merged
from .._unknown import Unknown
from ..tasks import AbstractTask, Moments
from ..theory import Problem, ols_risk


class Zero(AbstractLinearPredictor):
    """Always predicts 0. Its risk is E `<w, x_query>`^2, the size of the signal."""

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The zero vector."""
        return jnp.zeros_like(moments.xy)

    def gram_affine(self, d: int, n: int) -> Merged:
        """Zeros."""
        del n
        return Merged(np.zeros(d), np.zeros((d, d + 1, d + 1)))


class OLS(AbstractLinearPredictor):
    """Ordinary least squares; with fewer tokens than dimensions, the solution of least norm.

    Equals `numpy.linalg.lstsq(x, y)` and scikit-learn's `LinearRegression(fit_intercept=False)`.

    >>> from descant import Prompt
    >>> x, y = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), jnp.array([1.0, 2.0, 3.0])
    >>> round(float(OLS()(Prompt(x, y, x_query=jnp.ones(2)))), 6)
    3.0
    """

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """(X^T X)^{+} X^T y."""
        eigenvalues, vectors = eigh(moments.xx)
        inverse = safe_reciprocal(eigenvalues, eigenvalues > rank_tolerance(eigenvalues))
        return vectors @ (inverse * (vectors.T @ moments.xy))

    def exact_risk(self, task: AbstractTask) -> float:
        """By the mean of an inverse Wishart matrix; with fewer tokens than dimensions, for isotropic inputs only."""
        found = ols_risk(Problem.of(task))
        if found is None:
            raise Unknown(
                "least squares with fewer tokens than dimensions has no closed form for inputs of this covariance"
            )
        return float(found)
