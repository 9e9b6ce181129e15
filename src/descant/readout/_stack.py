"""A stack of linear attention without its gauge freedom, and what each of its layers does to contexts.

A layer is e <- e + sum_k P_k G Q_k e: as a function of contexts it is the tensor T[i, j, a, b] = sum_k P_k[i, a]
Q_k[b, j], symmetric in (a, b) because G is. Scales between P and Q, the number of heads, mixtures of heads, heads that
cancel each other are gone in it. What no later layer reads is gone, too: a layer writes into the subspace that the rest
of the stack reads, and the last one into the label of the query alone.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..attention import AbstractLinearTransformer
from ._contexts import Contexts

# Tensors of (d + 1)^4 numbers are made up to this d; larger networks are read by what they do.
MOST_DIMENSIONS = 40
# Directions below this share of the largest are rounding.
ROUNDING = 1e-12


class States(NamedTuple):
    """Theorem 4.1 on B contexts, before the first and after each of L layers, and what each layer adds.

    x_i = M x_i + y_i u, y_i = a y_i - <w, x_i>; the query's label is -<w, x>. Layer l takes w to w + s w + step, with
    the number s and the vector `step` = -M^T c of Lemma 4.3.
    """

    m: Float[np.ndarray, "S B d d"]
    u: Float[np.ndarray, "S B d"]
    a: Float[np.ndarray, "S B"]
    w: Float[np.ndarray, "S B d"]
    s: Float[np.ndarray, "L B"]
    step: Float[np.ndarray, "L B d"]


class Stack(NamedTuple):
    """The layers of a network without gauge freedom: `tensors` (L, e, e, e, e), T[l, i, j, a, b]."""

    tensors: Float[np.ndarray, "L e e e e"]

    @classmethod
    def of(cls, model: AbstractLinearTransformer, d: int, *, projected: bool = True) -> "Stack":
        """Gauge-fixed layers of any linear transformer, for inputs in R^d; `projected` leaves out what nobody reads."""
        p, q = (np.asarray(each, float) for each in model.dense(d))
        tensors = np.einsum("lkia,lkbj->lijab", p, q)
        tensors = (tensors + tensors.swapaxes(-1, -2)) / 2
        return cls(_live(tensors) if projected and np.isfinite(tensors).all() else tensors)

    @property
    def layers(self) -> int:
        """L."""
        return len(self.tensors)

    def omegas(self) -> Float[np.ndarray, "L 2 2"]:
        """[[w_xx, w_xy], [w_yx, w_yy]] of the diagonal network that is nearest, layer by layer."""
        t, d = self.tensors, self.tensors.shape[1] - 1
        x = t[:, :d, :d, :d, :d]
        w_xx = 2 / (d * d + d) * np.einsum("lijij->l", x)
        w_xy = 2 / d * np.einsum("liyiy->l", t[:, :d, d:, :d, d:])
        w_yx = 2 / d * np.einsum("lyjjy->l", t[:, d:, :d, :d, d:])
        return np.stack([np.stack([w_xx, w_xy], -1), np.stack([w_yx, t[:, d, d, d, d]], -1)], -2)

    def rest(self) -> Float[np.ndarray, "L e e e e"]:
        """What is left of the tensors beside that diagonal network."""
        return self.tensors - diagonal_tensors(self.omegas(), self.tensors.shape[1] - 1)

    def states(self, contexts: Contexts) -> States:
        """Run the network on contexts; deep ones may overflow."""
        size, count = contexts.gram.shape[-1], contexts.count
        gram, now = contexts.gram, np.broadcast_to(np.eye(size), (count, size, size))
        maps, s, steps = [now], [], []
        with np.errstate(all="ignore"):
            for tensor in self.tensors:
                update = (gram.reshape(count, -1) @ tensor.reshape(size * size, -1).T).reshape(count, size, size)
                s.append(update[:, -1, -1])
                steps.append(-np.einsum("bij,bi->bj", now[:, :-1, :-1], update[:, -1, :-1]))
                now = now + update @ now
                change = update @ gram
                gram = gram + change + change.swapaxes(1, 2) + change @ update.swapaxes(1, 2)
                maps.append(now)
        every = np.stack(maps)
        return States(
            every[..., :-1, :-1], every[..., :-1, -1], every[..., -1, -1], -every[..., -1, :-1],
            np.stack(s), np.stack(steps),
        )  # fmt: skip


def diagonal_tensors(omegas: Float[np.ndarray, "L 2 2"], d: int) -> Float[np.ndarray, "L e e e e"]:
    """The tensors of a diagonal network."""
    spread = omegas[:, np.append(np.zeros(d, int), 1)][:, :, np.append(np.zeros(d, int), 1)]
    eye = np.eye(d + 1)
    tensors = np.einsum("lij,ia,jb->lijab", spread, eye, eye)
    return (tensors + tensors.swapaxes(-1, -2)) / 2


def in_units(tensors: Float[np.ndarray, "L e e e e"], contexts: Contexts) -> Float[np.ndarray, "L e e e e"]:
    """The same with every token coordinate in units of its own size: entries that count alike."""
    size = np.sqrt(np.einsum("bii->i", contexts.gram) / contexts.count / contexts.n)
    return contexts.n * np.einsum("lijab,i,j,a,b->lijab", tensors, 1 / size, size, size, size)


def _live(tensors: Float[np.ndarray, "L e e e e"]) -> Float[np.ndarray, "L e e e e"]:
    """Writes that nobody reads, and reads of what is never there, set to zero."""
    layers, size = tensors.shape[:2]
    reached = [np.eye(size)[:, :-1]]  # the query begins without a label
    for tensor in tensors[:-1]:
        written = np.einsum("ijab,jr->irab", tensor, reached[-1]).reshape(size, -1)
        reached.append(_span(np.concatenate([reached[-1], _scaled(written)], axis=1)))
    found, read = [], np.eye(size)[:, -1:]
    for layer in reversed(range(layers)):
        tensor = np.einsum("ip,pjab->ijab", read @ read.T, tensors[layer])
        if layer == layers - 1:
            tensor = np.einsum("ijab,jq->iqab", tensor, reached[layer] @ reached[layer].T)
        found.append(tensor)
        across, gram = (_scaled(np.moveaxis(tensor, axis, 0).reshape(size, -1)) for axis in (1, 2))
        read = _span(np.concatenate([read, across, gram], axis=1))
    return np.stack(found[::-1])


def _scaled(columns: Float[np.ndarray, "e c"]) -> Float[np.ndarray, "e c"]:
    """Of size one; what is zero stays so."""
    size = np.linalg.norm(columns)
    return columns / size if size > 0 else columns


def _span(columns: Float[np.ndarray, "e c"]) -> Float[np.ndarray, "e r"]:
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > ROUNDING * max(sizes[0], 1e-300)]
