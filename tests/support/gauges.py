"""Weights that are other weights of the same function: what a read-out must not see."""

import jax.numpy as jnp
import numpy as np

from descant.attention import LSA, LTB, AbstractLinearTransformer, Full


def regauged_stack(model: AbstractLinearTransformer, d: int, seed: int) -> Full:
    """The same stack with heads mixed by random matrices, useless heads, and writes and reads that nobody uses."""
    random = np.random.default_rng(seed)
    p, q = (np.asarray(each) for each in model.dense(d))
    layers, heads, size = p.shape[:3]
    new_p, new_q = [], []
    for layer in range(layers):
        mixed = random.standard_normal((heads, heads)) + 3 * np.eye(heads)
        ps, qs = np.einsum("hk,kij->hij", mixed, p[layer]), np.einsum("kh,kij->hij", np.linalg.inv(mixed), q[layer])
        scale = np.exp(random.standard_normal(heads))[:, None, None]
        ps, qs = ps * scale, qs / scale
        # Two heads that cancel each other, one that is nothing, and one that reads G where it is symmetric.
        twin = random.standard_normal((2, size, size))
        nothing = random.standard_normal((size, size))
        a, b, c, e = random.standard_normal((4, size))
        ps = np.concatenate([ps, twin[:1], twin[:1], np.zeros((1, size, size)), [np.outer(c, a)], [np.outer(c, b)]])
        qs = np.concatenate([qs, twin[1:], -twin[1:], [nothing], [np.outer(b, e)], [-np.outer(a, e)]])
        if layer == layers - 1:
            ps[:, :-1] = random.standard_normal(ps[:, :-1].shape)
        if layers == 1:
            qs[:, :, -1] = random.standard_normal(qs[:, :, -1].shape)
        order = random.permutation(len(ps))
        new_p.append(ps[order])
        new_q.append(qs[order])
    return Full(jnp.asarray(np.stack(new_p)), jnp.asarray(np.stack(new_q)))


def regauged_lsa(model: LSA, seed: int) -> LSA:
    """The same layer with scaled heads, one more pair that cancels, and one that reads G where it is symmetric."""
    random = np.random.default_rng(seed)
    v, u = np.asarray(model.v), np.asarray(model.u)
    size = v.shape[1]
    scale = np.exp(random.standard_normal(len(v)))
    a, b, other = random.standard_normal((3, size))
    w = random.standard_normal((size, size))
    v = np.concatenate([v * scale[:, None], [other], [-other], [a], [b]])
    row = random.standard_normal(size)
    u = np.concatenate([u / scale[:, None, None], [w], [w], [np.outer(b, row)], [-np.outer(a, row)]])
    return LSA(jnp.asarray(v), jnp.asarray(u), model.guess, model.query_masked, model.normalized, model.residual)


def regauged_ltb(model: LTB, seed: int) -> LTB:
    """The same block with other factors of the same products, in larger widths."""
    random = np.random.default_rng(seed)

    def pair(left, right):
        left, right = np.asarray(left), np.asarray(right)
        width = len(left)
        turn = random.standard_normal((width + 2, width))
        return jnp.asarray(turn @ left), jnp.asarray(np.linalg.pinv(turn).T @ right)

    w_k, w_q = pair(model.w_k, model.w_q)
    w_v, w_p = pair(model.w_v, model.w_p)
    w_1, w_2 = pair(model.w_1, model.w_2)
    return LTB(w_k, w_q, w_v, w_p, w_1, w_2)
