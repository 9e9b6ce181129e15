"""Linear transformers that single out some directions of the inputs."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from .. import _check
from ..tasks import AbstractTask
from ._diag import Diag
from ._kind import Kind, random_start
from ._levels import Level, cut, deepened, only, plan, randoms
from ._linear_transformer import (
    AbstractLinearTransformer,
    check_depth,
    depth_and_sets,
    layers_of,
    repeated,
    stack_torch,
)

# How far axial networks start from DIAG: enough to leave its symmetry, in units of the weights' own size.
PUSHES = (0.1, 0.1, 0.1, 0.3, 0.3, 0.3)
# Of single starts, about one in ten finds what axes are good for: so many times more random ones than elsewhere.
MORE_STARTS = 4


class Axial(AbstractLinearTransformer):
    """Layers that treat all input coordinates alike but the last few, the axes, which may mix with the label.

    With m - 1 axes, the P of a head is `p_across` times the identity on the inputs across the axes, and the m x m
    matrix `p_along` on (axes, label); Q likewise. Fields are (L, K) and (L, K, m, m), or with a leading 1 for `depth`
    tied layers.

    Rotate the inputs about the axes, and the weight vector rotates with them: these networks stand between DIAG, which
    is equivariant under all rotations, and FULL, which need not be under any.
    """

    p_across: Float[Array, "L K"]
    p_along: Float[Array, "L K m m"]
    q_across: Float[Array, "L K"]
    q_along: Float[Array, "L K m m"]

    def __check_init__(self):
        if self.p_across.ndim != 2 or 0 in self.p_across.shape:
            raise ValueError(f"p_across has shape {self.p_across.shape}; expected (layers, heads).")
        shape = self.p_across.shape
        _check.shape("q_across", self.q_across, shape, "p_across has it")
        if self.p_along.ndim != 4 or self.p_along.shape[-1] < 2:
            raise ValueError(f"p_along has shape {self.p_along.shape}; expected (layers, heads, axes + 1, axes + 1).")
        size = self.p_along.shape[-1]
        for name in ("p_along", "q_along"):
            _check.shape(name, getattr(self, name), (*shape, size, size), f"p_across has shape {shape}")
        check_depth(self.depth, shape[0])

    @classmethod
    def random(
        cls,
        layers: int,
        heads: int = 1,
        axes: int = 1,
        *,
        key: PRNGKeyArray,
        tied: bool = False,
        scale=0.1,
        dtype=float,
    ) -> "Axial":
        """Normal numbers of the given scale; `tied` layers share one set of them."""
        _check.size("axes", axes)
        depth, count = depth_and_sets(layers, heads, tied)
        across, along = jax.random.split(key)
        p_across, q_across = scale * jax.random.normal(across, (2, count, heads), dtype)
        p_along, q_along = scale * jax.random.normal(along, (2, count, heads, axes + 1, axes + 1), dtype)
        return cls(p_across, p_along, q_across, q_along, depth=depth)

    @classmethod
    def from_diag(cls, model: Diag, axes: int = 1) -> "Axial":
        """The same network, written with so many axes: they are inputs like the others."""
        _check.size("axes", axes)

        def block(x, y):
            return jnp.diag(jnp.append(jnp.full(axes, x), y))

        blocks = jax.vmap(jax.vmap(block))
        return cls(model.p_x, blocks(model.p_x, model.p_y), model.q_x, blocks(model.q_x, model.q_y), depth=model.depth)

    @property
    def heads(self) -> int:
        """Heads per layer."""
        return self.p_across.shape[1]

    @property
    def axes(self) -> int:
        """Directions that are singled out."""
        return self.p_along.shape[-1] - 1

    @property
    def factors(self) -> int:
        """An entry of P and one of Q."""
        return 2

    def parameters(self) -> PyTree[Array]:
        """The fields, layer by layer."""
        return repeated((self.p_across, self.p_along, self.q_across, self.q_along), self.layers)

    def update(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, "e e"]:
        """sum_k P_k G Q_k, which takes products with small matrices only."""
        across = gram.shape[0] - 1 - self.axes

        def head(p_across, p_along, q_across, q_along):
            left = jnp.concatenate([p_across * gram[:across], p_along @ gram[across:]])
            return jnp.concatenate([q_across * left[:, :across], left[:, across:] @ q_along], axis=1)

        return jnp.sum(jax.vmap(head)(*parameters), axis=0)

    def last_row(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, " e"]:
        """The same for the last rows of the P_k."""
        across = gram.shape[0] - 1 - self.axes

        def head(p_along, q_across, q_along):
            row = p_along[-1] @ gram[across:]
            return jnp.concatenate([q_across * row[:across], row[across:] @ q_along])

        _, p_along, q_across, q_along = parameters
        return jnp.sum(jax.vmap(head)(p_along, q_across, q_along), axis=0)

    def dense(self, d: int) -> tuple[Float[Array, "L K e e"], Float[Array, "L K e e"]]:
        """The blocks, put into their places."""
        self.check_inputs(d)
        across = d - self.axes
        identity = jnp.diag((jnp.arange(d + 1) < across).astype(self.p_across.dtype))

        def placed(factor, block):
            return (factor * identity).at[across:, across:].set(block)

        p_across, p_along, q_across, q_along = self.parameters()
        place = jax.vmap(jax.vmap(placed))
        return place(p_across, p_along), place(q_across, q_along)

    def check_inputs(self, d: int) -> None:
        """One input for each axis, at least."""
        if d < self.axes:
            raise ValueError(f"d is {d}; expected at least {self.axes}, one input for each axis.")


def _make(task: AbstractTask, *, layers: int = 1, heads: int = 1, tied: bool = False, key: PRNGKeyArray) -> Axial:
    return _restart(Axial.random(layers, heads, key=key, tied=tied), task, key)


def _restart(model: Axial, task: AbstractTask, key: PRNGKeyArray) -> Axial:
    """DIAG, pushed off its symmetry."""
    first, second, third = jax.random.split(key, 3)
    layers, heads = model.p_across.shape
    template = Diag.zeros(layers, heads, model.depth)
    amount = jnp.exp(jax.random.uniform(third, (), minval=jnp.log(0.1), maxval=jnp.log(0.6)))
    return _pushed(Axial.from_diag(random_start(template, task, first), model.axes), amount, second)


def _pushed(model: Axial, amount: Any, key: PRNGKeyArray) -> Axial:
    """The same weights with normal numbers on the blocks of the axes, `amount` times each block's own size."""

    def push(blocks, normal):
        size = jnp.sqrt(jnp.sum(blocks**2, axis=(-2, -1), keepdims=True) / blocks.shape[-1])
        return blocks + amount * size * normal

    first, second = jax.random.normal(key, (2, *model.p_along.shape), model.p_along.dtype)
    blocks = push(model.p_along, first), push(model.q_along, second)
    return eqx.tree_at(lambda model: (model.p_along, model.q_along), model, blocks)


def _levels(model: Axial, task: AbstractTask, random_starts: int, every_depth: bool) -> list[Level]:
    del every_depth  # all are on the way
    if model.depth is not None:
        return only(model, task, random_starts)
    diag = plan(Diag.zeros(*model.p_across.shape), task, random_starts)
    return [*diag, *(_level(model, layers, task, random_starts) for layers in range(1, model.layers + 1))]


def _level(model: Axial, layers: int, task: AbstractTask, random_starts: int) -> Level:
    template = cut(model, layers)

    def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
        diagonal = Axial.from_diag(found[f"diag {layers}"], model.axes)
        near = [_pushed(diagonal, amount, jax.random.fold_in(key, 100 + index)) for index, amount in enumerate(PUSHES)]
        before = found.get(f"axial {layers - 1}")
        deeper = [] if before is None else deepened(before, task, key)
        return [diagonal, *near, *deeper, *randoms(template, task, key, MORE_STARTS * random_starts)]

    return Level(f"axial {layers}", template, starts)


KIND = Kind(
    name="axial",
    sentence="linear transformer that is DIAG but for one input",
    model=Axial,
    make=_make,
    restart=_restart,
    levels=_levels,
    layers=layers_of,
    torch=stack_torch,
)
