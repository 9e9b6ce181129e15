"""Tasks whose labels are no linear function of the inputs, in the form that the trainer wants."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...tasks import GaussianPrior, LinearRegression, Prompt


class QuadraticTargets(LinearRegression):
    """y = `<w, x>`^2 with w ~ N(0, I / d), inputs N(0, I), no noise."""

    def __init__(self, d: int, n: int):
        super().__init__(d, n, prior=GaussianPrior(jnp.zeros(d), jnp.eye(d) / d))

    def place(self, normals: Float[Array, " numbers"]) -> Prompt:
        """The linear prompt of the same numbers, its labels squared."""
        prompt = super().place(normals)
        assert prompt.y_query is not None
        return Prompt(prompt.x, prompt.y**2, prompt.x_query, prompt.w, prompt.sigma, prompt.y_query**2)


# Hidden units of the networks that are the targets.
UNITS = 8


class ReluTargets(LinearRegression):
    """y = sum_j a_j relu(`<w_j, x>`) / sqrt(k) over k hidden units, a_j ~ N(0, 1), w_j ~ N(0, I / d), no noise."""

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
