"""The simplest ensemble: a regression of the label on the guess and on the model's answer without one.

A model that uses a guess well should be at least as good as that. Coefficients are fitted on the other draws of
demonstrations, with all queries that share them, so that no case is predicted by a regression that has seen it.
"""

import numpy as np


def cross_fitted(gold: np.ndarray, *predictors: np.ndarray, together: int = 1) -> np.ndarray:
    """Predictions of the label from predictors, all (wordings, queries, seeds); each wording has its own regression."""
    found = np.full_like(gold, np.nan)
    whole = np.all([np.isfinite(array).all(axis=(0, 2)) for array in (gold, *predictors)], axis=0)
    groups = np.arange(gold.shape[1]) // together
    if len(np.unique(groups[whole])) < 2:
        groups = np.arange(gold.shape[1])
    for wording in range(gold.shape[0]):
        design = np.stack([np.ones_like(gold[wording]), *(array[wording] for array in predictors)], axis=-1)
        for group in np.unique(groups[whole]):
            inside, others = whole & (groups == group), whole & (groups != group)
            rows, labels = design[others].reshape(-1, design.shape[-1]), gold[wording, others].reshape(-1)
            coefficients = np.linalg.lstsq(rows, labels, rcond=None)[0]
            found[wording, inside] = design[inside] @ coefficients
    return found
