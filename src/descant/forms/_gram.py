"""The exact risk of every one-layer linear attention, as a quadratic form in its merged weights.

Given w, a token (x, y) is Gaussian with covariance Sigma_w = [[I, w], [w^T, |w|^2 + sigma^2]] (whitened inputs), and
G is a Wishart matrix: E `<T, G/n>`^2 = `<T, Sigma_w>`^2 + (2/n) tr(T Sigma_w T Sigma_w) for symmetric T. Averaging
over w ~ N(0, Psi) takes Gaussian moments up to the fourth, and gives the operator `second_moment` below. A prior mean
is removed first, by writing labels as y - `<mu, x>` (the shift lemma). Derivation: docs/theory/gram.md.
"""

from jaxtyping import Float

from .._arrays import Arrays, Number, Scalar, namespace
from ._problem import AbstractProblem


def fourth_moment(cov: Float[Arrays, "k k"], noise2: Scalar, noise4: Scalar) -> Scalar:
    """E (|u|^2 + sigma^2)^2 for u ~ N(0, cov)."""
    trace = cov.trace()
    return trace**2 + 2 * (cov * cov).sum() + 2 * trace * noise2 + noise4


def second_moment(
    t: Float[Arrays, "p s s"], cov: Float[Arrays, "k k"], n: int, noise2: Scalar, noise4: Scalar
) -> Float[Arrays, "p s s"]:
    """E[ G/n `<T, G/n>` ] for a batch of symmetric matrices T, whitened inputs and zero prior mean.

    For T = [[B, v], [v^T, q]] with kappa = tr Psi + sigma^2 and F = E (|u|^2 + sigma^2)^2 it is

        xx: (tr B + q kappa) I + (2/n)(B + q Psi)
        xy: 2 Psi v + (2/n)(kappa v + Psi v)
        yy: kappa tr B + q F + (2/n)(<B, Psi> + q F).

    Written with operators that NumPy and JAX arrays share: minimisers run it in NumPy, risks are differentiated in JAX.
    """
    xp = t.__array_namespace__()
    b, v, q = t[:, :-1, :-1], t[:, :-1, -1], t[:, -1, -1]
    kappa = cov.trace() + noise2
    fourth = fourth_moment(cov, noise2, noise4)
    trace = xp.trace(b, axis1=1, axis2=2)
    identity = xp.eye(cov.shape[0])[None]
    xx = (trace + q * kappa)[:, None, None] * identity + 2 / n * (b + q[:, None, None] * cov[None])
    xy = 2 * v @ cov + 2 / n * (kappa * v + v @ cov)
    yy = kappa * trace + q * fourth + 2 / n * ((b * cov[None]).sum((1, 2)) + q * fourth)
    top = xp.concatenate([xx, xy[:, :, None]], axis=2)
    bottom = xp.concatenate([xy, yy[:, None]], axis=1)[:, None, :]
    return xp.concatenate([top, bottom], axis=1)


def first_moment(cov: Float[Arrays, "k k"], noise2: Scalar) -> Float[Arrays, "s s"]:
    """E G/n for whitened inputs and zero prior mean: diag(I, kappa)."""
    xp = cov.__array_namespace__()
    ones = xp.ones(cov.shape[0])
    return xp.diag(xp.concatenate([ones, (cov.trace() + noise2).reshape(1)]))


def task_moment(cov: Float[Arrays, "k k"]) -> Float[Arrays, "k s s"]:
    """E [u_l G/n] for every l, zero prior mean: Psi's row l in the off-diagonal block."""
    xp = cov.__array_namespace__()
    k = cov.shape[0]
    top = xp.concatenate([xp.zeros((k, k, k)), cov[:, :, None]], axis=2)
    bottom = xp.concatenate([cov, xp.zeros((k, 1))], axis=1)[:, None, :]
    return xp.concatenate([top, bottom], axis=1)


def symmetrise(t: Float[Arrays, "*batch s s"]) -> Float[Arrays, "*batch s s"]:
    """The symmetric part of each matrix of a batch: all that counts against a symmetric G."""
    return (t + t.swapaxes(-1, -2)) / 2


