"""Linear self-attention, one layer, any number of heads, with or without an initial guess."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor, Merged
from .._unknown import Unknown
from ..tasks import AbstractTask, Moments, Prompt
from ._guess import GUESSES, AbstractGuess, LinearGuess, NoGuess
from ._kind import Kind
from ._starts import fresh_labels


class LSA(AbstractPredictor):
    """y_hat = y_q + sum_h v_h^T G U_h e_query, the last entry of a layer of linear self-attention.

    e_query = (x_query, y_q) in R^{d+1} is the query token, y_q its label slot (`guess`), G = sum_i e_i e_i^T the Gram
    matrix of the tokens. v_h is the last row of head h's projection-times-value, U_h its key^T-times-query; the other
    rows of projection-times-value don't reach the prediction.

    | field | on | off |
    |---|---|---|
    | `query_masked` | the query is no key and no value | G also holds e_query e_query^T |
    | `normalized` | G is divided by n | plain sum |
    | `residual` | y_q is added to the attention's output | it is not |

    y_q-LSA is this layer with a `LinearGuess`. Which paper uses which switches is in the documentation, "Conventions".

    **Arguments:** `v` (H, d+1), `u` (H, d+1, d+1); `guess` is a rule for y_q, 0 if left out.

    >>> from descant import Prompt
    >>> layer = LSA(v=jnp.eye(3)[-1:], u=jnp.diag(jnp.array([1.0, 1.0, 0.0]))[None])
    >>> float(layer(Prompt(x=jnp.eye(2), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2))))
    1.5
    """

    v: Float[Array, "H e"]
    u: Float[Array, "H e e"]
    guess: AbstractGuess = NoGuess()
    query_masked: bool = eqx.field(static=True, default=True)
    normalized: bool = eqx.field(static=True, default=True)
    residual: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        if self.v.ndim != 2 or 0 in self.v.shape:
            raise ValueError(f"v has shape {self.v.shape}; expected (heads, d + 1), one vector per head.")
        heads, size = self.v.shape
        _check.shape("u", self.u, (heads, size, size), f"v has {heads} heads of size d + 1 = {size}")
        if not isinstance(self.guess, AbstractGuess):
            raise ValueError(f"guess is a {type(self.guess).__name__}; expected a guess, such as NoGuess().")
        if isinstance(self.guess, LinearGuess):
            _check.shape("guess.g", self.guess.g, (size - 1,), f"v has size d + 1 = {size}")

    @classmethod
    def random(
        cls,
        d: int,
        heads: int = 1,
        *,
        key: PRNGKeyArray,
        guess: AbstractGuess | None = None,
        query_masked: bool = True,
        scale: float = 0.3,
        dtype=float,
    ) -> "LSA":
        """Normal weights of the given scale, divided by sqrt(d + 1)."""
        _check.size("d", d)
        _check.size("heads", heads)
        normal = scale / (d + 1) ** 0.5 * jax.random.normal(key, (heads, d + 2, d + 1), dtype)
        return cls(normal[:, 0], normal[:, 1:], NoGuess() if guess is None else guess, query_masked)

    @property
    def d(self) -> int:
        """Input dimension."""
        return self.v.shape[-1] - 1

    @property
    def heads(self) -> int:
        """Number of heads."""
        return self.v.shape[-2]

    @property
    def linear(self) -> bool:
        """Whether the prediction is linear in the query, so that `weights` exists."""
        return self.query_masked and self.guess.slope(self.d, self.v.dtype) is not None

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Predict; the context is read once, into its Gram matrix."""
        _check.inputs(self.d, prompt.d)
        y_q = self.guess(prompt)
        query = jnp.append(prompt.x_query, y_q)
        gram = prompt.moments().gram
        if not self.query_masked:
            gram = gram + jnp.outer(query, query)
        attention = jnp.sum((self.v @ gram) * (self.u @ query))
        if self.normalized:
            attention = attention / prompt.n
        return attention + y_q if self.residual else attention

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The weight vector, for a masked query and a guess that is linear in it."""
        _check.inputs(self.d, moments.d)
        slope = self._slope()
        values = self.v @ moments.gram
        if self.normalized:
            values = values / moments.n
        weights = jnp.einsum("hj,hjl->l", values, self._query_side(slope))
        return weights + slope if self.residual else weights

    def scaled(self, factor: float) -> "LSA":
        """The same layer with larger values; nothing to do where G is divided by n already."""
        return self if self.normalized else eqx.tree_at(lambda layer: layer.v, self, factor * self.v)

    def gram_affine(self, d: int, n: int) -> Merged:
        """The same function of contexts of length n in merged form, where it has one: what exact risks are made of."""
        del d
        slope = self._slope(attending_too=True)
        scale = 1 if self.normalized else n
        tensor = scale * jnp.einsum("hi,hjl->lij", self.v, self._query_side(slope))
        return Merged(slope if self.residual else jnp.zeros_like(slope), tensor, self.query_masked)

    def _query_side(self, slope: Float[Array, " d"]) -> Float[Array, "H e d"]:
        """U_h as it acts on x_query: e_query = (x_query, `<slope, x_query>`)."""
        return self.u[:, :, :-1] + self.u[:, :, -1:] * slope[None, None, :]

    def _slope(self, attending_too: bool = False) -> Float[Array, " d"]:
        slope = self.guess.slope(self.d, self.v.dtype)
        if slope is None:
            raise Unknown(f"an LSA with {type(self.guess).__name__} is not linear in the query")
        if not self.query_masked and not (attending_too and isinstance(self.guess, NoGuess)):
            raise Unknown("an LSA whose query attends is not linear in the query")
        return slope


def lsa_torch(model: LSA, d: int | None) -> Any:
    """Its PyTorch module."""
    del d
    from ._torch import _modules  # noqa: PLC0415

    switches = {"query_masked": model.query_masked, "normalized": model.normalized, "residual": model.residual}
    return _modules.LSA(model.v, model.u, _modules.Guess.of(model.guess), **switches)


def _make(task: AbstractTask, *, heads: int = 1, query_masked: bool = True, key: PRNGKeyArray) -> LSA:
    return LSA.random(task.d, heads, key=key, query_masked=query_masked)


def _optimum(heads: int, query_masked: bool) -> dict[str, Any]:
    if heads == 1:
        return {"name": "lsa", "query_masked": query_masked}
    return {"name": "multi-head-lsa", "heads": heads, "query_masked": query_masked}


KIND = Kind(
    name="lsa",
    sentence="linear self-attention, one layer (LSA)",
    model=LSA,
    parts=GUESSES,
    make=_make,
    restart=fresh_labels,
    torch=lsa_torch,
    optimum=_optimum,
)
