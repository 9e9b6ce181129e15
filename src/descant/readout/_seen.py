"""What algorithms are fitted to: contexts in the eigenbasis of their S, and a model's answers in it."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import least_squares

from ._contexts import Contexts
from ._regression import solve

Numbers = Float[np.ndarray, "..."]
# Fits by more than a linear problem look at so many contexts, and at so many to begin with.
MOST, SCREENED = 256, 48
# Of parameters, for derivatives by differences.
DIFFERENCE = 1e-6
ROUGH = {"xtol": 1e-7, "ftol": 1e-7, "gtol": 1e-7, "max_nfev": 40}


class Seen(NamedTuple):
    """B contexts as somebody sees them who starts at `start` and believes in tasks start + root z, z ~ N(0, I).

    `values` are the eigenvalues of root S root, `slopes` root (alpha - S start) in their basis, `residual` what least
    squares leaves of (y - X start)^2 / n; `turn` takes a vector of that basis to an error whose squares are the costs,
    and `target` is the model's answer less the start, there.
    """

    n: int
    values: Float[np.ndarray, "B d"]
    slopes: Float[np.ndarray, "B d"]
    residual: Float[np.ndarray, " B"]
    turn: Float[np.ndarray, "B d d"]
    target: Float[np.ndarray, "B d"]

    @classmethod
    def of(cls, contexts: Contexts, answers: Numbers, start: Numbers, root: Numbers | None = None) -> "Seen":
        """`answers` (B, d) are the model's weight vectors; `root` (d, d), the identity if left out."""
        root = np.eye(contexts.d) if root is None else root
        s, alpha = contexts.s, contexts.alpha
        values, vectors = np.linalg.eigh(root @ s @ root)
        values = np.maximum(values, 0.0)
        slopes = np.einsum("bij,bi->bj", vectors, (alpha - s @ start) @ root)
        power = contexts.power - 2 * alpha @ start + np.einsum("i,bij,j->b", start, s, start)
        above = values > 1e-12 * values.max(axis=1, keepdims=True)
        explained = np.sum(np.where(above, slopes**2 / np.where(above, values, 1.0), 0.0), axis=1)
        turn = contexts.root @ root @ vectors
        target = (answers - start) @ contexts.root
        return cls(contexts.n, values, slopes, np.maximum(power - explained, 0.0), turn, target)

    def part(self, members: slice | np.ndarray) -> "Seen":
        """Some contexts."""
        return Seen(self.n, *(each[members] for each in self[1:]))

    def answer(self, f: Numbers) -> Float[np.ndarray, "B d"]:
        """What f(S) (alpha - S start) is, f given at every eigenvalue, in the coordinates of `target`."""
        return np.einsum("bij,bj->bi", self.turn, f * self.slopes)


def smallest(
    seen: Seen, f: Callable[[Seen, Numbers], Numbers], starts: Iterable[Iterable[float]], *, polish: bool = False
) -> tuple[Float[np.ndarray, " p"], float]:
    """The parameters with which f(seen, parameters) comes nearest to the answers, from several starts; and how near.

    Starts are screened on few contexts and roughly; `polish` goes on to the last digit on more of them.
    """
    some = seen.part(slice(None, MOST if polish else SCREENED))
    settings = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 300} if polish else ROUGH

    def off(parameters: Numbers) -> Numbers:
        with np.errstate(all="ignore"):
            rest = (some.answer(f(some, parameters)) - some.target).ravel()
        # Steps that diverge are bad, and not more than that.
        return np.clip(np.nan_to_num(rest, nan=1e6, posinf=1e6, neginf=-1e6), -1e6, 1e6)

    best, least = np.zeros(0), np.inf
    for start in starts:
        try:
            found = least_squares(off, np.asarray(start, float), method="lm", **settings)
        except ValueError:
            continue
        if found.cost < least:
            best, least = found.x, float(found.cost)
    return best, least


def spread(
    seen: Seen, f: Callable[[Seen, Numbers], Numbers], parameters: Float[np.ndarray, " p"]
) -> Float[np.ndarray, " p"]:
    """Standard errors of fitted parameters over contexts: of the linearised problem, leaving out parts in turn."""
    some = seen.part(slice(None, MOST))

    def answer(at: Numbers) -> Numbers:
        return some.answer(f(some, at))

    with np.errstate(all="ignore"):
        rest = some.target - answer(parameters)
        reach = DIFFERENCE * np.maximum(np.abs(parameters), DIFFERENCE)
        moves = reach[:, None] * np.eye(len(parameters))
        columns = np.array([(answer(parameters + move) - answer(parameters - move)) / 2 for move in moves])
    if not (np.isfinite(rest).all() and np.isfinite(columns).all()):
        return np.full(len(parameters), np.inf)
    # In units of the moves: what parameters are measured in differs by orders of magnitude.
    return solve(columns, rest)[1] * reach
