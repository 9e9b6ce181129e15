"""Least squares over contexts, with standard errors over contexts and the share that is explained on fresh ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

# Contexts are split into so many parts for the errors of coefficients.
PARTS = 16
# An update of this size, relative to what is looked at, is rounding.
NOTHING = 1e-24


@dataclass(frozen=True)
class Share:
    """A share of something, 1 if all of it is explained, with its standard error over contexts."""

    value: float
    error: float

    def as_json(self) -> dict[str, float]:
        """Plain values."""
        return {"value": self.value, "error": self.error}


@dataclass(frozen=True)
class Fit:
    """Something fitted by a sum of terms: their names, coefficients and standard errors, and the share they explain.

    `levels` has (sigma, coefficients) at single noise levels, where the task has several.
    """

    terms: tuple[str, ...]
    coefficients: tuple[float, ...]
    errors: tuple[float, ...]
    share: Share
    levels: tuple[tuple[float, tuple[float, ...]], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "terms": list(self.terms),
            "coefficients": list(self.coefficients),
            "errors": list(self.errors),
            "share": self.share.as_json(),
            "levels": [{"sigma": sigma, "coefficients": list(found)} for sigma, found in self.levels],
        }


def share(rest: Float[np.ndarray, " B"], whole: Float[np.ndarray, " B"]) -> Share:
    """1 - sum rest / sum whole, both one number a context; the error is that of the ratio, contexts independent."""
    total = whole.mean()
    if not total > 0:
        return Share(1.0, 0.0)
    ratio = rest.mean() / total
    spread = (rest - ratio * whole).std(ddof=1) / len(rest) ** 0.5 / total
    return Share(float(1 - ratio), float(spread))


def solve(columns: Float[np.ndarray, "p B m"], target: Float[np.ndarray, "B m"]) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of least squares, and their standard errors by leaving out parts of the contexts in turn."""
    count = len(columns)
    design = columns.reshape(count, -1).T
    # Columns of size one: powers of S may differ by many orders of magnitude.
    sizes = np.sqrt((design**2).sum(axis=0))
    sizes[sizes == 0] = 1.0
    found = np.linalg.lstsq(design / sizes, target.ravel(), rcond=1e-13)[0] / sizes
    parts = np.array_split(np.arange(target.shape[0]), min(PARTS, target.shape[0]))
    scaled = columns / sizes[:, None, None]
    squares = np.array([np.einsum("pbm,qbm->pq", scaled[:, part], scaled[:, part]) for part in parts])
    products = np.array([np.einsum("pbm,bm->p", scaled[:, part], target[part]) for part in parts])
    left = [
        np.linalg.pinv(squares.sum(0) - a, rcond=1e-13) @ (products.sum(0) - b)
        for a, b in zip(squares, products, strict=True)
    ]
    spread = np.std(left, axis=0) * (len(parts) - 1) ** 0.5 / sizes
    return found, spread


def fit(
    terms: dict[str, Float[np.ndarray, "B m"]],
    target: Float[np.ndarray, "B m"],
    levels: tuple = (),
) -> Fit:
    """Fit the target by the terms on the first half of the contexts; the share is that of the second half."""
    columns = np.stack(list(terms.values()))
    half = target.shape[0] // 2
    found, errors = solve(columns[:, :half], target[:half])
    rest = target - np.einsum("p,pbm->bm", found, columns)
    explained = share((rest[half:] ** 2).sum(axis=1), (target[half:] ** 2).sum(axis=1))
    each = tuple(
        (level.sigma, tuple(map(float, solve(columns[:, level.members], target[level.members])[0]))) for level in levels
    )
    return Fit(tuple(terms), tuple(map(float, found)), tuple(map(float, errors)), explained, each)


def mean_at(values: Float[np.ndarray, " B"], members: np.ndarray) -> tuple[float, float]:
    """The mean over some contexts, and its standard error."""
    some = values[members]
    return float(some.mean()), float(some.std(ddof=1) / len(some) ** 0.5)