def symmetrise_cubic(k: Float[Arrays, "k k k"]) -> Float[Arrays, "k k k"]:
    """The fully symmetric part of a tensor: all that counts in a cubic form."""
    xp = k.__array_namespace__()
    orders = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))
    return xp.stack([xp.transpose(k, order) for order in orders]).mean(0)


def to_whitened_tokens(problem: AbstractProblem) -> Float[Arrays, "e e"]:
    """The matrix with (x, y) = it times (z, y - `<mu, x>`), z the whitened inputs."""
    root, d, xp = problem.root, problem.d, namespace(problem.inputs)
    sides = xp.concatenate([root, (root @ problem.mean)[None]])
    return xp.concatenate([sides, xp.eye(d + 1)[:, d:]], axis=1)


def _centred(
    problem: AbstractProblem, offset: Float[Arrays, " d"], tensor: Float[Arrays, "d e e"]
) -> tuple[Float[Arrays, " d"], Float[Arrays, "d e e"], Float[Arrays, " d"], Float[Arrays, "d d"]]:
    """Offset, tensor, prior mean and covariance in whitened coordinates, with labels y - `<mu, x>`."""
    root, xp = problem.root, namespace(problem.inputs, offset, tensor)
    to_tokens = to_whitened_tokens(problem)
    white = xp.einsum("lm,mij->lij", root, symmetrise(tensor))
    return root @ offset, to_tokens.T @ white @ to_tokens, root @ problem.mean, root @ problem.cov @ root


def gram_risk(problem: AbstractProblem, offset: Float[Arrays, " d"], tensor: Float[Arrays, "d e e"]) -> Number:
    """Exact risk of the predictor with weights offset_l + `<tensor_l, G/n>`, its query masked.

    Every one-layer linear attention is of this form (`estimators.GramAffine`), with any number of heads and any guess.

    **Arguments:** `offset` (d,) and `tensor` (d, d+1, d+1); what `predictor.gram_affine(d, n)` gives.

    **Returns:** a scalar that JAX can differentiate in both.

    >>> from descant.estimators import GDBeta
    >>> import jax.numpy as jnp
    >>> from descant.theory import Problem
    >>> problem = Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5)
    >>> merged = GDBeta(problem.mean, 0.5 * jnp.eye(2)).gram_affine(2, 8)
    >>> round(float(gram_risk(problem, merged.offset, merged.tensor)), 4)
    0.7031
    """
    offset, t, mean, cov = _centred(problem, offset, tensor)
    missing = mean - offset
    moment = second_moment(t, cov, problem.n, problem.noise2, problem.noise4)
    target = missing[:, None, None] * first_moment(cov, problem.noise2)[None] + task_moment(cov)
    return (t * moment).sum() - 2 * (t * target).sum() + cov.trace() + missing @ missing


def attending_risk(problem: AbstractProblem, offset: Float[Arrays, " d"], tensor: Float[Arrays, "d e e"]) -> Number:
    """Exact risk of the same layer when the query token (x_query, 0) is among the keys and values.

    The query then adds a cubic form K(x, x, x) in itself, K the symmetric part of tensor_xx / n. With k_l = sum_i K_iil
    and h the mean error of the weights, the risk grows by 6 `<h, k>` + 6 |K|^2 + 9 |k|^2 (Wick's formula).

    **Arguments:** as for `gram_risk`.
    """
    masked = gram_risk(problem, offset, tensor)
    offset, t, mean, cov = _centred(problem, offset, tensor)
    bias = offset - mean + (t * first_moment(cov, problem.noise2)[None]).sum((1, 2))
    cubic = query_cubic(t, mean, problem.n)
    traces = cubic.trace()
    return masked + 6 * bias @ traces + 6 * (cubic**2).sum() + 9 * traces @ traces


def query_cubic(t: Float[Arrays, "k s s"], mean: Float[Arrays, " k"], n: int) -> Float[Arrays, "k k k"]:
    """The symmetric tensor K of the query's own contribution; its token has the label 0 - `<mu, x_query>` here."""
    xp = t.__array_namespace__()
    token = xp.concatenate([xp.eye(mean.shape[0]), -mean[None, :]])
    return symmetrise_cubic(token.T @ t @ token) / n
