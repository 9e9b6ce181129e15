"""Exact risks of the papers' one-layer attentions, in the weights they are written in."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..forms import attending_risk, gram_risk
from ._problem import Problem


def merge_heads(v: Float[Array, "H e"], u: Float[Array, "H e d"]) -> Float[Array, "d e e"]:
    """Merged weights of heads v_h^T (G/n) U_h x_query: tensor_l = sum_h v_h (column l of U_h)^T.

    **Arguments:** `v` (H, d+1) and `u` (H, d+1, d): a value vector and a query map per head.

    **Returns:** the tensor (d, d+1, d+1) that `gram_risk` and `GramAffine` take.
    """
    return jnp.einsum("hi,hjl->lij", v, u)


def multi_head_lsa_risk(
    problem: Problem, v: Float[Array, "H e"], u: Float[Array, "H e d"], *, query_masked: bool = True
) -> Float[Array, ""]:
    """Risk of y_hat = sum_h v_h^T (G/n) U_h x_query, the label slot of the query being 0.

    **Arguments:** `v` (H, d+1): v_h is the last row of head h's projection-times-value; `u` (H, d+1, d): U_h is its
    key-times-query without the column that meets the empty label slot. `query_masked=False` puts the query token
    (x_query, 0) among the keys and values.

    **Returns:** the exact risk, a scalar that JAX can differentiate in `v` and `u`.

    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> v, u = jnp.eye(3)[-1:], jnp.pad(jnp.eye(2), ((0, 1), (0, 0)))[None]
    >>> round(float(multi_head_lsa_risk(problem, v, u)), 4)
    1.5625
    """
    risk = gram_risk if query_masked else attending_risk
    return risk(problem, jnp.zeros(problem.d), merge_heads(v, u))


def lsa_risk(
    problem: Problem, v: Float[Array, " e"], u: Float[Array, "e d"], *, query_masked: bool = True
) -> Float[Array, ""]:
    """Risk of single-head LSA: a polynomial of degree four in (v, U), quadratic in each.

    **Arguments:** `v` (d+1,) and `u` (d+1, d): `multi_head_lsa_risk` with one head.

    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> round(float(lsa_risk(problem, jnp.eye(3)[-1], jnp.pad(jnp.eye(2), ((0, 1), (0, 0))))), 4)
    1.5625
    """
    return multi_head_lsa_risk(problem, v[None], u[None], query_masked=query_masked)


def ltb_risk(
    problem: Problem,
    v: Float[Array, " e"],
    u: Float[Array, "e d"],
    skip: Float[Array, " d"],
    *,
    query_masked: bool = True,
) -> Float[Array, ""]:
    """Risk of the linear transformer block in reduced form: y_hat = `<skip, x_query>` + v^T (G/n) U x_query.

    **Arguments:** `v` (d+1,) and `u` (d+1, d) as in `lsa_risk`; `skip` (d,) is what the MLP makes of the residual
    (gamma in the notes; last row of W_2^T W_1). `query_masked=False` puts the query token (x_query, 0) among the keys
    and values.

    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> round(float(ltb_risk(problem, jnp.zeros(3), jnp.zeros((3, 2)), skip=problem.mean)), 4)
    2.0
    """
    risk = gram_risk if query_masked else attending_risk
    return risk(problem, skip, merge_heads(v[None], u[None]))


def yq_lsa_risk(
    problem: Problem, v: Float[Array, " e"], u: Float[Array, "e e"], guess: Float[Array, " d"]
) -> Float[Array, ""]:
    """Risk of y_q-LSA: y_q + v^T (G/n) U (x_query, y_q) with the guess y_q = `<guess, x_query>`, query masked.

    **Arguments:** `v` (d+1,), `u` (d+1, d+1) with the column that meets the guess, and `guess` (d,).

    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> round(float(yq_lsa_risk(problem, jnp.zeros(3), jnp.zeros((3, 3)), guess=problem.mean)), 4)
    2.0
    """
    return ltb_risk(problem, v, u[:, :-1] + jnp.outer(u[:, -1], guess), guess)
