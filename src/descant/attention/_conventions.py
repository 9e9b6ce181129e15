"""The same layers in the coordinates and signs of other papers and public codes, to and from ours.

- `from_kqvp`, `to_kqvp`: factors of every head, as von Oswald et al. (2023) and their code write them:
  e <- e + P V (sum e e^T) K^T Q e, a plain sum, and the prediction is minus the last coordinate.
- `from_pq`, `to_pq`: merged matrices of size d with the last row and column fixed, as Ahn et al. (2023) and their code:
  Z <- Z + P Z M Z^T Q Z / n with P = diag(p, 1), Q = diag(q, 0), prediction minus the last coordinate.
- `from_vq`, `to_vq`: one layer, E + V E M E^T Q E / n, prediction the last coordinate, as Zhang, Frei, Bartlett (2023)
  and Zhang, Wu, Bartlett (2024).
- `with_normalization`: the sum over the context, divided by n or not.
- `lsa_as_transformer`, `transformer_as_lsa`: one layer, as `LSA` and as `Full`.

All are exact to rounding.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import _check
from ._full import Full
from ._guess import NoGuess
from ._lsa import LSA


def from_kqvp(
    key: Float[Array, "L K k e"],
    query: Float[Array, "L K k e"],
    value: Float[Array, "L K v e"],
    projection: Float[Array, "L K e v"],
) -> Full:
    """A stack from its key, query, value and projection factors: P_k = projection value, Q_k = key^T query.

    **Arguments:** `key` and `query` (L, K, k, d+1), `value` (L, K, v, d+1), `projection` (L, K, d+1, v), for L layers
    of K heads.
    """
    return Full(projection @ value, jnp.swapaxes(key, -1, -2) @ query)


def to_kqvp(
    model: Full,
) -> tuple[
    Float[Array, "L K e e"],
    Float[Array, "L K e e"],
    Float[Array, "L K e e"],
    Float[Array, "L K e e"],
]:
    """(key, query, value, projection) of full width: keys and values are the tokens themselves.

    **Returns:** four arrays (L, K, d+1, d+1).
    """
    p, q = model.parameters()
    eye = jnp.broadcast_to(jnp.eye(p.shape[-1], dtype=p.dtype), p.shape)
    return eye, q, eye, p


def from_pq(p: Float[Array, "L K d d"], q: Float[Array, "L K d d"], n: int) -> Full:
    """A stack from merged P and Q of size d, last rows and columns fixed: P = diag(p, 1) / n, Q = diag(q, 0).

    **Arguments:** `p` and `q` (L, K, d, d), for contexts of length `n`.

    >>> eye = jnp.eye(2)[None, None]
    >>> from_pq(0 * eye, -eye, n=8).layers
    1
    """
    _check.size("n", n)
    grow = ((0, 0), (0, 0), (0, 1), (0, 1))
    return Full(jnp.pad(p, grow).at[..., -1, -1].set(1) / n, jnp.pad(q, grow))


def to_pq(model: Full, n: int) -> tuple[Float[Array, "L K d d"], Float[Array, "L K d d"]]:
    """Merged P and Q of size d, for contexts of length `n`; a `ValueError` if the network is not of that form.

    P and Q are known up to a factor c P, Q / c: it is chosen so that P's last entry is 1.

    **Returns:** p and q (L, K, d, d).
    """
    _check.size("n", n)
    p, q = model.parameters()
    corner = p[..., -1, -1]
    if bool(jnp.any(corner == 0)):
        raise ValueError("some P has a zero in its last corner; the form diag(p, 1) / n can't express that.")
    for name, matrix in (("P", p), ("Q", q)):
        if bool(jnp.any(matrix[..., -1, :-1] != 0) | jnp.any(matrix[..., :-1, -1] != 0)):
            raise ValueError(
                f"some {name} mixes inputs and label; the form diag(p, 1) / n, diag(q, 0) can't express that."
            )
    if bool(jnp.any(q[..., -1, -1] != 0)):
        raise ValueError("some Q reads the label; the form diag(q, 0) can't express that.")
    factor = corner[..., None, None]
    return p[..., :-1, :-1] / factor, q[..., :-1, :-1] * factor * n


def from_vq(v: Float[Array, "e e"], q: Float[Array, "e e"]) -> LSA:
    """One layer from V = W_P^T W_V and Q = W_K^T W_Q, both (d+1, d+1): only V's last row reaches the prediction.

    >>> from_vq(jnp.eye(3), jnp.eye(3)).v
    Array([[0., 0., 1.]], dtype=float64)
    """
    return LSA(v[None, -1], q[None])


def to_vq(model: LSA, n: int) -> tuple[Float[Array, "e e"], Float[Array, "e e"]]:
    """(V, Q) of a single masked head without a guess, for contexts of length n; V is zero but for its last row.

    **Returns:** two matrices (d+1, d+1); a `ValueError` for a layer with more heads, a guess or an attending query.
    """
    _plain(model)
    if model.heads != 1:
        raise ValueError(f"the layer has {model.heads} heads; one pair (V, Q) is one head.")
    model = with_normalization(model, n, True)
    return jnp.zeros_like(model.u[0]).at[-1].set(model.v[0]), model.u[0]


def with_normalization(model: LSA, n: int, normalized: bool) -> LSA:
    """The same function of contexts of length n, written with or without the division by n.

    >>> import jax
    >>> plain = with_normalization(LSA.random(2, key=jax.random.key(0)), n=8, normalized=False)
    >>> plain.normalized
    False
    """
    _check.size("n", n)
    if model.normalized == normalized:
        return model
    v = model.v / n if model.normalized else model.v * n
    return eqx.tree_at(lambda lsa: lsa.v, _replace_normalized(model, normalized), v)


def lsa_as_transformer(model: LSA, n: int) -> Full:
    """One masked layer without a guess as a linear transformer, for contexts of length `n`.

    P_k is zero but for its last row, minus v_k; a `ValueError` for a layer with a guess or an attending query.
    """
    _plain(model)
    model = with_normalization(model, n, False)
    p = jnp.zeros_like(model.u).at[:, -1].set(-model.v)
    return Full(p[None], model.u[None])


def transformer_as_lsa(model: Full, n: int) -> LSA:
    """A linear transformer of one layer as LSA, for contexts of length `n`; a `ValueError` if it has more.

    The update of the context's tokens is dropped: nobody reads it.
    """
    if model.layers != 1:
        raise ValueError(f"the transformer has {model.layers} layers; LSA is one layer.")
    p, q = model.parameters()
    return with_normalization(LSA(-p[0, :, -1], q[0], normalized=False), n, True)


def _replace_normalized(model: LSA, normalized: bool) -> LSA:
    return LSA(model.v, model.u, model.guess, model.query_masked, normalized, model.residual)


def _plain(model: LSA) -> None:
    """These forms have no guess, and mask their query."""
    if not isinstance(model.guess, NoGuess) or not model.query_masked:
        raise ValueError("the layer has a guess or an attending query; this form has neither.")
