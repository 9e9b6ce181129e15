"""A prompt in token space, and what is left of it in moment space."""

from collections.abc import Iterable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import _check

# Tokens that are held at once when a long context is summed up.
CHUNK = 4096


class Moments(eqx.Module):
    """All that a query-masked linear transformer sees of a context: G = sum_i e_i e_i^T with tokens e_i = (x_i, y_i).

    **Arguments:** `gram` (d+1, d+1) is G, `n` the context length; `w` (d,) and `sigma` are the hidden task and noise
    level, known only when the moments were sampled.

    >>> moments = Prompt(x=jnp.eye(2), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2)).moments()
    >>> moments.xy, moments.yy
    (Array([1., 2.], dtype=float64), Array(5., dtype=float64))
    """

    gram: Float[Array, "e e"]
    n: int = eqx.field(static=True)
    w: Float[Array, " d"] | None = None
    sigma: Float[Array, ""] | None = None

    @classmethod
    def of_chunks(cls, chunks: Iterable[tuple[Float[Array, "_ d"], Float[Array, " _"]]]) -> "Moments":
        """The moments of a context that comes in pieces (x, y), as from a file too large for memory.

        **Arguments:** `chunks` are pairs of x (m, d) and y (m,), with any m; at least one.

        >>> pieces = [(jnp.ones((4, 2)), jnp.ones(4)), (jnp.ones((3, 2)), jnp.ones(3))]
        >>> Moments.of_chunks(pieces).n
        7
        """
        total, n = None, 0
        for x, y in chunks:
            part = token_gram(x, y)
            total, n = part if total is None else total + part, n + x.shape[0]
        if total is None:
            raise ValueError("chunks is empty; expected at least one piece (x, y) of the context.")
        return cls(total, n)

    @property
    def d(self) -> int:
        """Input dimension."""
        return self.gram.shape[-1] - 1

    @property
    def xx(self) -> Float[Array, "d d"]:
        """X^T X."""
        return self.gram[:-1, :-1]

    @property
    def xy(self) -> Float[Array, " d"]:
        """X^T y."""
        return self.gram[:-1, -1]

    @property
    def yy(self) -> Float[Array, ""]:
        """y^T y."""
        return self.gram[-1, -1]


def token_gram(x: Float[Array, "n d"], y: Float[Array, " n"]) -> Float[Array, "e e"]:
    """sum_i e_i e_i^T with e_i = (x_i, y_i)."""
    n, d = x.shape

    def chunk_gram(x, y):
        # Block by block: putting x and y together to tokens first would copy the context.
        return join_gram(x.T @ x, x.T @ y, y @ y)

    if n <= CHUNK:
        return chunk_gram(x, y)

    def add(total, start):
        part = chunk_gram(
            jax.lax.dynamic_slice(x, (start, 0), (CHUNK, d)), jax.lax.dynamic_slice(y, (start,), (CHUNK,))
        )
        return total + part, None

    whole = n - n % CHUNK
    rest = chunk_gram(x[whole:], y[whole:])
    return jax.lax.scan(add, rest, jnp.arange(0, whole, CHUNK))[0]


def join_gram(xx: Float[Array, "d d"], xy: Float[Array, " d"], yy: Float[Array, ""]) -> Float[Array, "e e"]:
    """Put the blocks X^T X, X^T y and y^T y together to the Gram matrix of the tokens."""
    return jnp.block([[xx, xy[:, None]], [xy[None, :], yy[None, None]]])


class Prompt(eqx.Module):
    """A context of n labelled inputs and a query; `w`, `sigma` and `y_query` are hidden, known only when sampled.

    **Arguments:** `x` (n, d), `y` (n,), `x_query` (d,); `w` (d,). `y_query` is `<w, x_query>`, without label noise.
    `guess` is an initial guess of it, for models that take one from outside. A batch of prompts is one with a leading
    axis everywhere, made and read by `jax.vmap`.

    >>> from descant import estimators
    >>> prompt = Prompt(x=jnp.eye(2), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2))
    >>> prompt.n, prompt.d, round(float(estimators.OLS()(prompt)), 6)
    (2, 2, 3.0)
    """

    x: Float[Array, "n d"]
    y: Float[Array, " n"]
    x_query: Float[Array, " d"]
    w: Float[Array, " d"] | None = None
    sigma: Float[Array, ""] | None = None
    y_query: Float[Array, ""] | None = None
    guess: Float[Array, ""] | None = None

    def __check_init__(self):
        if self.x.ndim != 2:
            raise ValueError(f"x has shape {self.x.shape}; expected (n, d). Map over batches of prompts with jax.vmap.")
        n, d = self.x.shape
        _check.shape("y", self.y, (n,), f"x has n = {n} rows")
        _check.shape("x_query", self.x_query, (d,), f"x has d = {d} columns")
        for name in ("sigma", "y_query", "guess"):
            if getattr(self, name) is not None:
                _check.shape(name, getattr(self, name), (), "a prompt has one such number")
        if self.w is not None and self.w.ndim != 1:
            raise ValueError(f"w has shape {self.w.shape}; expected a vector.")

    @property
    def n(self) -> int:
        """Context length."""
        return self.x.shape[-2]

    @property
    def d(self) -> int:
        """Input dimension."""
        return self.x.shape[-1]

    def moments(self) -> Moments:
        """The Gram matrix of the context's tokens, summed up in chunks: no array of the context's size is made."""
        return Moments(token_gram(self.x, self.y), self.n, self.w, self.sigma)
