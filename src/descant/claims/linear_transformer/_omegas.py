"""A diagonal network by its four omegas, one kind of which may be left out."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...attention import AbstractDiagonal, FreeDiag

# What each does: preconditions the inputs, adapts the step to the labels' size, steps, rescales the labels.
OMEGAS = ("w_xx", "w_xy", "w_yx", "w_yy")
ROLES = {
    "w_xx": "preconditioner",
    "w_xy": "adaptive step",
    "w_yx": "step",
    "w_yy": "rescaling",
}


class Omegas(AbstractDiagonal):
    """DIAG with free omegas, trained all but one: the column `dropped` is left out, its omega 0 in every layer."""

    free: Float[Array, "L k"]
    dropped: int | None = eqx.field(static=True)

    @classmethod
    def of(cls, model: AbstractDiagonal, dropped: int | None = None) -> "Omegas":
        """The omegas of any diagonal network, without one kind."""
        columns = model.omegas().reshape(-1, len(OMEGAS))
        kept = [index for index in range(len(OMEGAS)) if index != dropped]
        return cls(columns[:, jnp.array(kept)], dropped)

    def omegas(self) -> Float[Array, "L 2 2"]:
        """The trained ones and zeros."""
        columns = self.free
        if self.dropped is not None:
            columns = jnp.insert(columns, self.dropped, 0.0, axis=1)
        return columns.reshape(-1, 2, 2)

    def as_free(self) -> FreeDiag:
        """The same network in a form that can be saved."""
        return as_free(self)


def as_free(model: AbstractDiagonal) -> FreeDiag:
    """Any diagonal network by its omegas."""
    w_xx, w_xy, w_yx, w_yy = model.omegas().reshape(-1, len(OMEGAS)).T
    return FreeDiag(w_xx, w_xy, w_yx, w_yy)
