"""Many numbers of few decimals as one short text, for long runs whose evidence is answers by the hundred thousand."""

import base64
import zlib
from typing import Any

import numpy as np

# Stands for NaN; numbers are whole multiples of the last decimal, in two bytes.
MISSING = -(2**15)


def packed(array: np.ndarray, decimals: int = 3) -> dict[str, Any]:
    """An array, rounded, as JSON holds it."""
    units = np.where(np.isfinite(array), np.rint(np.nan_to_num(array) * 10**decimals), MISSING)
    if array.size and not (units.min() >= MISSING and units.max() < -MISSING):
        raise ValueError(
            f"numbers of {decimals} decimals are up to {np.nanmax(np.abs(array)):g}; expected smaller ones."
        )
    # First bytes together, then second ones: so they compress.
    planes = units.astype("<i2").reshape(-1, 1).view(np.uint8).T
    data = base64.b64encode(zlib.compress(planes.tobytes(), 9)).decode()
    return {"shape": list(array.shape), "decimals": decimals, "data": data}


def unpacked(raw: dict[str, Any]) -> np.ndarray:
    """The array again; NaN where it was.

    >>> unpacked(packed(np.array([[0.1234, 9.9, float("nan")]])))
    array([[0.123, 9.9  ,   nan]])
    """
    planes = np.frombuffer(zlib.decompress(base64.b64decode(raw["data"])), np.uint8).reshape(2, -1)
    units = np.ascontiguousarray(planes.T).view("<i2").reshape(raw["shape"])
    return np.where(units == MISSING, np.nan, units / 10 ** raw["decimals"])
