"""Attention layers that are known estimators, by explicit weights."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import _check
from ..estimators import GD, GDBeta, GDPlusPlus, GramAffine, PreconditionedGD
from ._elsa import ELSA, ELSABlock, ELSAPredictor
from ._free_diag import FreeDiag
from ._gd_plus_plus import GDPlusPlusTransformer
from ._guess import LinearGuess, NoGuess
from ._lsa import LSA
from ._ltb import LTB


def gd_as_lsa(gd: GD | PreconditionedGD) -> LSA:
    """One step of gradient descent from zero: one head with v = e_{d+1}, U = [Gamma^T 0; 0 0].

    A `ValueError` if `gd` takes more steps, or starts elsewhere.

    >>> gd_as_lsa(GD(jnp.zeros(2), [0.5])).u[0]
    Array([[0.5, 0. , 0. ],
           [0. , 0.5, 0. ],
           [0. , 0. , 0. ]], dtype=float64)
    """
    if isinstance(gd, GD):
        if np.any(np.asarray(gd.start)):
            raise ValueError("gd starts from a non-zero w0; LSA without a guess starts from zero: use gd_as_yq_lsa.")
        gamma = _single_step(gd) * jnp.eye(gd.start.shape[0])
    else:
        gamma = gd.gamma
    return LSA(*_one_head(jnp.zeros(gamma.shape[0]), gamma))


def gd_as_yq_lsa(gd: GD) -> LSA:
    """One step of gradient descent from w0: one head with the guess `<w0, x_query>`; a `ValueError` for more steps.

    >>> gd_as_yq_lsa(GD(jnp.ones(2), [0.5])).guess.g
    Array([1., 1.], dtype=float64)
    """
    return gd_beta_as_yq_lsa(GDBeta(gd.start, _single_step(gd) * jnp.eye(gd.start.shape[0])))


def gd_beta_as_yq_lsa(gd_beta: GDBeta) -> LSA:
    """GD-beta: the guess `<beta, x_query>`, and one head with v = (-beta, 1), U = [Gamma^T 0; 0 0].

    Exact for a masked and for an attending query: the query's own residual is zero.

    >>> from descant import Prompt
    >>> gd = GDBeta(jnp.ones(2), 0.5 * jnp.eye(2))
    >>> prompt = Prompt(x=jnp.eye(2), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2))
    >>> float(gd_beta_as_yq_lsa(gd)(prompt)) == float(gd(prompt))
    True
    """
    return LSA(*_one_head(gd_beta.beta, gd_beta.gamma), LinearGuess(gd_beta.beta))


def gd_beta_as_ltb(gd_beta: GDBeta) -> LTB:
    """GD-beta in the LTB paper's factors: W_P^T W_V = diag(-I, 1), W_K^T W_Q = [Gamma^T 0; 0 0], MLP row (beta, 1)."""
    d = gd_beta.beta.shape[0]
    reads_inputs = jnp.eye(d, d + 1)
    sign = jnp.diag(jnp.append(-jnp.ones(d), 1.0))
    return LTB(
        w_k=reads_inputs,
        w_q=gd_beta.gamma.T @ reads_inputs,
        w_v=sign,
        w_p=jnp.eye(d + 1),
        w_1=jnp.append(gd_beta.beta, 1.0)[None, :],
        w_2=jnp.eye(d + 1)[-1:],
    )


def gd_beta_as_elsa(gd_beta: GDBeta, n: int) -> ELSAPredictor:
    """GD-beta as two blocks of ELSA on the natural input [X y 0; x_query^T 0 0], for contexts of length n.

    Block 1 subtracts the start: [X, y - X beta, 0; x_query^T, 0, `<beta, x_query>`]. Block 2 adds the preconditioned
    step to the answer. The biases do what LTB needs an MLP, a skip and a mask for.
    """
    _check.size("n", n)
    d = gd_beta.beta.shape[0]
    rows, columns, label, answer = n + 1, d + 2, d, d + 1
    beta = jnp.append(gd_beta.beta, jnp.zeros(2))
    unit = jnp.eye(columns)
    subtract = unit - jnp.outer(beta, unit[label])
    restore = jnp.outer(beta, unit[label] + unit[answer])
    query_row = jnp.zeros((rows, columns)).at[-1, 0].set(1.0)
    first = [_times(subtract, rows), {"b3": query_row, "b1": query_row, "w2": restore}]
    step = jnp.zeros((columns, columns)).at[:d, :d].set(gd_beta.gamma / n)
    move = jnp.outer(unit[label], unit[answer])
    second = [_times(unit, rows), {"w3": step, "w1": unit, "w2": move}]
    return ELSAPredictor(ELSA([_block(heads, rows, columns) for heads in (first, second)]))


