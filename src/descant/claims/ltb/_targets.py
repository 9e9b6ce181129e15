"""Tasks whose labels are no linear function of the inputs."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from ..._random import normals
from ...tasks import AbstractTask, Prompt


class QuadraticTargets(AbstractTask):
    """y = `<w, x>`^2 with w ~ N(0, I / d), inputs N(0, I), no noise."""

    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)

    @property
    def numbers(self) -> int:
        """Inputs and query, then w."""
        return (self.n + 2) * self.d

    def place(self, normals: Float[Array, " numbers"]) -> Prompt:
        """Inputs, and the squares of their linear labels."""
        x, w = jax.lax.split(normals.reshape(self.n + 2, self.d), (self.n + 1, 1))
        labels = (x @ w[0]) ** 2 / self.d
        return Prompt(x[:-1], labels[:-1], x[-1], y_query=labels[-1])

    def sample(self, *, key: PRNGKeyArray) -> Prompt:
        """Draw a prompt."""
        return self.place(normals(key, self.numbers, self.dtype))


# Hidden units of the networks that are the targets.
UNITS = 8


class ReluTargets(AbstractTask):
    """y = sum_j a_j relu(`<w_j, x>`) / sqrt(k) over k hidden units, a_j ~ N(0, 1), w_j ~ N(0, I / d), no noise."""

    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)

    @property
    def numbers(self) -> int:
        """Inputs and query, then the k (d + 1) weights of the network."""
        return (self.n + 1) * self.d + UNITS * (self.d + 1)

    def place(self, normals: Float[Array, " numbers"]) -> Prompt:
        """Inputs, and the labels of a network."""
        inputs, hidden, out = jax.lax.split(normals, ((self.n + 1) * self.d, UNITS * self.d, UNITS))
        x = inputs.reshape(self.n + 1, self.d)
        units = jax.nn.relu(x @ hidden.reshape(self.d, UNITS) / self.d**0.5)
        labels = units @ out / UNITS**0.5
        return Prompt(x[:-1], labels[:-1], x[-1], y_query=labels[-1])

    def sample(self, *, key: PRNGKeyArray) -> Prompt:
        """Draw a prompt."""
        return self.place(normals(key, self.numbers, self.dtype))
