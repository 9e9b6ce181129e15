"""Linear transformers: stacks of linear attention that update every token, context and query alike.

Tokens e_i = (x_i, y_i) and the query token (x_query, 0). A layer with heads k does, for the context and for the query,

    e <- e + sum_k P_k G Q_k e,        G = sum over the context of e_i e_i^T   (plain sum, the query is never attended to)

and the prediction is minus the last coordinate of the query token after the last layer. Notation and sign as in Vladymyrov
et al. (2024) and von Oswald et al. (2023).
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

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

    Parameters have a leading axis over layers; a tied network has one set of them and a `depth`.
    """

    depth: int | None = eqx.field(static=True, default=None, kw_only=True)

    @property
    def layers(self) -> int:
        """How many layers: `depth` if they are tied, else as many as there are sets of parameters."""
        return jax.tree.leaves(self)[0].shape[0] if self.depth is None else self.depth

    @abstractmethod
    def parameters(self) -> PyTree[Array]:
        """The layers' parameters, stacked along a first axis of length `layers`."""

    @abstractmethod
    def update(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, "e e"]:
        """sum_k P_k G Q_k of one layer."""

    @abstractmethod
    def last_row(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, " e"]:
        """The last row of `update`, which is all that the last layer needs."""

    @abstractmethod
    def dense(self, d: int) -> tuple[Float[Array, "L K e e"], Float[Array, "L K e e"]]:
        """The matrices P and Q of every layer and head, written out."""

    @abstractmethod
    def check_inputs(self, d: int) -> None:
        """Raise an error if the network can't read inputs of this dimension."""

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The weight vector, at a cost that doesn't depend on n.

        All tokens of layer l are A_l e_i with A_{l+1} = B_l A_l, B_l = I + update(G_l), G_{l+1} = B_l G_l B_l^T. Only the
        last row of A_L = B_L ... B_1 is wanted: it is multiplied out from the left, a vector at a time.
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
        """All tokens before the first and after each layer, the query last: the papers' own form, n tokens at a time."""
        query = jnp.append(prompt.x_query, jnp.zeros((), prompt.x_query.dtype))
        now = jnp.concatenate([jnp.concatenate([prompt.x, prompt.y[:, None]], axis=1), query[None, :]])
        history = [now]
        for p, q in zip(*self.dense(prompt.d), strict=True):
            gram = now[:-1].T @ now[:-1]
            now = now + now @ jnp.einsum("kij,jl,klm->im", p, gram, q).T
            history.append(now)
        return jnp.stack(history)

    def gram_affine(self, d: int, n: int) -> Merged:
        """A single layer in merged form, for exact risks."""
        if self.layers > 1:
            raise Unknown(f"a linear transformer with {self.layers} layers is not affine in the Gram matrix")
        p, q = self.dense(d)
        tensor = -n * jnp.einsum("ki,kjl->lij", p[0, :, -1], q[0, :, :, :-1])
        return Merged(jnp.zeros(tensor.shape[0], tensor.dtype), tensor)


class Full(AbstractLinearTransformer):
    """FULL: dense P and Q. `p` and `q` are (L, K, d+1, d+1), or (1, K, d+1, d+1) for `depth` tied layers."""

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


class AbstractDiagonal(AbstractLinearTransformer):
    """Layers that treat all input coordinates alike: P_k = diag(p_x I, p_y), Q_k = diag(q_x I, q_y).

    A layer then depends on its heads only through w_xx = sum p_x q_x, w_xy = sum p_x q_y, w_yx = sum p_y q_x and
    w_yy = sum p_y q_y, and its update is the Gram matrix scaled block by block:

        [[ w_xx X^T X,  w_xy X^T y ],
         [ w_yx y^T X,  w_yy y^T y ]]

    Such a network is equivariant: rotate the inputs, and the weight vector rotates with them.
    """

    @abstractmethod
    def omegas(self) -> Float[Array, "L 2 2"]:
        """[[w_xx, w_xy], [w_yx, w_yy]] of every layer (of the one set, if tied)."""

    def check_inputs(self, d: int) -> None:
        """Any d will do."""

    def parameters(self) -> PyTree[Array]:
        """The omegas of every layer."""
        return repeated(self.omegas(), self.layers)

    def update(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, "e e"]:
        """The Gram matrix, scaled block by block."""
        return _spread(parameters, gram.shape[0]) * gram

    def last_row(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, " e"]:
        """(w_yx X^T y, w_yy y^T y)."""
        return _spread(parameters, gram.shape[0])[-1] * gram[-1]

    def dense(self, d: int) -> tuple[Float[Array, "L K e e"], Float[Array, "L K e e"]]:
        """Two heads suffice for any four omegas: one reads the inputs, the other the label."""
        omegas = self.parameters()
        size = d + 1
        eye = jnp.eye(size, dtype=omegas.dtype)
        p = jax.vmap(jax.vmap(lambda column: jnp.diag(_spread_vector(column, size)), in_axes=1))(omegas)
        q = jnp.stack([eye.at[-1, -1].set(0), jnp.zeros_like(eye).at[-1, -1].set(1)])
        return p, jnp.broadcast_to(q[None], p.shape)


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
        """Normal numbers of the given scale."""
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

    def omegas(self) -> Float[Array, "L 2 2"]:
        """sum_k p q^T."""
        p, q = jnp.stack([self.p_x, self.p_y], axis=1), jnp.stack([self.q_x, self.q_y], axis=1)
        return jnp.einsum("lik,ljk->lij", p, q)


