"""FULL: linear transformers with dense matrices."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from .. import _check
from ..tasks import AbstractTask
from ._axial import Axial
from ._diag import Diag
from ._kind import Kind, random_start
from ._levels import Level, cut, only, plan
from ._linear_transformer import (
    AbstractLinearTransformer,
    check_depth,
    depth_and_sets,
    layers_of,
    repeated,
    stack_torch,
)
from ._starts import jiggled

# Axes of the axial networks on the way to FULL.
AXES = 2


class Full(AbstractLinearTransformer):
    """FULL: dense P and Q. `p` and `q` are (L, K, d+1, d+1), or (1, K, d+1, d+1) for `depth` tied layers.

    >>> import jax
    >>> Full.random(3, layers=2, heads=4, key=jax.random.key(0)).p.shape
    (2, 4, 4, 4)
    """

    p: Float[Array, "L K e e"]
    q: Float[Array, "L K e e"]

    def __check_init__(self):
        if self.p.ndim != 4 or 0 in self.p.shape or self.p.shape[2] != self.p.shape[3]:
            raise ValueError(f"p has shape {self.p.shape}; expected (layers, heads, d + 1, d + 1).")
        _check.shape("q", self.q, self.p.shape, "p has it")
        check_depth(self.depth, self.p.shape[0])

    @classmethod
    def random(
        cls, d: int, layers: int, heads: int = 1, *, key: PRNGKeyArray, tied: bool = False, scale=0.1, dtype=float
    ) -> "Full":
        """Normal weights of the given scale, so small that the network starts near the zero predictor."""
        depth, count = depth_and_sets(layers, heads, tied)
        normal = scale / (d + 1) * jax.random.normal(key, (2, count, heads, d + 1, d + 1), dtype)
        return cls(normal[0], normal[1], depth=depth)

    @classmethod
    def zeros(cls, d: int, layers: int, heads: int = 1) -> "Full":
        """The zero predictor, as a template."""
        zero = jnp.zeros((layers, heads, d + 1, d + 1))
        return cls(zero, zero)

    @property
    def heads(self) -> int:
        """Heads per layer."""
        return self.p.shape[1]

    @property
    def factors(self) -> int:
        """An entry of P and one of Q."""
        return 2

    def parameters(self) -> PyTree[Array]:
        """P and Q of every layer."""
        return repeated((self.p, self.q), self.layers)

    def update(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, "e e"]:
        """sum_k P_k G Q_k."""
        p, q = parameters
        size = gram.shape[0]
        # The sum over heads as one product: [P_1 G, P_2 G, ...] times the stacked Q_k.
        left = jnp.swapaxes(p @ gram, 0, 1).reshape(size, -1)
        return left @ q.reshape(-1, size)

    def last_row(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, " e"]:
        """The same for the last rows of the P_k."""
        p, q = parameters
        return (p[:, -1] @ gram).reshape(-1) @ q.reshape(-1, gram.shape[0])

    def check_inputs(self, d: int) -> None:
        """P and Q are made for one d."""
        _check.inputs(self.p.shape[-1] - 1, d)

    def dense(self, d: int) -> tuple[Float[Array, "L K e e"], Float[Array, "L K e e"]]:
        """P and Q themselves."""
        self.check_inputs(d)
        p, q = self.parameters()
        return p, q


def as_full(model: AbstractLinearTransformer, d: int) -> Full:
    """Any linear transformer as FULL, for inputs in R^d: the same function, its P and Q written out.

    >>> from descant.attention import FreeDiag
    >>> one = jnp.ones(2)
    >>> as_full(FreeDiag(one, one, one, one), d=3).p.shape
    (2, 2, 4, 4)
    """
    return Full(*model.dense(d))


def full_from_diag(model: Diag, d: int) -> Full:
    """DIAG as FULL with the same heads (`as_full` would spend two heads on any omegas)."""
    label = jnp.arange(d + 1) == d
    spread = jax.vmap(jax.vmap(lambda inputs, labels: jnp.diag(jnp.where(label, labels, inputs))))
    return Full(spread(model.p_x, model.p_y), spread(model.q_x, model.q_y), depth=model.depth)


def _make(task: AbstractTask, *, layers: int = 1, heads: int = 1, tied: bool = False, key: PRNGKeyArray) -> Full:
    return _restart(Full.random(task.d, layers, heads, key=key, tied=tied), task, key)


def _restart(model: Full, task: AbstractTask, key: PRNGKeyArray) -> Full:
    """DIAG, jiggled."""
    layers, heads = model.p.shape[:2]
    first, second = jax.random.split(key)
    template = Diag.zeros(layers, heads, model.depth)
    return jiggled(full_from_diag(random_start(template, task, first), task.d), 0.1, second)


def _levels(model: Full, task: AbstractTask, random_starts: int, every_depth: bool) -> list[Level]:
    if model.depth is not None:
        return only(model, task, random_starts)
    axial = Axial.from_diag(Diag.zeros(*model.p.shape[:2]), min(AXES, task.d))
    # FULL starts from axial networks, not from shallower ones, which are fitted for their own sake only.
    depths = range(1 if every_depth else model.layers, model.layers + 1)
    return [*plan(axial, task, random_starts), *(_level(model, layers, task) for layers in depths)]


def _level(model: Full, layers: int, task: AbstractTask) -> Level:
    def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
        # On a finite pool there is always some slope towards the rest of FULL: no push is needed. A single start,
        # because screening on few contexts would overfit the one that is good.
        del key
        return [as_full(found[f"axial {layers}"], task.d)]

    return Level(f"full {layers}", cut(model, layers), starts)


KIND = Kind(
    name="full",
    sentence="linear transformer with dense matrices (FULL)",
    model=Full,
    make=_make,
    restart=_restart,
    levels=_levels,
    layers=layers_of,
    torch=lambda model, d: stack_torch(model, model.p.shape[-1] - 1),
)
