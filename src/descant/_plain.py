"""Values as JSON holds them.

JSON has no NaN and no infinity, but a training that diverged has: they are written as the strings "NaN", "Infinity" and
"-Infinity", and those strings are read back as numbers.
"""

import json
import math
from typing import Any

NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def plain(name: str, value: Any) -> Any:
    """A copy made of None, booleans, numbers, text, lists and dictionaries only; `name` is for the error."""
    if hasattr(value, "tolist"):
        value = value.tolist()  # scalars and arrays of NumPy and JAX
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"{name} has the key {key!r}; expected text, because JSON has no other keys.")
        return {key: plain(f"{name}.{key}", item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(f"{name}[{index}]", item) for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{name} is {value!r}, which JSON can't hold; expected numbers, text, lists or dictionaries.")


def restored(value: Any) -> Any:
    """What was parsed, with NaN and infinities as numbers again."""
    if isinstance(value, dict):
        return {key: restored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [restored(item) for item in value]
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def line(name: str, value: Any) -> str:
    """One line of JSON."""
    return json.dumps(plain(name, value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def page(name: str, value: Any) -> str:
    """JSON for people to read, too."""
    return json.dumps(plain(name, value), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def flat(value: dict[str, Any], separator: str, prefix: str = "") -> dict[str, Any]:
    """Dictionaries within dictionaries as one: {"task": {"d": 5}} is {"task.d": 5}. Lists stay as they are."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, dict) and item:
            found |= flat(item, separator, f"{prefix}{key}{separator}")
        else:
            found[f"{prefix}{key}"] = None if item == {} else item
    return found
