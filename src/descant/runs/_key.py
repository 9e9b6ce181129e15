"""The key of a run: the same config under the same code is the same run."""

import hashlib
import json
from typing import Any

from .._code import code_digest
from .._plain import flat, plain

LENGTH = 16
# More differing fields than these are counted, not listed.
SHOWN = 3


def code_version() -> str:
    """A fingerprint of this package's source."""
    return code_digest()[:LENGTH]


def canonical(config: dict[str, Any]) -> str:
    """One text for equal configs, whatever the order of their fields."""
    return json.dumps(plain("config", config), sort_keys=True, separators=(",", ":"), allow_nan=False)


def run_key(config: dict[str, Any], code: str) -> str:
    """The key of a config under a version of the code.

    >>> run_key({"d": 5, "n": 10}, "abc") == run_key({"n": 10, "d": 5}, "abc")
    True
    >>> run_key({"d": 5, "n": 10}, "abc") == run_key({"d": 5, "n": 10}, "abd")
    False
    """
    return hashlib.sha256(f"{code}\n{canonical(config)}".encode()).hexdigest()[:LENGTH]


def differences(there: dict[str, Any], here: dict[str, Any]) -> str:
    """The first fields in which two configs differ, in words."""
    old, new = flat(plain("config", there), "."), flat(plain("config", here), ".")
    names = [name for name in {**old, **new} if name not in old or name not in new or old[name] != new[name]]

    def side(values: dict[str, Any], name: str) -> str:
        return json.dumps(values[name]) if name in values else "absent"

    words = [f"{name} is {side(old, name)} there and {side(new, name)} here" for name in names[:SHOWN]]
    more = len(names) - len(words)
    return ", ".join(words) + (f", and {more} more differ" if more else "")
