"""Whether something is `Unknown` of a task or a predictor, before it is computed."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from ._unknown import Unknown

_ANSWERED: dict[Any, str] = {}


def reason_against(question: Callable[[Any, Any], Any], subject: Any) -> str:
    """Why `question(subject, key)` is `Unknown`; empty if it is not. Traced, not computed, and once per structure.

    Whoever samples traces the subject too, so that nothing that is known can depend on the numbers in its arrays.
    """
    leaves, structure = jax.tree.flatten(subject)
    asked = (question, structure, *((leaf.shape, leaf.dtype) for leaf in leaves if eqx.is_array(leaf)))
    try:
        if asked in _ANSWERED:
            return _ANSWERED[asked]
    except TypeError:
        asked = None  # a static field of somebody's own that can't be hashed: asked every time
    try:
        eqx.filter_eval_shape(question, subject, jax.random.key(0))
        reason = ""
    except Unknown as unknown:
        reason = str(unknown)
    if asked is not None:
        _ANSWERED[asked] = reason
    return reason
