"""Whether something is `Unknown` of a task or a predictor, before it is computed."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from ._fingerprint import fingerprint
from ._unknown import Unknown

_ANSWERED: dict[Any, str] = {}


def reason_against(question: Callable[[Any, Any], Any], subject: Any) -> str:
    """Why `question(subject, key)` is `Unknown`; empty if it is not. Traced, not computed, and once per structure.

    Whoever samples traces the subject too, so that nothing that is known can depend on the numbers in its arrays.
    """
    structure = fingerprint(subject, numbers=False)
    asked = question, structure
    if asked in _ANSWERED:
        return _ANSWERED[asked]
    try:
        eqx.filter_eval_shape(question, subject, jax.random.key(0))
        reason = ""
    except Unknown as unknown:
        reason = str(unknown)
    if structure is not None:
        _ANSWERED[asked] = reason
    return reason
