"""`descant risk` where closed forms answer, with the oracle's risk from contexts drawn in NumPy: JAX is not loaded."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .._risk import Excess, Risk
from .._unknown import Unknown
from ._task import TaskFlags

if TYPE_CHECKING:
    from ..forms import PlainProblem

# Under Gaussian laws and a fixed noise level both are the oracle.
ORACLES = ("bayes", "ridge")
# What NumPy draws in seconds; more are sampled, or refused, as other laws are.
PLAIN_SAMPLES = 1 << 20


class Question(NamedTuple):
    """What `descant risk` was asked."""

    name: str
    task: TaskFlags
    heads: int | None
    query_masked: bool
    method: str
    samples: int
    seed: int


class Answer(NamedTuple):
    """A risk, those of predictors to compare it with, and what is not known of others."""

    found: Risk
    beside: list[tuple[str, Risk]]
    unknown: list[str]


def closed_answer(asked: Question, references: Sequence[str]) -> Answer | None:
    """The answer, if closed forms have it; None if it takes JAX, or if something is wrong with the question."""
    problem = asked.task.plain_problem()
    plain = asked.method in ("auto", "exact") and 1 < asked.samples <= PLAIN_SAMPLES and 0 <= asked.seed < 2**32
    heads_fit = asked.heads is None or (asked.name == "multi-head-lsa" and asked.heads >= 1)
    if problem is None or not plain or not heads_fit:
        return None
    from ..forms import oracle_risk

    @cache
    def oracle() -> tuple[float, float]:
        # The words of the JAX key of this seed.
        return oracle_risk(problem, samples=asked.samples, entropy=(0, asked.seed))

    try:
        found = _closed(asked.name, problem, oracle, asked.heads, asked.query_masked)
        if found.method != "exact" and asked.method == "exact":
            return None
        others = [name for name in references if name != asked.name]
        return Answer(found, [(name, _closed(name, problem, oracle)) for name in others], [])
    except Unknown:
        return None


def _closed(
    name: str,
    problem: "PlainProblem",
    oracle: Callable[[], tuple[float, float]],
    heads: int | None = None,
    query_masked: bool = True,
) -> Risk:
    from ..forms import NOISY, least_risk

    if name in ORACLES and query_masked:
        value, error = oracle()
        method, note = ("moments", NOISY) if error > 0 else ("exact", "")
        return Risk(value, error, method, lambda: Excess(0.0, 0.0), note)
    value = least_risk(name, problem, heads=heads, query_masked=query_masked)
    if not math.isfinite(value):
        raise Unknown("it is infinite, or numbers are too large")
    return Risk(value, 0.0, "exact", lambda: Excess(value - oracle()[0], oracle()[1]))
