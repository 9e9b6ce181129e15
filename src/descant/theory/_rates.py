"""How fast gradient descent and GD++ converge, from the spectrum of the data (Vladymyrov et al., Theorem 5.1)."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .. import _check


def _check_range(smallest: float, largest: float) -> None:
    if not 0 < smallest <= largest < math.inf:
        raise ValueError(f"smallest is {smallest}, largest is {largest}; expected 0 < smallest <= largest.")


def gd_best_step(smallest: float, largest: float) -> float:
    """The step size with the best worst case for eigenvalues in [smallest, largest]: 2 / (smallest + largest).

    Of X^T X / n for the steps of `estimators.GD`; `ValueError` unless 0 < smallest <= largest.

    >>> gd_best_step(1.0, 3.0)
    0.5
    """
    _check_range(smallest, largest)
    return 2 / (smallest + largest)


def gd_error(eigenvalues: Float[np.ndarray, " d"], steps: Float[np.ndarray, " k"]) -> Float[np.ndarray, " d"]:
    """What is left of the error in each eigendirection after GD with these step sizes: the product of 1 - s_t e.

    **Arguments:** `eigenvalues` (d,) and `steps` (k,). **Returns:** a factor per eigenvalue, (d,).

    >>> gd_error(np.array([1.0, 3.0]), np.array([0.5, 0.5]))
    array([0.25, 0.25])
    """
    return np.prod(1 - np.asarray(steps)[:, None] * np.asarray(eigenvalues), axis=0)


def gd_rate(smallest: float, largest: float) -> float:
    """The factor by which a step of the best fixed size shrinks the error: (kappa - 1) / (kappa + 1).

    Here kappa = largest / smallest.

    >>> gd_rate(1.0, 3.0)
    0.5
    """
    _check_range(smallest, largest)
    return (largest - smallest) / (largest + smallest)


def gd_steps_needed(condition: float, accuracy: float) -> int:
    """Steps of plain GD that bring the error below `accuracy`: log(1/accuracy) / log((kappa + 1) / (kappa - 1)).

    **Arguments:** `condition` is kappa, the ratio of the largest to the smallest eigenvalue, at least 1; `accuracy` is
    between 0 and 1.

    >>> gd_steps_needed(100.0, 1e-3)
    346
    """
    _check_accuracy(condition, accuracy)
    rate = gd_rate(1.0, condition)
    return 1 if rate <= accuracy else math.ceil(math.log(accuracy) / math.log(rate))


def gd_plus_plus_spectrum(
    eigenvalues: Float[np.ndarray, " d"], contractions: Float[np.ndarray, " k"]
) -> Float[np.ndarray, "states d"]:
    """Eigenvalues of X^T X after each preconditioning layer of GD++: e -> e (1 - contraction e)^2.

    **Arguments:** `eigenvalues` (d,) and `contractions`, one per layer.

    **Returns:** a row of d eigenvalues before the first and after each layer.

    >>> gd_plus_plus_spectrum(np.array([1.0, 3.0]), np.array([1 / 9])).round(3)
    array([[1.   , 3.   ],
           [0.79 , 1.333]])
    """
    rows = [np.asarray(eigenvalues, dtype=float)]
    for contraction in contractions:
        rows.append(rows[-1] * (1 - contraction * rows[-1]) ** 2)
    return np.array(rows)


class LayersNeeded(NamedTuple):
    """Layers of GD++ for an accuracy, the conditions after each preconditioning layer, and the error that is left."""

    layers: int
    conditions: tuple[float, ...]
    error: float


def gd_plus_plus_layers_needed(condition: float, accuracy: float) -> LayersNeeded:
    """Layers of `GDPlusPlus.preconditioned` that bring the worst relative error below `accuracy`.

    A preconditioning layer with contraction 1 / (3 top) maps the range [a, top] onto [a (1 - a/(3 top))^2, 4/9 top]:
    the condition number kappa falls to (4/9) kappa / (1 - 1/(3 kappa))^2, by about 9/4 while it is large, and from 1 +
    e to at most 1 + 2 e^2 once it is small. One gradient step of the best size then leaves (kappa - 1) / (kappa + 1).
    So the count is O(log kappa + log log 1/accuracy).

    **Arguments:** as for `gd_steps_needed`.

    >>> gd_plus_plus_layers_needed(100.0, 1e-3).layers
    10
    """
    _check_accuracy(condition, accuracy)
    conditions = [float(condition)]
    # (kappa - 1) is followed itself: kappa = 1 + 1e-17 can't be told from 1.
    excess = condition - 1.0
    while excess / (excess + 2) > accuracy:
        # kappa' - 1 = ((4/9) kappa - (1 - 1/(3 kappa))^2) / (1 - 1/(3 kappa))^2, with kappa = 1 + excess.
        kappa = 1 + excess
        bottom = (1 - 1 / (3 * kappa)) ** 2
        excess = excess**2 * (4 * kappa - 1) / (9 * kappa**2) / bottom
        conditions.append(1 + excess)
    return LayersNeeded(len(conditions), tuple(conditions), excess / (excess + 2))


def _check_accuracy(condition: float, accuracy: float) -> None:
    _check.finite("condition", condition)
    if condition < 1:
        raise ValueError(f"condition is {condition}; expected a condition number of at least 1.")
    if not 0 < accuracy < 1:
        raise ValueError(f"accuracy is {accuracy}; expected a number between 0 and 1.")
