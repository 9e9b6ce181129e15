"""One formula for arrays of NumPy and of JAX; JAX is not imported here, and not needed where all numbers are known.

Every operation on a JAX array is a program to compile. Where nothing is traced, NumPy has the number before that.
"""

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from jax import Array

    # The arrays of one formula: all of NumPy, or all of JAX.
    Arrays = TypeVar("Arrays", Array, np.ndarray)
else:
    Arrays = TypeVar("Arrays")
# One number: of NumPy or JAX; and where Python's will do too.
Number = Float[Any, ""]
Scalar = float | Number


def namespace(*arrays: Any) -> Any:
    """`numpy` if all arrays are NumPy's, else `jax.numpy`."""
    others = (array for array in arrays if not isinstance(array, (np.ndarray, np.generic)))
    return next(others, arrays[0]).__array_namespace__()


def traced(value: Any) -> bool:
    """Whether this stands for an array inside a JAX transformation, where its numbers can't be looked at."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.core.Tracer)


# NumPy warns of numbers that are too large where JAX goes on: here both go on, and whoever shows a number looks at it.
quietly = np.errstate(over="ignore", invalid="ignore", divide="ignore")


def settled(array: Any) -> Any:
    """The array as NumPy has it, where its numbers are known; one that is traced stays as it is."""
    return array if traced(array) else np.asarray(array)
