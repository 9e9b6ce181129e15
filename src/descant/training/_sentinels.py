"""Contexts larger than any that was drawn, to keep a network from exploding just beyond its pool.

A network of L layers is a polynomial of degree 3^L. The best one on any finite pool turns steeply upwards right behind
the largest context of the pool, and among the next hundred thousand contexts there is one that is larger. Sentinels
stand there: drawn contexts whose inputs are stretched along their longest direction, with the same task and the same
noise, each with the weight that the law gives it. That weight is tiny: it does not move a network that behaves.
"""

import numpy as np
from jaxtyping import Float

from .._linalg import psd_root
from .._unknown import Unknown
from ..tasks import AbstractTask

# The largest eigenvalue of Z^T Z (Z: inputs of covariance I) is multiplied by factors from the first to the second.
STRETCHES = (1.15, 1.6)
# Eigenvalues below this fraction of the largest are zero: fewer tokens than dimensions, or inputs of low rank.
ZERO = 1e-9


def can_stretch(task: AbstractTask) -> bool:
    """Other than Gaussian inputs have no tails that are known here."""
    try:
        task.regression().inputs.centred_gaussian(task.d)
    except Unknown:
        return False
    return True


def stretched(
    task: AbstractTask, gram: Float[np.ndarray, "m e e"], w: Float[np.ndarray, "m d"]
) -> tuple[Float[np.ndarray, "m e e"], Float[np.ndarray, " m"]]:
    """Gram matrices of the contexts (X M, X M w + noise), M longer than I along one direction; and their weights.

    Given the other eigenvalues, the largest one of Z^T Z has the density x^((abs(n - k) - 1)/2) e^(-x/2) prod_j (x -
    x_j), k the rank of the inputs. A weight is that density, relative to where the context was drawn.
    """
    factors = np.linspace(*STRETCHES, gram.shape[0])
    xx, xy, yy = gram[:, :-1, :-1], gram[:, :-1, -1], gram[:, -1, -1]
    root = np.asarray(psd_root(task.regression().inputs.centred_gaussian(task.d)))
    whiten = np.linalg.pinv(root, hermitian=True)
    values, vectors = np.linalg.eigh(whiten @ xx @ whiten)
    top = vectors[:, :, -1]
    ends = whiten @ top[:, :, None], top[:, None, :] @ root
    stretch = np.eye(w.shape[1]) + (np.sqrt(factors) - 1)[:, None, None] * (ends[0] @ ends[1])
    # X^T noise and |noise|^2 are what the labels hold beside X w.
    noise = xy - np.einsum("mij,mj->mi", xx, w)
    noises = yy - np.einsum("mi,mi->m", w, xy + noise)
    longer = np.einsum("mij,mj->mi", stretch, w)
    label = np.einsum("mij,mj->mi", xx, longer) + noise
    new = np.empty_like(gram)
    new[:, :-1, :-1] = np.swapaxes(stretch, 1, 2) @ xx @ stretch
    new[:, :-1, -1] = new[:, -1, :-1] = np.einsum("mji,mj->mi", stretch, label)
    new[:, -1, -1] = np.einsum("mi,mi->m", longer, label + noise) + noises
    return new, _weights(values, factors, abs(task.n - int(np.linalg.matrix_rank(root))))


def _weights(
    values: Float[np.ndarray, "m d"], factors: Float[np.ndarray, " m"], excess: int
) -> Float[np.ndarray, " m"]:
    largest, others = values[:, -1:], values[:, :-1]
    others = np.where(others > ZERO * largest, others, 0.0)
    counted = others > 0
    gaps = np.log((factors[:, None] * largest - others) / (largest - others)) * counted
    return np.exp((excess - 1) / 2 * np.log(factors) - (factors - 1) * largest[:, 0] / 2 + gaps.sum(axis=1))
