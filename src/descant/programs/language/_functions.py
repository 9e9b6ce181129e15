"""The functions of matrices that a program may call; both front ends provide them."""

from collections.abc import Callable

from ._elementwise import diag, hadamard, mean, sum, trace
from ._makers import constant, eye, hstack, ones, place, vstack, zeros
from ._newton import reciprocal, rsqrt

MATRIX_FUNCTIONS: dict[str, Callable] = {
    each.__name__: each
    for each in (
        *(eye, zeros, ones, constant, hstack, vstack, place),
        *(hadamard, diag, trace, sum, mean, reciprocal, rsqrt),
    )
}
