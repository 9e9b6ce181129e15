"""DIAG with free omegas."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from ..tasks import AbstractTask
from ._diag import levels_over_gd
from ._diagonal import AbstractDiagonal, blocks, check_list
from ._gd_plus_plus import GDPlusPlusTransformer
from ._kind import Kind
from ._layers_apart import layers_apart
from ._linear_transformer import check_depth, depth_and_sets, layers_of, stack_torch
from ._starts import SPREAD, gram_sizes


class FreeDiag(AbstractDiagonal):
    """DIAG with its four omegas free, as two or more heads allow; fields are (L,), or (1,) for `depth` tied layers."""

    w_xx: Float[Array, " L"]
    w_xy: Float[Array, " L"]
    w_yx: Float[Array, " L"]
    w_yy: Float[Array, " L"]

    def __check_init__(self):
        check_list("w_xx", self.w_xx)
        for name in ("w_xy", "w_yx", "w_yy"):
            _check.shape(name, getattr(self, name), self.w_xx.shape, "w_xx has it")
        check_depth(self.depth, self.w_xx.shape[0])

    @classmethod
    def random(cls, layers: int, *, key: PRNGKeyArray, tied: bool = False, scale=0.01, dtype=float) -> "FreeDiag":
        """Normal numbers of the given scale; `tied` layers share one set of them."""
        depth, count = depth_and_sets(layers, 1, tied)
        return cls(*(scale * jax.random.normal(key, (4, count), dtype)), depth=depth)

    @property
    def factors(self) -> int:
        """One omega."""
        return 1

    def omegas(self) -> Float[Array, "L 2 2"]:
        """The fields."""
        return blocks(self.w_xx, self.w_xy, self.w_yx, self.w_yy)


def _make(task: AbstractTask, *, layers: int = 1, tied: bool = False, key: PRNGKeyArray) -> FreeDiag:
    return _restart(FreeDiag.random(layers, key=key, tied=tied), task, key)


def _restart(model: FreeDiag, task: AbstractTask, key: PRNGKeyArray) -> FreeDiag:
    x, y = gram_sizes(task)
    normal = SPREAD * jax.random.normal(key, (4, *model.w_xx.shape))
    return FreeDiag(normal[0] / (3 * x), normal[1] / y, -jnp.abs(normal[2]) / x, normal[3] / y, depth=model.depth)


def _from_gd(model: GDPlusPlusTransformer, like: FreeDiag, task: AbstractTask) -> FreeDiag:
    del task
    nothing = jnp.zeros_like(like.w_xy)
    return FreeDiag(model.w_xx, nothing, model.w_yx, nothing, depth=like.depth)


KIND = Kind(
    name="free-diag",
    sentence="DIAG with its four omegas free",
    model=FreeDiag,
    make=_make,
    restart=_restart,
    levels=levels_over_gd(_from_gd),
    layers=layers_of,
    reduced=layers_apart,
    torch=stack_torch,
)
