"""Known algorithms, each with a way to find its parameters from a model's answers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import expit, softmax

from . import _residuals
from ._seen import Numbers, Seen, smallest, spread

# Depths that are tried where a model does not say how many steps it takes.
UNKNOWN_DEPTHS = range(1, 7)
# Steps of one size are one number, however many they are: of these more are tried.
ONE_SIZE_DEPTHS = range(1, 65)
# The same with a penalty: first these, then those beside the best of them.
PENALISED_DEPTHS = (*range(1, 17), 20, 24, 28, 32, 40, 48, 56, 64)
# Deeper than this, step sizes of their own are not fitted: so many are never determined by answers.
MOST_STEPS = 8
MOST_DOUBLINGS = 24


class Question(NamedTuple):
    """What is to be explained: answers with inputs as they are, and in the metric of the prior; and the depths.

    `known` is whether the depth is that of the model's own steps. `alpha`, `s`, `answers` and `start` are those of the
    contexts, for steps with a matrix, and `root` that of the queries' metric; `free_start` if the start is a guess.
    `levels` are noise levels to begin with.
    """

    seen: Seen
    believed: Seen
    depths: tuple[int, ...]
    known: bool
    levels: tuple[float, ...]
    alpha: Float[np.ndarray, "B d"]
    s: Float[np.ndarray, "B d d"]
    answers: Float[np.ndarray, "B d"]
    start: Float[np.ndarray, " d"]
    free_start: bool
    root: Float[np.ndarray, "d d"]


class Candidate(NamedTuple):
    """Parameters by name, how many numbers they are, and the answers on all contexts in the coordinates of `target`."""

    parameters: dict[str, Any]
    numbers: int
    answers: Float[np.ndarray, "B d"]
    # Whether more steps might have come nearer, which were not tried.
    at_edge: bool = False
    # Standard errors by the names of the parameters that were fitted.
    errors: dict[str, Any] = {}  # noqa: RUF012, nobody writes into it


@dataclass(frozen=True)
class Algorithm:
    """A known algorithm: its name, what it does in a line, and `fit`, which finds its parameters or gives None.

    One that is `believed` starts from the mean of tasks and shrinks in their metric, others begin where the model does.
    """

    name: str
    about: str
    fit: Callable[[Question], Candidate | None]
    believed: bool = False


def _spectral(
    name: str, about: str, names: tuple[str, ...], f: Callable[..., Numbers], starts: Callable[..., list], *,
    depths: Callable[[Question], Any], believed: bool = False,
) -> Algorithm:  # fmt: skip
    """An algorithm whose answer is f(eigenvalues; parameters, depth) times the slopes; parameters are positive."""

    def fit(question: Question) -> Candidate | None:
        seen = question.believed if believed else question.seen
        half = seen.part(slice(None, len(seen.target) // 2))
        tried = list(depths(question))
        best, least, taken = nearest(question, half, tried, (np.zeros(0), np.inf, 0))
        # Where not all depths are tried, those beside the best one are.
        best, least, taken = nearest(question, half, _beside(tried, taken), (best, least, taken))
        if not np.isfinite(least):
            return None
        best, _ = smallest(half, partial(at, depth=taken), [best], polish=True)
        told: dict[str, Any] = dict(zip(names, map(float, _positive(best)), strict=True))
        # Of the logarithms, so relative to the parameters.
        relative = spread(half, partial(at, depth=taken), best)
        errors = {name: told[name] * float(each) for name, each in zip(names, relative, strict=True)}
        if told.get("low", 0.0) > told.get("high", np.inf):
            for each in (told, errors):
                each["low"], each["high"] = each["high"], each["low"]
        # A momentum of 1 or more is no heavy ball: it fits a few steps, and means nothing.
        momentum = told.get("momentum", 0.0)
        if momentum >= 1:
            return None
        # Steps so large that they climb the ridge loss: two up the gradient of the loss itself would pass for such.
        step = told.get("step", told.get("scale", 0.0) * seen.n)
        if "penalty" in told and step * (told["penalty"] / seen.n + _typical(half)) > 2 * (1 + momentum):
            return None
        told |= {"steps": taken} if taken else {}
        edge = not question.known and len(tried) > 1 and taken == tried[-1]
        return Candidate(told, len(names), seen.answer(at(seen, best, depth=taken)), edge, errors)

    def nearest(question: Question, half: Seen, depths: list[int], known: tuple[Numbers, float, int]):
        best, least, taken = known
        for depth in depths:
            begins = [np.log(each) for each in starts(question, half, depth)]
            found, cost = smallest(half, partial(at, depth=depth), begins)
            if cost < least * (1 - 1e-6):
                best, least, taken = found, cost, depth
        return best, least, taken

    def at(some: Seen, parameters: Numbers, *, depth: int) -> Numbers:
        return f(some, *_positive(parameters), depth)

    return Algorithm(name, about, fit, believed)


def _beside(tried: list[int], taken: int) -> list[int]:
    """Depths next to the one that was taken that were left out.

    >>> _beside([1, 2, 3, 6, 9], 6)
    [4, 5, 7, 8]
    """
    if taken not in tried:
        return []
    place = tried.index(taken)
    low, high = tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)]
    return [depth for depth in range(low + 1, high) if depth not in tried]


def _positive(logs: Numbers) -> Numbers:
    """Fits may run away to zero or infinity: not so far that nothing can be computed."""
    return np.exp(np.clip(logs, -200.0, 200.0))


def _typical(half: Seen) -> float:
    return float(max(np.median(half.values), 1e-12))


def _steps(half: Seen) -> list[float]:
    top = float(max(half.values.max(), 1e-12))
    return [1 / _typical(half), 0.5 / top, 0.1 / top]


def _own_steps(question: Question) -> Candidate | None:
    """Gradient descent with a step size for each step: the polynomial first, then its roots."""
    half = question.seen.part(slice(None, len(question.seen.target) // 2))
    scale = _typical(half)

    def starts(depth: int) -> list[Numbers]:
        columns = np.stack([half.answer((half.values / scale) ** power).ravel() for power in range(depth)], axis=1)
        found = np.linalg.lstsq(columns, half.target.ravel(), rcond=1e-12)[0]
        roots = np.polynomial.Polynomial(np.append(1.0, -scale * found)).roots() if abs(found[-1]) > 0 else np.zeros(0)
        inverse = 1 / np.where(np.abs(roots.real) > 1e-9, roots.real, 1.0) / scale
        return [*([inverse] if len(inverse) == depth else []), _steps(half)[0] * np.linspace(0.5, 1.5, depth)]

    found = _best_depth(
        half, [depth for depth in question.depths if 1 < depth <= MOST_STEPS], starts,
        lambda some, each, depth: _residuals.descent(some.values, each),
    )  # fmt: skip
    if found is None:
        return None
    steps, depth = found
    order = np.argsort(steps)
    errors = spread(half, lambda some, each: _residuals.descent(some.values, each), steps)[order].tolist()
    answers = question.seen.answer(_residuals.descent(question.seen.values, steps))
    edge = not question.known and depth == max(question.depths)
    return Candidate({"step": steps[order].tolist(), "steps": depth}, depth, answers, edge, {"step": errors})


def _gd_plus_plus(question: Question) -> Candidate | None:
    """Steps and contractions, one of each per layer; the last layer's contraction does nothing."""
    half = question.seen.part(slice(None, len(question.seen.target) // 2))
    top = float(max(half.values.max(), 1e-12))

    def at(some: Seen, each: Numbers, depth: int) -> Numbers:
        return _residuals.gd_plus_plus(some.values, each[:depth], np.append(each[depth:], 0.0))

    def starts(depth: int) -> list[Numbers]:
        begins = [(0.0, 1 / (3 * top)), (0.5 / top, 1 / (3 * top)), (1 / top, 0.1 / top), (1 / top, -0.05 / top)]
        last = 1 / _typical(half)
        return [np.array([first] * (depth - 1) + [last] + [second] * (depth - 1)) for first, second in begins]

    depths = question.depths if question.known else (2, 3)
    found = _best_depth(half, [depth for depth in depths if 1 < depth <= MOST_STEPS // 2], starts, at)
    if found is None:
        return None
    numbers, depth = found
    told = {"step": list(map(float, numbers[:depth])), "contraction": [*map(float, numbers[depth:]), 0.0]}
    found_errors = spread(half, lambda some, each: at(some, each, depth), numbers).tolist()
    errors = {"step": found_errors[:depth], "contraction": [*found_errors[depth:], 0.0]}
    answers = question.seen.answer(at(question.seen, numbers, depth))
    return Candidate(told | {"steps": depth}, 2 * depth - 1, answers, errors=errors)


def _best_depth(
    half: Seen, depths: list[int], starts: Callable[[int], list[Numbers]], at: Callable[[Seen, Numbers, int], Numbers]
) -> tuple[Numbers, int] | None:
    """The parameters and the depth that come nearest; of equals the shallower."""
    best, least, taken = np.zeros(0), np.inf, 0
    for depth in depths:
        found, cost = smallest(half, lambda some, each, depth=depth: at(some, each, depth), starts(depth))
        if cost < least * (1 - 1e-6) - 1e-24:
            best, least, taken = found, cost, depth
    if not np.isfinite(least):
        return None
    return smallest(half, lambda some, each: at(some, each, taken), [best], polish=True)[0], taken


def _matrix_step(question: Question) -> Candidate | None:
    """start + Gamma (alpha - S start): the matrix by least squares; the start too, in turn, where it is not known."""
    half, start = len(question.answers) // 2, question.start
    gamma = _gamma(question, start, half)
    for _ in range(12 if question.free_start else 0):
        reach = np.eye(len(start)) - gamma @ question.s[:half]
        there = question.answers[:half] - question.alpha[:half] @ gamma.T
        start = np.linalg.lstsq(reach.reshape(-1, len(start)), there.ravel(), rcond=1e-12)[0]
        gamma = _gamma(question, start, half)
    step = (question.alpha - question.s @ start) @ gamma.T + start - question.start
    return Candidate({"gamma": gamma.tolist(), "start": start.tolist()}, gamma.size, step @ question.root)


def _gamma(question: Question, start: Numbers, half: int) -> Float[np.ndarray, "d d"]:
    slopes = question.alpha[:half] - question.s[:half] @ start
    return np.linalg.lstsq(slopes, question.answers[:half] - start, rcond=1e-12)[0].T


def _mixture_f(seen: Seen, low: float, high: float, odds: float, depth: int) -> Numbers:
    """Ridge solutions of two noise levels, weighed by their probability given the context."""
    del depth
    values, labels, freedom = seen.n * seen.values, seen.n * seen.slopes, seen.n - seen.values.shape[1]
    variances = np.array([low, high]) ** 2
    total = values[:, None] + variances[None, :, None]
    safe = np.maximum(values, 1e-300)[:, None]
    exponent = np.sum(np.log(total) + labels[:, None] ** 2 / (safe * total), axis=2)
    exponent += freedom * np.log(variances) + seen.n * seen.residual[:, None] / variances
    weight = np.log(np.array([expit(-np.log(odds)), expit(np.log(odds))]) + 1e-300)
    chances = softmax(weight - exponent / 2, axis=1)
    return seen.n * np.sum(chances[:, :, None] / total, axis=1)


def _mixture_starts(question: Question, half: Seen, depth: int) -> list:
    del depth
    # Levels as the task has them, and as residuals show them.
    shown = np.sqrt(np.quantile(half.residual * half.n / max(half.n - half.values.shape[1], 1), [0.2, 0.8]))
    pairs = [tuple(np.maximum(shown, 1e-3)), *([question.levels[:1] + question.levels[-1:]])]
    return [(max(low, 1e-3), max(high, 2e-3) * (1.5 if low == high else 1.0), 1.0) for low, high in pairs if high > 0]


def _mixable(question: Question) -> Any:
    return (0,) if question.seen.n > question.seen.values.shape[1] and len(question.levels) > 1 else ()


def _of_one_size(question: Question) -> Any:
    return question.depths if question.known else ONE_SIZE_DEPTHS


def _of_one_size_penalised(question: Question) -> Any:
    return question.depths if question.known else PENALISED_DEPTHS


def _from_three(question: Question) -> Any:
    return [depth for depth in question.depths if depth > 2]


def _doublings(question: Question) -> Any:
    most = max(question.depths) if question.known else 8
    return range(1, min(most, MOST_DOUBLINGS) + 1)


ALGORITHMS = (
    _spectral(
        "gradient descent", "steps of one size", ("step",),
        lambda seen, step, depth: _residuals.constant_descent(seen.values, step, depth),
        lambda question, half, depth: [(each / (1 if depth == 1 else 1.5),) for each in _steps(half)],
        depths=_of_one_size,
    ),
    _spectral(
        "ridge regression", "solved", ("penalty",),
        lambda seen, penalty, depth: 1 / (seen.values + penalty / seen.n),
        lambda question, half, depth: [(half.n * _typical(half) * each,) for each in (0.01, 0.3, 3.0)],
        depths=lambda question: (0,), believed=True,
    ),
    _spectral(
        "heavy ball", "steps of one size with a momentum", ("step", "momentum"),
        lambda seen, step, momentum, depth: _residuals.heavy_ball(seen.values, step, momentum, depth),
        lambda question, half, depth: [(each / 2, mu) for each in _steps(half) for mu in (0.1, 0.5)],
        depths=_from_three,
    ),
    _spectral(
        "Chebyshev iteration", "steps by the roots of Chebyshev's polynomial", ("low", "high"),
        lambda seen, low, high, depth: _residuals.chebyshev(seen.values, low, high, depth),
        lambda question, half, depth: [np.quantile(half.values, [each, 1 - each]) + 1e-9 for each in (0.02, 0.2)],
        depths=_from_three,
    ),
    _spectral(
        "gradient descent on the ridge loss", "steps of one size on the ridge loss", ("step", "penalty"),
        lambda seen, step, penalty, depth: _residuals.constant_descent(seen.values + penalty / seen.n, step, depth),
        # Many steps are smaller ones: the sum of all is what a few large ones have.
        lambda question, half, depth: [
            (each / 1.5, half.n * _typical(half) * 0.1) for each in (*_steps(half), 3 / depth / _typical(half))
        ],
        depths=_of_one_size_penalised,
    ),
    _spectral(
        "ridge by Newton-Schulz", "an inverse by doubling", ("scale", "penalty"),
        lambda seen, scale, penalty, depth: _residuals.constant_descent(
            seen.values + penalty / seen.n, scale * seen.n, 2**depth
        ),
        lambda question, half, depth: [
            (1 / (float(half.values.max()) * half.n * each), half.n * _typical(half) * 0.1) for each in (1.0, 2.0)
        ],
        depths=_doublings, believed=True,
    ),
    _spectral(
        "heavy ball on the ridge loss", "the same on the ridge loss", ("step", "momentum", "penalty"),
        lambda seen, step, momentum, penalty, depth: _residuals.heavy_ball(
            seen.values + penalty / seen.n, step, momentum, depth
        ),
        lambda question, half, depth: [
            (each / 2, mu, half.n * _typical(half) * 0.1) for each in _steps(half) for mu in (0.1, 0.5)
        ],
        depths=_from_three,
    ),
    _spectral(
        "Chebyshev iteration on the ridge loss", "the same on the ridge loss", ("low", "high", "penalty"),
        lambda seen, low, high, penalty, depth: _residuals.chebyshev(seen.values + penalty / seen.n, low, high, depth),
        lambda question, half, depth: [
            np.append(np.quantile(half.values, [0.02, 0.98]) + 1e-9, half.n * _typical(half) * 0.1)
        ],
        depths=_from_three,
    ),
    _spectral(
        "the best two-level mixture", "ridge at two noise levels, by their probability", ("low", "high", "odds"),
        _mixture_f, _mixture_starts, depths=_mixable, believed=True,
    ),
    Algorithm("gradient descent", "each step of a size of its own", _own_steps),
    Algorithm("GD++", "steps, and inputs that are made rounder", _gd_plus_plus),
    Algorithm("preconditioned gradient descent", "one step with a matrix for a step size", _matrix_step),
)  # fmt: skip