class FreeDiag(AbstractDiagonal):
    """DIAG with its four omegas free, as two or more heads allow; fields are (L,), or (1,) for `depth` tied layers."""

    w_xx: Float[Array, " L"]
    w_xy: Float[Array, " L"]
    w_yx: Float[Array, " L"]
    w_yy: Float[Array, " L"]

    def __check_init__(self):
        _check_list("w_xx", self.w_xx)
        for name in ("w_xy", "w_yx", "w_yy"):
            _check.shape(name, getattr(self, name), self.w_xx.shape, "w_xx has it")
        check_depth(self.depth, self.w_xx.shape[0])

    @classmethod
    def random(cls, layers: int, *, key: PRNGKeyArray, tied: bool = False, scale=0.01, dtype=float) -> "FreeDiag":
        """Normal numbers of the given scale."""
        depth, count = depth_and_sets(layers, 1, tied)
        return cls(*(scale * jax.random.normal(key, (4, count), dtype)), depth=depth)

    def omegas(self) -> Float[Array, "L 2 2"]:
        """The fields."""
        return _blocks(self.w_xx, self.w_xy, self.w_yx, self.w_yy)


class GDPlusPlusTransformer(AbstractDiagonal):
    """GD++: w_xy = w_yy = 0. Each layer takes a gradient step (w_yx) and preconditions the inputs (w_xx).

    Its weight vector is f(X^T X) X^T y with a polynomial f: linear in the labels, hence never better than the best
    constant ridge.
    """

    w_xx: Float[Array, " L"]
    w_yx: Float[Array, " L"]

    def __check_init__(self):
        _check_list("w_xx", self.w_xx)
        _check.shape("w_yx", self.w_yx, self.w_xx.shape, "w_xx has it")
        check_depth(self.depth, self.w_xx.shape[0])

    @classmethod
    def random(
        cls, layers: int, *, key: PRNGKeyArray, tied: bool = False, scale=0.01, dtype=float
    ) -> "GDPlusPlusTransformer":
        """Normal numbers of the given scale."""
        depth, count = depth_and_sets(layers, 1, tied)
        return cls(*(scale * jax.random.normal(key, (2, count), dtype)), depth=depth)

    def omegas(self) -> Float[Array, "L 2 2"]:
        """w_xx and w_yx, beside zeros."""
        zero = jnp.zeros_like(self.w_xx)
        return _blocks(self.w_xx, zero, self.w_yx, zero)


def as_full(model: AbstractLinearTransformer, d: int) -> Full:
    """Any linear transformer as FULL."""
    return Full(*model.dense(d))


def _blocks(w_xx, w_xy, w_yx, w_yy) -> Float[Array, "L 2 2"]:
    return jnp.stack([jnp.stack([w_xx, w_xy], axis=-1), jnp.stack([w_yx, w_yy], axis=-1)], axis=-2)


def _spread_vector(pair: Float[Array, " 2"], size: int) -> Float[Array, " e"]:
    """(a, b) as (a, ..., a, b)."""
    return jnp.where(jnp.arange(size) < size - 1, pair[0], pair[1])


def _spread(blocks: Float[Array, "2 2"], size: int) -> Float[Array, "e e"]:
    """Four numbers as a (d+1) x (d+1) matrix that is constant on the blocks of a Gram matrix."""
    label = jnp.arange(size) == size - 1
    rows = jnp.where(label[:, None], blocks[1][None, :], blocks[0][None, :])
    return jnp.where(label[None, :], rows[:, 1:], rows[:, :1])


def repeated(parameters: PyTree[Array], layers: int) -> PyTree[Array]:
    """One set of tied parameters as many."""
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (layers, *leaf.shape[1:])), parameters)


def depth_and_sets(layers: int, heads: int, tied: bool) -> tuple[int | None, int]:
    """The `depth` field, and how many sets of parameters there are."""
    _check.size("layers", layers)
    _check.size("heads", heads)
    return (layers, 1) if tied else (None, layers)


def check_depth(depth: int | None, sets: int) -> None:
    if depth is None:
        return
    _check.size("depth", depth)
    if sets != 1:
        raise ValueError(f"depth is {depth}, but there are {sets} sets of parameters; tied layers share a single one.")


def _check_list(name: str, values: Float[Array, "..."]) -> None:
    if values.ndim != 1 or values.shape[0] == 0:
        raise ValueError(f"{name} has shape {values.shape}; expected one number per layer.")
