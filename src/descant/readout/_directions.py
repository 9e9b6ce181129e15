"""Directions of the inputs that a dense network treats unlike the others, and what they come to carry."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ._contexts import Contexts
from ._stack import Stack, States, in_units

# A direction is singled out if it holds so many times its part of what is not diagonal; at most so many are told.
STANDS_OUT, MOST = 3.0, 3
# Of a network, so much is not diagonal at the least before directions are looked for: a share of squares.
LEAST = 1e-6
# What is carried is named from this correlation on.
CARRIES = 0.8


@dataclass(frozen=True)
class Direction:
    """A direction v (d,), a unit vector, its largest entry positive; the share of what is not diagonal that it holds.

    `carries` has for every layer the mean correlations over contexts of <v, x_i> after it with the label y_i, with
    what <v, x_i> was at the start, and with what least squares leaves of the label.
    """

    vector: tuple[float, ...]
    share: float
    carries: tuple[dict[str, float], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """What it carries after each layer, in words."""
        return tuple(_words(each) for each in self.carries)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "words": list(self.words)}


@dataclass(frozen=True)
class Directions:
    """How much of a network is not diagonal (a share of squares, in units of the tokens' own size), and where."""

    beside_diagonal: float
    singled_out: tuple[Direction, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"beside_diagonal": self.beside_diagonal, "singled_out": [each.as_json() for each in self.singled_out]}


def directions_of(stack: Stack, states: States, contexts: Contexts) -> Directions:
    """Directions along which the weights are not those of a diagonal network."""
    whole, rest = (in_units(each, contexts) for each in (stack.tensors, stack.rest()))
    beside = float((rest**2).sum() / max((whole**2).sum(), 1e-300))
    if beside <= LEAST:
        return Directions(beside, ())
    d, moment = contexts.d, np.zeros((contexts.d, contexts.d))
    for axis, times in ((1, 1), (2, 1), (3, 2)):  # written to, read of the token, read of the context (twice the same)
        unfolded = np.moveaxis(rest, axis, 0)[:d].reshape(d, -1)
        moment += times * unfolded @ unfolded.T
    values, vectors = np.linalg.eigh(moment)
    shares = values[::-1] / max(values.sum(), 1e-300)
    found = []
    for share, vector in zip(shares[:MOST], vectors.T[::-1], strict=False):
        if share * d < STANDS_OUT or share < 0.1:
            break
        vector = vector * np.sign(vector[np.argmax(np.abs(vector))])
        carried = tuple(_carried(vector, states.m[i], states.u[i], contexts) for i in range(1, len(states.m)))
        found.append(Direction(tuple(map(float, vector)), float(share), carried))
    return Directions(beside, tuple(found))


def _carried(v: np.ndarray, m: np.ndarray, u: np.ndarray, contexts: Contexts) -> dict[str, float]:
    """Correlations over a context's tokens, their means over contexts; whichever sign."""
    token = np.concatenate([np.einsum("bij,i->bj", m, v), (u @ v)[:, None]], axis=1)
    label = np.zeros(contexts.d + 1)
    label[-1] = 1.0
    own = np.append(v, 0.0)
    inputs = contexts.gram[:, :-1, :-1] + 1e-12 * np.eye(contexts.d) * np.einsum("bii->b", contexts.gram)[:, None, None]
    solution = np.linalg.solve(inputs, contexts.gram[:, :-1, -1:])[..., 0]
    left = np.concatenate([-solution, np.ones((contexts.count, 1))], axis=1)
    named = {"label": label, "itself": own, "residual": left}
    return {name: float(np.abs(_correlation(token, each, contexts.gram)).mean()) for name, each in named.items()}


def _correlation(one: np.ndarray, other: np.ndarray, gram: np.ndarray) -> np.ndarray:
    other = np.broadcast_to(other, one.shape)
    inner, first, second = (
        np.einsum("bi,bij,bj->b", a, gram, b) for a, b in ((one, other), (one, one), (other, other))
    )
    with np.errstate(all="ignore"):
        return np.nan_to_num(inner / np.sqrt(np.maximum(first, 1e-300) * np.maximum(second, 1e-300)))


def _words(carries: dict[str, float]) -> str:
    """Unnamed is what carries nothing of the three clearly."""
    if carries["label"] >= CARRIES and carries["label"] > carries["itself"]:
        return f"a second label (correlation {carries['label']:.2f} with y)"
    if carries["residual"] >= CARRIES and carries["residual"] > carries["itself"]:
        return f"the residuals (correlation {carries['residual']:.2f})"
    if carries["itself"] >= CARRIES:
        return f"what it was (correlation {carries['itself']:.2f} with the input)"
    return (
        f"a mixture (correlations {carries['label']:.2f} with y, {carries['itself']:.2f} with the input, "
        f"{carries['residual']:.2f} with the residuals)"
    )
