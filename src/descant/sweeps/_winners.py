"""Which of several points has the least value, where that can be told."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ._directions import Direction

# Standard errors by which the least value has to be below the next, and the share of it that is rounding.
SIGMAS, ROUNDING = 3.0, 1e-9
SEVERAL = "no single one"


def winner(best: Direction, rows: Sequence[Mapping[str, Any]], column: str) -> float:
    """The index of the place with the least value; one more than the last if no single one has; NaN if none has any."""
    found = []
    for row in rows:
        if row["status"] == "done" and row[column] is not None and math.isfinite(row[column]):
            index = best.places.index(tuple(row[field] for field in best.fields))
            error = row["standard_error"] if column == "value" else 0.0
            found.append((row[column], error if error and math.isfinite(error) else 0.0, index))
    if not found:
        return math.nan
    (least, error, index), *others = sorted(found)
    for value, other, _ in others:
        if value - least <= SIGMAS * math.hypot(error, other) + ROUNDING * max(abs(value), abs(least)):
            return float(len(best.places))
    return float(index)
