"""What an algorithm that was read off weights answers, measured beside the model that it was read off."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from . import _residuals
from ._contexts import Contexts
from ._match import Match
from ._regression import share


def measured(match: Match, contexts: Contexts, answers: Float[np.ndarray, "B d"]) -> Match:
    """The same with the share that its numbers explain of the answers: on the second half, as all shares are."""
    with np.errstate(all="ignore"):
        theirs, ours = told_answers(match, contexts) @ contexts.root, answers @ contexts.root
        half = len(ours) // 2
        rest = ((theirs - ours)[half:] ** 2).sum(axis=1)
        whole = ((ours[half:] - ours[:half].mean(axis=0)) ** 2).sum(axis=1)
        # What is no number explains nothing.
        return replace(match, share=share(np.nan_to_num(rest, nan=1e300, posinf=1e300), whole))


def told_answers(match: Match, contexts: Contexts) -> Float[np.ndarray, "B d"]:
    """Weight vectors of an algorithm by its name and its numbers, as they are told."""
    told = match.parameters
    start = np.asarray(told.get("start", np.zeros(contexts.d)), float)
    slopes = contexts.alpha - contexts.s @ start
    if "gamma" in told:
        return start + slopes @ np.asarray(told["gamma"], float).T
    values, vectors = np.linalg.eigh(contexts.s)
    # A penalty is one more eigenvalue for the polynomial, and leaves the labels alone.
    f = _polynomial(match, values + told.get("penalty", 0.0) / contexts.n)
    return start + np.einsum("bij,bj->bi", vectors, f * np.einsum("bij,bi->bj", vectors, slopes))


def _polynomial(match: Match, values: Float[np.ndarray, "B d"]) -> Float[np.ndarray, "B d"]:
    told = match.parameters
    if "contraction" in told:
        return _residuals.gd_plus_plus(values, np.asarray(told["step"]), np.asarray(told["contraction"]))
    if "momentum" in told:
        return _residuals.heavy_ball(values, told["step"], told["momentum"], told["steps"])
    if "low" in told:
        return _residuals.chebyshev(values, told["low"], told["high"], told["steps"])
    if isinstance(told["step"], list):
        return _residuals.descent(values, np.asarray(told["step"]))
    return _residuals.constant_descent(values, told["step"], told["steps"])
