"""DIAG: diagonal heads, four numbers each."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
from ..tasks import AbstractTask
from ._diagonal import AbstractDiagonal
from ._gd_plus_plus import GDPlusPlusTransformer, gd_level
from ._kind import Kind
from ._layers_apart import layers_apart
from ._levels import Level, cut, deepened, only, randoms
from ._linear_transformer import check_depth, depth_and_sets, layers_of, stack_torch
from ._starts import SPREAD, gram_sizes


class Diag(AbstractDiagonal):
    """DIAG: four numbers per head. Fields are (L, K), or (1, K) for `depth` tied layers.

    One head forces w_xx w_yy = w_xy w_yx; two heads or more reach every `FreeDiag`.
    """

    p_x: Float[Array, "L K"]
    p_y: Float[Array, "L K"]
    q_x: Float[Array, "L K"]
    q_y: Float[Array, "L K"]

    def __check_init__(self):
        if self.p_x.ndim != 2 or 0 in self.p_x.shape:
            raise ValueError(f"p_x has shape {self.p_x.shape}; expected (layers, heads).")
        for name in ("p_y", "q_x", "q_y"):
            _check.shape(name, getattr(self, name), self.p_x.shape, "p_x has it")
        check_depth(self.depth, self.p_x.shape[0])

    @classmethod
    def random(
        cls, layers: int, heads: int = 1, *, key: PRNGKeyArray, tied: bool = False, scale=0.1, dtype=float
    ) -> "Diag":
        """Normal numbers of the given scale; `tied` layers share one set of them."""
        depth, count = depth_and_sets(layers, heads, tied)
        return cls(*(scale * jax.random.normal(key, (4, count, heads), dtype)), depth=depth)

    @classmethod
    def zeros(cls, layers: int, heads: int = 1, depth: int | None = None) -> "Diag":
        """The zero predictor, as a template."""
        zero = jnp.zeros((layers, heads))
        return cls(zero, zero, zero, zero, depth=depth)

    @property
    def heads(self) -> int:
        """Heads per layer."""
        return self.p_x.shape[1]

    @property
    def factors(self) -> int:
        """An entry of P and one of Q."""
        return 2

    def omegas(self) -> Float[Array, "L 2 2"]:
        """sum_k p q^T."""
        p, q = jnp.stack([self.p_x, self.p_y], axis=1), jnp.stack([self.q_x, self.q_y], axis=1)
        return jnp.einsum("lik,ljk->lij", p, q)


def levels_over_gd(lift: Callable[[GDPlusPlusTransformer, Any, AbstractTask], Any]) -> Callable[..., list[Level]]:
    """Depth by depth GD++, and a diagonal network that starts from it by `lift(gd, like, task)`."""

    def levels(model: Any, task: AbstractTask, random_starts: int, every_depth: bool) -> list[Level]:
        del every_depth  # all are on the way
        if model.depth is not None:
            return only(model, task, random_starts)
        found = []
        for layers in range(1, model.layers + 1):
            found += [gd_level(layers, task, random_starts), level(model, layers, task, random_starts)]
        return found

    def level(model: Any, layers: int, task: AbstractTask, random_starts: int) -> Level:
        template = cut(model, layers)

        def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
            before = found.get(f"diag {layers - 1}")
            known = [] if before is None else deepened(before, task, key)
            lifted = lift(found[f"gd++ {layers}"], template, task)
            return [lifted, *known, *randoms(template, task, key, random_starts)]

        return Level(f"diag {layers}", template, starts)

    return levels


def _make(task: AbstractTask, *, layers: int = 1, heads: int = 1, tied: bool = False, key: PRNGKeyArray) -> Diag:
    return _restart(Diag.random(layers, heads, key=key, tied=tied), task, key)


def _restart(model: Diag, task: AbstractTask, key: PRNGKeyArray) -> Diag:
    """q_x in units that make w_xx and w_yx of size 1/x, q_y in units that make w_xy and w_yy of size 1/y."""
    x, y = gram_sizes(task)
    p_x, p_y, q_x, q_y = SPREAD * jax.random.normal(key, (4, *model.p_x.shape))
    heads = model.heads**0.5
    return Diag(p_x / 3, p_y, q_x / (x * heads), q_y / (y * heads), depth=model.depth)


def _from_gd(model: GDPlusPlusTransformer, like: Diag, task: AbstractTask) -> Diag:
    """GD++ as DIAG with the heads of `like`: the first head does it all, the others and q_y are next to nothing."""
    x, y = gram_sizes(task)
    # p and q share the omegas' size evenly in units of w_yx, so that both can move.
    unit = jnp.maximum(jnp.abs(model.w_yx) * x, 1e-2)
    rest = jnp.zeros_like(like.p_x)
    return Diag(
        rest.at[:, 0].set(model.w_xx * x / unit) + 1e-3,
        rest.at[:, 0].set(model.w_yx * x / unit),
        rest.at[:, 0].set(unit / x),
        rest + 1e-3 / y,
        depth=like.depth,
    )


def _reduced(model: Diag) -> AbstractPredictor:
    """Four omegas per layer, whatever the heads."""
    from ._free_diag import FreeDiag  # noqa: PLC0415 - its levels are made here

    omegas = model.omegas()
    parts = (omegas[:, row, column] for row in range(2) for column in range(2))
    return layers_apart(FreeDiag(*parts, depth=model.depth))


KIND = Kind(
    name="diag",
    sentence="linear transformer with diagonal heads (DIAG)",
    model=Diag,
    make=_make,
    restart=_restart,
    levels=levels_over_gd(_from_gd),
    layers=layers_of,
    reduced=_reduced,
    torch=stack_torch,
)