def gd_as_transformer(gd: GD, n: int) -> GDPlusPlusTransformer:
    """k steps of gradient descent from zero as k layers without preconditioning, for contexts of length n.

    A `ValueError` if `gd` starts elsewhere than in zero.

    >>> gd_as_transformer(GD(jnp.zeros(2), [0.5, 0.5]), n=8).layers
    2
    """
    if np.any(np.asarray(gd.start)):
        raise ValueError("gd starts from a non-zero w0; a linear transformer's query starts with the label 0.")
    return GDPlusPlusTransformer(jnp.zeros_like(gd.steps), -gd.steps / n)


def gd_plus_plus_as_transformer(gd: GDPlusPlus) -> GDPlusPlusTransformer:
    """GD++: w_xx = -contraction, w_yx = -step, layer by layer.

    >>> gd_plus_plus_as_transformer(GDPlusPlus([0.0, 0.5], [0.1, 0.0])).w_yx
    Array([-0. , -0.5], dtype=float64)
    """
    return GDPlusPlusTransformer(-gd.contractions, -gd.steps)


def gram_affine_as_lsa(predictor: GramAffine) -> LSA:
    """Anything affine in the Gram matrix as d + 1 heads: v_h = e_h, U_h the h-th slices of the tensor.

    This is the head bound of Xie et al. (2025), made explicit: with `best("multi-head-lsa", task)` it gives the optimal
    multi-head LSA. An offset becomes a linear guess.

    >>> merged = GDBeta(jnp.ones(2), 0.5 * jnp.eye(2)).gram_affine(2, 8)
    >>> gram_affine_as_lsa(GramAffine(merged.offset, merged.tensor)).heads
    3
    """
    d = predictor.offset.shape[0]
    u = jnp.pad(jnp.transpose(predictor.tensor, (1, 2, 0)), ((0, 0), (0, 0), (0, 1)))
    guess = LinearGuess(predictor.offset) if np.any(np.asarray(predictor.offset)) else NoGuess()
    return LSA(jnp.eye(d + 1), u, guess)


def two_noise_network(n: int, sigmas: tuple[float, float]) -> FreeDiag:
    """Theorem 5.2 of Vladymyrov et al.: two layers that are ridge regression at two noise levels, as n grows.

    For inputs x ~ N(0, I / n) and tasks w ~ N(0, I), where X^T X is nearly I and y^T y nearly n sigma^2. Layer 1 takes
    a gradient step, w_yx = -c; layer 2 shrinks by the labels' size: c (1 + n sigma^2 w_yy) = 1 / (1 + sigma^2) at both
    levels, two linear equations for c and c w_yy. At other levels it is not ridge regression.

    **Arguments:** `sigmas` are two different noise levels, none negative.

    >>> two_noise_network(100, (0.0, 1.0)).w_yx
    Array([-1.,  0.], dtype=float64)
    """
    _check.size("n", n)
    first, second = (float(sigma) for sigma in sigmas)
    if first < 0 or second < 0 or first == second:
        raise ValueError(f"sigmas is {sigmas}; expected two different noise levels, none negative.")
    system = np.array([[1.0, n * first**2], [1.0, n * second**2]])
    step, product = np.linalg.solve(system, [1 / (1 + first**2), 1 / (1 + second**2)])
    zero = jnp.zeros(2)
    return FreeDiag(w_xx=zero, w_xy=zero, w_yx=jnp.array([-step, 0.0]), w_yy=jnp.array([0.0, product / step]))


def _single_step(gd: GD) -> Float[Array, ""]:
    if gd.steps.shape != (1,):
        raise ValueError(
            f"gd takes {gd.steps.shape[0]} steps; one layer of attention takes one: use gd_as_transformer."
        )
    return gd.steps[0]


def _one_head(
    start: Float[Array, " d"], gamma: Float[Array, "d d"]
) -> tuple[Float[Array, "1 e"], Float[Array, "1 e e"]]:
    """v = (-start, 1) and U = [Gamma^T 0; 0 0], as one head."""
    return jnp.append(-start, 1.0)[None, :], jnp.pad(gamma.T, ((0, 1), (0, 1)))[None]


def _times(right: Float[Array, "c c"], rows: int) -> dict[str, Float[Array, "_ c"]]:
    """H -> H right, as a head without its own input to attend to; needs the smaller identity of the two sizes."""
    columns = right.shape[0]
    eye = jnp.eye(rows, columns)
    return {"w3": right, "b1": eye, "b2": eye} if rows >= columns else {"b3": eye, "b1": eye, "w2": right}


def _block(heads: list[dict[str, Float[Array, "_ c"]]], rows: int, columns: int) -> ELSABlock:
    """Heads given by their non-zero matrices."""
    shapes = {"w": (columns, columns), "b": (rows, columns)}
    names = ("w1", "w2", "w3", "b1", "b2", "b3")
    parts = ([head.get(name, jnp.zeros(shapes[name[0]])) for head in heads] for name in names)
    return ELSABlock(*map(jnp.stack, parts), residual=False)
