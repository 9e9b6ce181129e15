"""The spectrum of the inputs as the pages and the command line spell it: `power:1.5`, or d eigenvalues."""

import math
from functools import lru_cache

import numpy as np

from ..forms import conditioned_covariance

STEEPEST, LARGEST = 6.0, 1000.0
POWER = "power:"


def checked_spectrum(text: str, d: int) -> str:
    """The same spectrum in its shortest spelling; a sentence if it is none.

    >>> checked_spectrum(" 4, 1.0", 2), checked_spectrum("power:1.50", 7), checked_spectrum("", 3)
    ('4,1', 'power:1.5', '')
    """
    if not text.strip():
        return ""
    power = text.strip().startswith(POWER)
    try:
        numbers = [float(part) for part in text.strip().removeprefix(POWER).split(",")]
    except ValueError:
        numbers = [math.nan]
    if power:
        if len(numbers) != 1 or not abs(numbers[0]) <= STEEPEST:
            raise ValueError(
                f"spectrum is {text[:40]!r}; expected power: and a number from {-STEEPEST:g} to {STEEPEST:g}."
            )
        return POWER + shortest(numbers[0])
    if len(numbers) != d or not all(0 <= each <= LARGEST for each in numbers) or not any(numbers):
        raise ValueError(
            f"spectrum is {text[:40]!r}; expected d = {d} eigenvalues from 0 to {LARGEST:g}, not all zero."
        )
    return ",".join(map(shortest, numbers))


def covariance(d: int, condition: float, spectrum: str) -> np.ndarray:
    """The inputs' covariance: of a condition number, or of a spectrum in its place."""
    if not spectrum:
        return conditioned_covariance(d, condition)
    if not spectrum.startswith(POWER):
        return np.diag(numbers_of(spectrum))
    eigenvalues = np.arange(1.0, d + 1.0) ** -float(spectrum.removeprefix(POWER))
    return np.diag(eigenvalues * (d / eigenvalues.sum()))


@lru_cache(4096)
def isotropic(d: int, condition: float, spectrum: str) -> bool:
    """Whether all directions that have inputs have as much of them."""
    eigenvalues = covariance(d, condition, spectrum).diagonal()
    there = eigenvalues[eigenvalues > 0]
    return bool(np.all(there == there[0]))


def numbers_of(spectrum: str) -> list[float]:
    """The eigenvalues of a spectrum that is a list of them."""
    return [float(part) for part in spectrum.split(",")]


def shortest(value: float) -> str:
    """A number in as few letters as tell it from others.

    >>> shortest(1.0), shortest(0.1234567)
    ('1', '0.1234567')
    """
    text = f"{value:g}"
    return text if float(text) == value else repr(value)
