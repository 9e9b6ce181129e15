"""Checks of arguments: one clear sentence that names the argument, what it was, what is expected and what to do."""

from collections.abc import Iterable

import numpy as np
from jax.core import Tracer

# A covariance given as text or computed in float64 is off by rounding; a negative eigenvalue below this fraction of the
# largest one is rounding, above it the matrix is not positive semi-definite.
PSD_TOLERANCE = 1e-10
# The fourth power of a larger number, times some sizes, overflows.
LARGEST = 1e70


def concrete(value) -> np.ndarray | None:
    """The value as a NumPy array, or None inside a JAX transformation, where values can't be looked at."""
    if isinstance(value, Tracer):
        return None
    return np.asarray(value)


def size(name: str, value, least: int = 1, most: int | None = None) -> None:
    """Check a whole number that counts something."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {value!r}; expected a whole number of at least {least}.")
    if most is not None and value > most:
        raise ValueError(f"{name} is {value!r}; expected at most {most}.")


def finite(name: str, value) -> None:
    """Check that a scalar or array has no NaN and no infinity."""
    array = concrete(value)
    if array is not None and not np.all(np.isfinite(array)):
        raise ValueError(f"{name} holds NaN or infinity; expected finite numbers.")


def location(name: str, value, d: int | None = None) -> None:
    """Check one number for all coordinates, or a vector of them: d, where d is known."""
    magnitude(name, value)
    found = np.shape(value)
    if len(found) > 1 or (d is not None and found not in ((), (d,))):
        many = "d" if d is None else f"d = {d}"
        given = f"{found[0]} numbers" if len(found) == 1 else f"an array of shape {found}"
        raise ValueError(f"{name} is {given}; expected one number for all coordinates, or {many} of them.")


def shape(name: str, value, expected: tuple[int, ...], why: str) -> None:
    """Check an array's shape; `why` says where the expected sizes come from."""
    if value.shape != expected:
        raise ValueError(f"{name} has shape {value.shape}; expected {expected}, because {why}.")


def inputs(made_for: int, given: int) -> None:
    """Check that a model and what it is given agree on d."""
    if made_for != given:
        raise ValueError(f"the model is made for inputs of dimension {made_for}; these have dimension {given}.")


def not_negative(name: str, value) -> None:
    """Check that every entry is finite and at least 0."""
    finite(name, value)
    array = concrete(value)
    if array is not None and np.any(array < 0):
        raise ValueError(f"{name} is {array.tolist()}; expected no negative number.")


def magnitude(name: str, value) -> None:
    """Check that every entry is finite, and so small that risks, in which its fourth power stands, are numbers."""
    finite(name, value)
    array = concrete(value)
    if array is not None and np.any(np.abs(array) > LARGEST):
        raise OverflowError(f"{name} is {array.tolist()}; expected at most {LARGEST:g}: beyond it risks overflow.")


def positive(name: str, value) -> None:
    """Check that every entry is finite and above 0."""
    finite(name, value)
    array = concrete(value)
    if array is not None and np.any(array <= 0):
        raise ValueError(f"{name} is {array.tolist()}; expected a positive number.")


def covariance(name: str, value) -> None:
    """Check a symmetric positive semi-definite matrix; rank deficiency is allowed."""
    if value.ndim != 2 or value.shape[0] != value.shape[1]:
        raise ValueError(f"{name} has shape {value.shape}; expected a square matrix.")
    finite(name, value)
    array = concrete(value)
    if array is None:
        return
    scale = np.abs(array).max(initial=0.0)
    if np.abs(array - array.T).max(initial=0.0) > PSD_TOLERANCE * scale:
        raise ValueError(f"{name} is not symmetric; expected a covariance matrix: pass (A + A.T) / 2 if it should be.")
    least = np.linalg.eigvalsh(array).min(initial=0.0)
    if least < -PSD_TOLERANCE * scale:
        raise ValueError(f"{name} is not positive semi-definite: its least eigenvalue is {least:.6g}; expected >= 0.")


def one_of(name: str, value: str, allowed: Iterable[str]) -> None:
    """Check a word against the list of words that mean something."""
    allowed = list(allowed)
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; expected one of: {', '.join(allowed)}.")


def weights(name: str, value) -> None:
    """Check probabilities: none negative, and their sum 1."""
    not_negative(name, value)
    array = concrete(value)
    if array is not None and abs(array.sum() - 1.0) > 1e-9:
        raise ValueError(f"{name} sum to {array.sum():.9g}; expected 1.")
