"""What tells one task or predictor from another, for answers that are kept."""

from collections.abc import Hashable
from typing import Any

import jax
import numpy as np


def fingerprint(tree: Any, *, numbers: bool = True) -> Hashable | None:
    """The structure of a tree and its leaves; None if a static field of somebody's own can't be hashed.

    Without `numbers`, JAX's arrays count by shape and type alone; what stays as it is where a tree is traced (numbers
    of Python's, arrays of NumPy's) counts in full.

    >>> fingerprint((1.0, np.ones(2))) == fingerprint((1.0, np.ones(2))) != fingerprint((2.0, np.ones(2)))
    True
    >>> fingerprint({"not hashed": slice(0, 1)}) is None
    True
    """
    leaves, structure = jax.tree.flatten(tree)
    found = structure, tuple(_leaf(leaf, numbers) for leaf in leaves)
    try:
        hash(found)
    except TypeError:
        return None
    return found


def _leaf(leaf: Any, numbers: bool) -> Any:
    if not isinstance(leaf, (jax.Array, np.ndarray)):
        return leaf
    outline = leaf.shape, str(leaf.dtype)
    return (*outline, np.asarray(leaf).tobytes()) if numbers or isinstance(leaf, np.ndarray) else outline
