"""Linear transformers that treat all input coordinates alike, and so rotate with the inputs."""

from abc import abstractmethod

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from ._linear_transformer import AbstractLinearTransformer, repeated


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
        return spread(parameters, gram.shape[0]) * gram

    def last_row(self, parameters: PyTree[Array], gram: Float[Array, "e e"]) -> Float[Array, " e"]:
        """(w_yx X^T y, w_yy y^T y)."""
        return spread(parameters, gram.shape[0])[-1] * gram[-1]

    def dense(self, d: int) -> tuple[Float[Array, "L K e e"], Float[Array, "L K e e"]]:
        """Two heads suffice for any four omegas: one reads the inputs, the other the label."""
        omegas = self.parameters()
        size = d + 1
        eye = jnp.eye(size, dtype=omegas.dtype)
        p = jax.vmap(jax.vmap(lambda column: jnp.diag(_spread_vector(column, size)), in_axes=1))(omegas)
        q = jnp.stack([eye.at[-1, -1].set(0), jnp.zeros_like(eye).at[-1, -1].set(1)])
        return p, jnp.broadcast_to(q[None], p.shape)


def blocks(
    w_xx: Float[Array, " L"], w_xy: Float[Array, " L"], w_yx: Float[Array, " L"], w_yy: Float[Array, " L"]
) -> Float[Array, "L 2 2"]:
    """Four omegas per layer as 2 x 2 matrices."""
    return jnp.stack([jnp.stack([w_xx, w_xy], axis=-1), jnp.stack([w_yx, w_yy], axis=-1)], axis=-2)


def _spread_vector(pair: Float[Array, " 2"], size: int) -> Float[Array, " e"]:
    """(a, b) as (a, ..., a, b)."""
    return jnp.where(jnp.arange(size) < size - 1, pair[0], pair[1])


def spread(blocks: Float[Array, "2 2"], size: int) -> Float[Array, "e e"]:
    """Four numbers as a (d+1) x (d+1) matrix that is constant on the blocks of a Gram matrix."""
    label = jnp.arange(size) == size - 1
    rows = jnp.where(label[:, None], blocks[1][None, :], blocks[0][None, :])
    return jnp.where(label[None, :], rows[:, 1:], rows[:, :1])


def check_list(name: str, values: Float[Array, "..."]) -> None:
    """Check that there is one number per layer."""
    if values.ndim != 1 or values.shape[0] == 0:
        raise ValueError(f"{name} has shape {values.shape}; expected one number per layer.")
