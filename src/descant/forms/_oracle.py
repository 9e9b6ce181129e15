"""The risk of the oracle, who knows the prior and the noise level: what no predictor can be below."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from .._linalg import psd_root
from .._unknown import Unknown
from ._classical import noiseless_oracle_risk
from ._problem import AbstractProblem, Whitened

# Why it is not exact.
NOISY = "ridge regression has a closed form only without noise, where it is the posterior mean"
# Contexts that are held at once.
CHUNK = 4096


def oracle_risk(problem: AbstractProblem, *, samples: int, entropy: Sequence[int]) -> tuple[float, float]:
    """E tr(Lambda Cov(w | context, sigma)) for a fixed noise level, and its standard error: 0 where it is exact.

    Where there is no closed form, it is the mean over `samples` contexts, drawn in NumPy: a posterior covariance needs
    only the Gram matrix of a context's inputs. `entropy` seeds the draws; the words of a JAX key do.
    """
    exact = noiseless_oracle_risk(problem)
    if exact is not None:
        return exact, 0.0
    white = Whitened.of(problem)
    # Of a level that varies two prompts differ in their posterior covariance by more than their inputs.
    if abs(white.noise4 - white.noise2**2) > 1e-12 * white.noise4:
        raise Unknown("the noise level is not the same in all prompts")
    random = np.random.default_rng(entropy)
    chunks = [min(CHUNK, samples - start) for start in range(0, samples, CHUNK)]
    found = np.concatenate([_posterior_variances(white, random, size) for size in chunks])
    return float(found.mean()), float(found.std(ddof=1) / samples**0.5)


def _posterior_variances(white: Whitened, random: np.random.Generator, size: int) -> Float[np.ndarray, " size"]:
    """tr Cov(w | context) of that many contexts, in whitened coordinates.

    Bartlett's decomposition: the Gram matrix of n inputs N(0, I_k) is L L^T, L lower triangular (k, min(n, k)) with
    normal numbers below the diagonal and the roots of chi-squares of n, n - 1, ... degrees of freedom on it.
    """
    k, n = white.k, white.n
    rank = min(n, k)
    lower = np.tril(random.standard_normal((size, k, rank)), -1)
    diagonal = np.arange(rank)
    lower[:, diagonal, diagonal] = np.sqrt(random.chisquare(n - diagonal, (size, rank)))
    root = psd_root(white.cov)
    seen = root @ lower
    values, vectors = np.linalg.eigh(seen @ seen.swapaxes(1, 2))
    # As in `tasks.Spectrum`: eigenvalues that are rounding stand for directions that the context says nothing of.
    rounding = values.max(axis=1, keepdims=True, initial=0.0) * k * np.finfo(float).eps
    informed = values > rounding
    left = np.where(informed, white.noise2 / np.where(informed, values + white.noise2, 1.0), 1.0)
    return np.sum(left * np.sum((root @ vectors) ** 2, axis=1), axis=1)
