"""All that the risk of a one-layer attention depends on, from one pass over sampled contexts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._random import normals
from ..tasks import LinearRegression

# Contexts that are held at once.
CHUNK = 1024


class SampledMoments(eqx.Module):
    """Means over contexts of products of their task w and of the m = (d+1)(d+2)/2 different entries g of G/n.

    A predictor with the weights o + `<T, G/n>` has the squared error |w - o - t g|^2 in the norm of the inputs, t the entries
    of T that meet those of g: a quadratic form in these means, whatever the law of inputs, tasks and noise.
    """

    inputs: Float[Array, "d d"]
    w: Float[Array, " d"]
    ww: Float[Array, "d d"]
    g: Float[Array, " m"]
    wg: Float[Array, "d m"]
    gg: Float[Array, "m m"]

    @classmethod
    def draw(cls, task: LinearRegression, contexts: int, *, key: PRNGKeyArray) -> "SampledMoments":
        """Sample the tokens of so many contexts (rounded up to whole chunks) and keep the means."""
        _check.size("contexts", contexts)
        chunk = min(CHUNK, contexts)
        chunks = -(-contexts // chunk)
        total = sum(np.asarray(_products(task, jax.random.fold_in(key, index), chunk)) for index in range(chunks))
        means = jnp.asarray(total) / (chunk * chunks)
        d = task.d
        # One symmetric matrix of products of (1, w, g).
        inputs = task.inputs.second_moment(d)
        return cls(
            inputs, means[0, 1 : d + 1], means[1 : d + 1, 1 : d + 1], means[0, d + 1 :], means[1 : d + 1, d + 1 :],
            means[d + 1 :, d + 1 :],
        )  # fmt: skip

    def risk(self, offset: Float[Array, " d"], tensor: Float[Array, "d e e"]) -> Float[Array, ""]:
        """The mean squared error of the predictor with weights offset_l + `<tensor_l, G/n>`, its query masked."""
        rows, columns = np.triu_indices(tensor.shape[1])
        both = tensor + jnp.swapaxes(tensor, 1, 2)
        t = both[:, rows, columns] * np.where(rows == columns, 0.5, 1.0)[None]
        # E (w - p)(w - p)^T for the weights p = o + t g
        mean = t @ self.g
        with_task = jnp.outer(self.w, offset) + self.wg @ t.T
        with_itself = jnp.outer(offset, offset) + jnp.outer(offset, mean) + jnp.outer(mean, offset) + t @ self.gg @ t.T
        return jnp.sum(self.inputs * (self.ww - with_task - with_task.T + with_itself))


@eqx.filter_jit
def _products(task: LinearRegression, key: PRNGKeyArray, count: int) -> Float[Array, "k k"]:
    """The sum over contexts of the products of (1, w, g)."""
    numbers = normals(key, count * task.numbers, task.dtype).reshape(count, task.numbers)
    rows, columns = np.triu_indices(task.d + 1)

    def one(numbers):
        prompt = task.place(numbers)
        gram = prompt.moments().gram / task.n
        assert prompt.w is not None
        return jnp.concatenate([jnp.ones(1, gram.dtype), prompt.w, gram[rows, columns]])

    vectors = jax.vmap(one)(numbers)
    return vectors.T @ vectors
