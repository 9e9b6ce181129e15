"""Linear transformers: stacks of linear attention that update every token, context and query alike.

Tokens e_i = (x_i, y_i) and the query token (x_query, 0). A layer with heads k does, for the context and for the query,

    e <- e + sum_k P_k G Q_k e, G = sum over the context of e_i e_i^T (plain sum, the query is never attended to)

and the prediction is minus the last coordinate of the query token after the last layer. Notation and sign as in
Vladymyrov et al. (2024) and von Oswald et al. (2023).
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from .. import _check
from .._predictor import AbstractLinearPredictor, Merged
from .._unknown import Unknown
from ..tasks import Moments, Prompt
from ._congruence import congruence

# Up to this depth the layers are laid out one after the other in the compiled program, which runs faster; deeper stacks
# are a loop, because the time to compile would grow with the depth.
UNROLLED_DEPTH = 8


class AbstractLinearTransformer(AbstractLinearPredictor):
    """What all parametrisations share: the recursion in moment space, and the papers' token form.

    Parameters have a leading axis over layers; a tied network has one set of them and a `depth`. A parametrisation of
    one's own has fields with that axis, and `parameters`, `update`, `last_row`, `dense` and `check_inputs`; with
    `factors` it can also be rescaled to other context lengths.
    """

    depth: int | None = eqx.field(static=True, default=None, kw_only=True)

    @property
    def layers(self) -> int:
        """How many layers: `depth` if they are tied, else as many as there are sets of parameters."""
        return jax.tree.leaves(self)[0].shape[0] if self.depth is None else self.depth

    @abstractmethod
    def parameters(self) -> PyTree[Array]:
        """The layers' parameters, stacked along a first axis of length `layers`; `update` gets those of one layer."""

    @abstractmethod
    def update(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, "e e"]:
        """sum_k P_k G Q_k of one layer, (d+1, d+1): its tokens are moved by e <- e + update e.

        **Arguments:** `parameters` are those of one layer, without the first axis; `gram` is the G of the layer's own
        tokens.
        """

    @abstractmethod
    def last_row(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, " e"]:
        """The last row of `update`, which is all that the last layer needs."""

    @abstractmethod
    def dense(self, d: int) -> tuple[Float[Array, "L K e e"], Float[Array, "L K e e"]]:
        """The matrices P and Q of every layer and head, written out for inputs in R^d."""

    @abstractmethod
    def check_inputs(self, d: int) -> None:
        """Raise an error if the network can't read inputs of this dimension."""

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The weight vector, at a cost that doesn't depend on n.

        All tokens of layer l are A_l e_i with A_{l+1} = B_l A_l, B_l = I + update(G_l), G_{l+1} = B_l G_l B_l^T. Only
        the last row of A_L = B_L ... B_1 is wanted: it is multiplied out from the left, a vector at a time.
        """
        self.check_inputs(moments.d)
        gram = moments.gram
        identity = jnp.eye(moments.d + 1, dtype=gram.dtype)
        parameters = self.parameters()

        def layer(gram, parameters):
            step = identity + self.update(parameters, gram)
            return congruence(step, gram), step

        # Tied parameters of a single set, untied ones: both come as one stack, the last of which is treated apart.
        inner, last = (jax.tree.map(lambda leaf, part=part: leaf[part], parameters) for part in (slice(-1), -1))
        unroll = self.layers if self.layers <= UNROLLED_DEPTH else 1
        gram, steps = jax.lax.scan(layer, gram, inner, length=self.layers - 1, unroll=unroll)
        row = identity[-1] + self.last_row(last, gram)
        row, _ = jax.lax.scan(lambda row, step: (row @ step, None), row, steps, reverse=True, unroll=unroll)
        return -row[:-1]

    def tokens(self, prompt: Prompt) -> Float[Array, "S m e"]:
        """All tokens before the first and after each layer, the query last: the papers' own form.

        **Returns:** (L + 1, n + 1, d + 1); the prediction is minus the last entry of all.
        """
        query = jnp.append(prompt.x_query, jnp.zeros((), prompt.x_query.dtype))
        now = jnp.concatenate([jnp.concatenate([prompt.x, prompt.y[:, None]], axis=1), query[None, :]])
        history = [now]
        for p, q in zip(*self.dense(prompt.d), strict=True):
            gram = now[:-1].T @ now[:-1]
            now = now + now @ jnp.einsum("kij,jl,klm->im", p, gram, q).T
            history.append(now)
        return jnp.stack(history)

    @property
    def factors(self) -> int:
        """How many parameters are multiplied in each term of `update`: 2 for the entries of P and Q."""
        raise Unknown(f"{type(self).__name__} doesn't say how its parameters are multiplied (`factors`)")

    def scaled(self, factor: float) -> "AbstractLinearTransformer":
        """The same kind of network, as if G were `factor` times as large in every layer."""
        share = factor ** (1 / self.factors)
        return jax.tree.map(lambda leaf: share * leaf, self)

    def gram_affine(self, d: int, n: int) -> Merged:
        """A single layer in merged form, for exact risks."""
        if self.layers > 1:
            raise Unknown(f"a linear transformer with {self.layers} layers is not affine in the Gram matrix")
        p, q = self.dense(d)
        tensor = -n * jnp.einsum("ki,kjl->lij", p[0, :, -1], q[0, :, :, :-1])
        return Merged(jnp.zeros(tensor.shape[0], tensor.dtype), tensor)


def repeated(parameters: PyTree[Array], layers: int) -> PyTree[Array]:
    """One set of tied parameters as many."""
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (layers, *leaf.shape[1:])), parameters)


def depth_and_sets(layers: int, heads: int, tied: bool) -> tuple[int | None, int]:
    """The `depth` field, and how many sets of parameters there are."""
    _check.size("layers", layers)
    _check.size("heads", heads)
    return (layers, 1) if tied else (None, layers)


def check_depth(depth: int | None, sets: int) -> None:
    """Check a `depth` field: only a single set of parameters can be tied."""
    if depth is None:
        return
    _check.size("depth", depth)
    if sets != 1:
        raise ValueError(f"depth is {depth}, but there are {sets} sets of parameters; tied layers share a single one.")


def layers_of(model: AbstractLinearTransformer) -> int:
    """How many layers a network has, as its record says it."""
    return model.layers


def stack_torch(model: AbstractLinearTransformer, d: int | None) -> Any:
    """Any linear transformer as a PyTorch module, written out for inputs in R^d."""
    from ._torch import _modules  # noqa: PLC0415

    if d is None:
        raise ValueError(
            "d is missing; a linear transformer becomes dense in PyTorch, which needs the input dimension."
        )
    return _modules.Transformer(*model.dense(d))
