"""Which known algorithm a model's answers are nearest to."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from .._unknown import Unknown
from ..tasks import AbstractTask
from ._algorithms import ALGORITHMS, UNKNOWN_DEPTHS, Algorithm, Candidate, Question
from ._contexts import Contexts
from ._regression import Share, share
from ._seen import Seen

# A model "is nearly" an algorithm if this much of what it does is explained; of those that explain so much that the
# difference hardly counts, the one of fewest numbers is told.
NEARLY, ENOUGH = 0.99, 0.999
# Of two algorithms that leave no more than twice as much as the other, the one with fewer numbers is told.
AS_GOOD = 2.0
# Of those that explain nearly all, the one of fewest numbers is told only if it leaves no more than so many times what
# the nearest leaves; below the second number, nothing is compared.
MANY, NOTHING_LEFT = 10.0, 1e-20
# What is left below this is rounding: then it "is" the algorithm.
ROUNDING = 1e-12
# A start of this share of the answers' size is none.
NO_START = 1e-6

WEIGHTS, BEHAVIOUR = "weights", "behaviour"


@dataclass(frozen=True)
class Match:
    """A known algorithm beside a model: its parameters, how many numbers they are, and how much they explain.

    `share` is that of the variance of the model's predictions, over contexts and queries that were not fitted to.
    `method` is "weights" if the parameters were read off gauge-fixed weights, and are exact but for rounding; else
    "behaviour", and they are fitted; `at_edge` says that its number of steps is the largest that was tried.
    `errors` are standard errors, over contexts, of the parameters that were fitted and have one.
    """

    algorithm: str
    about: str
    parameters: dict[str, Any]
    numbers: int
    share: Share
    method: str = BEHAVIOUR
    at_edge: bool = False
    errors: dict[str, Any] = field(default_factory=dict)

    @property
    def distance(self) -> float:
        """Root mean square of the difference, relative to the spread of the predictions."""
        return float(max(0.0, 1 - self.share.value) ** 0.5)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "algorithm": self.algorithm,
            "about": self.about,
            "parameters": self.parameters,
            "numbers": self.numbers,
            "share": self.share.as_json(),
            "distance": self.distance,
            "method": self.method,
            "at_edge": self.at_edge,
            "errors": self.errors,
        }


def question_of(
    task: AbstractTask,
    contexts: Contexts,
    answers: Float[np.ndarray, "B d"],
    start: Float[np.ndarray, " d"] | None,
    depth: int | None,
) -> Question:
    """What is to be explained; `depth` are the model's own steps, None if it doesn't say."""
    known = np.zeros(contexts.d) if start is None else start
    mean, root = _believed(task)
    depths = tuple(UNKNOWN_DEPTHS) if depth is None else tuple(dict.fromkeys((1, depth)))
    levels = () if contexts.sigma is None else tuple(np.quantile(contexts.sigma, [0.1, 0.9]))
    return Question(
        Seen.of(contexts, answers, known),
        Seen.of(contexts, answers, mean, root),
        depths,
        depth is not None,
        levels if levels and levels[0] < levels[-1] else (),
        contexts.alpha,
        contexts.s,
        answers,
        known,
        start is None,
        contexts.root,
    )


def _believed(task: AbstractTask) -> tuple[np.ndarray, np.ndarray]:
    """Mean and root covariance of tasks; N(0, I) where they are not known."""
    try:
        mean, cov = (np.asarray(each, float) for each in task.regression().prior.moments(task.d)[:2])
    except Unknown:
        return np.zeros(task.d), np.eye(task.d)
    values, vectors = np.linalg.eigh(cov)
    return mean, (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def matches(question: Question, root: Float[np.ndarray, "d d"]) -> tuple[Match, ...]:
    """Every algorithm beside the model, the nearest first."""
    half = len(question.answers) // 2
    answers = question.answers @ root
    whole = ((answers[half:] - answers[:half].mean(axis=0)) ** 2).sum(axis=1)
    found = []
    for algorithm in ALGORITHMS:
        candidate = algorithm.fit(question)
        if candidate is None:
            continue
        target = (question.believed if algorithm.believed else question.seen).target
        with np.errstate(all="ignore"):
            rest = ((candidate.answers - target) ** 2).sum(axis=1)[half:]
        if np.isfinite(rest).all():
            found.append(_named(algorithm, candidate, share(rest, whole), question))
    return tuple(sorted(found, key=lambda each: -each.share.value))


def _named(algorithm: Algorithm, candidate: Candidate, explained: Share, question: Question) -> Match:
    """A step with a matrix is called by what its matrix and its start are; others begin where the model does."""
    size = float(np.sqrt(np.mean(question.answers**2))) or 1.0
    name, about = algorithm.name, algorithm.about
    parameters, numbers = dict(candidate.parameters), candidate.numbers
    if "gamma" in parameters:
        start = np.asarray(parameters["start"])
        if np.abs(start).max() > NO_START * size:
            return Match("GD-beta", "one such step from a learnt start", parameters, numbers + len(start), explained)
        del parameters["start"]
    elif not algorithm.believed and np.abs(question.start).max() > NO_START * size:
        parameters["start"] = question.start.tolist()
    return Match(name, about, parameters, numbers, explained, at_edge=candidate.at_edge, errors=candidate.errors)


def chosen(found: tuple[Match, ...]) -> Match:
    """The one that is told: that of the largest share, or one with fewer numbers that leaves little more.

    Little more is less than twice as much, or less than ten times where all but a thousandth is explained, and never
    so much that it is not near any more. Where none is near, it is no more than the standard error.
    """
    best = found[0].share
    least = max(1 - best.value, 0.0)
    if best.value < NEARLY:
        limit = least + best.error
    else:
        limit = min(max(AS_GOOD * least, min(MANY * least, 1 - ENOUGH), NOTHING_LEFT), 1 - NEARLY)
    close = _without_twins([each for each in found if 1 - each.share.value <= limit])
    return min(close, key=lambda each: (each.numbers, -each.share.value))


def _without_twins(found: list[Match]) -> list[Match]:
    """T doublings and 2^T steps on the ridge loss are one function: many steps are told as the few doublings."""
    doublings, steps = (
        next((each for each in found if each.algorithm == name), None)
        for name in ("ridge by Newton-Schulz", "gradient descent on the ridge loss")
    )
    if doublings is None or steps is None or 2 ** doublings.parameters["steps"] != steps.parameters["steps"]:
        return found
    other = steps if steps.parameters["steps"] > max(UNKNOWN_DEPTHS) else doublings
    return [each for each in found if each is not other]


def simplest(exact: Match | None, found: tuple[Match, ...]) -> Match:
    """What weights say, and was measured; else what answers say."""
    return chosen(found) if exact is None else exact
