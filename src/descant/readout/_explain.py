"""The front door: which algorithm is this?"""

from typing import Any

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
from .._unknown import Unknown
from ..attention import kind_of
from ..measure import best
from ..programs import CompiledProgram
from ..tasks import AbstractTask
from ._algorithms import ALGORITHMS, Question
from ._contexts import Contexts
from ._directions import directions_of
from ._exact import exact_match
from ._explanation import CONSTANT, DIVERGES, IS, IS_NEARLY, NONE, Estimate, Explanation, OneStep, Penalty
from ._layers import layers_of
from ._match import ENOUGH, NEARLY, ROUNDING, Match, matches, question_of, simplest
from ._regression import Share, share
from ._trace import Trace, needs_tokens, traced, weights_on
from ._words import with_words

# How many contexts a network is looked at on, unless one says otherwise.
CONTEXTS = 1024
# How many contexts a network is looked at on, at the most.
MOST_CONTEXTS = 2**20
# A model explodes on a context if its answer there is so many times (squared) as long as usual.
EXPLODES = 100.0
# With more contexts than this share of which it does, a model diverges.
OFTEN = 0.2
ESTIMATORS = ("ols", "gd", "preconditioned-gd", "gd-beta", "const-ridge", "ada-ridge", "ridge", "bayes")


def explain(
    model: AbstractPredictor | CompiledProgram,
    task: AbstractTask,
    *,
    name: str | None = None,
    contexts: int = CONTEXTS,
    key: PRNGKeyArray | None = None,
) -> Explanation:
    """Look inside: which algorithm a model is, as a whole and layer by layer, on the contexts of a task.

    Weights are freed of their gauge first: two networks that are the same function read the same. What weights tell
    exactly is told as such; the rest is fitted over contexts drawn from the task, with the share that it explains and
    the standard error of that.

    **Arguments:** `model` is any predictor, or a compiled program; one that is linear in the query is read exactly,
    others by their answers to many queries. `name` is what sentences call it. `contexts` are drawn with `key` (key 0 if
    left out), half of them to fit, half of them to measure shares.

    **Returns:** an `Explanation`.

    >>> import jax.numpy as jnp
    >>> from descant import LinearRegression
    >>> from descant.attention import gd_as_transformer
    >>> from descant.estimators import GD
    >>> network = gd_as_transformer(GD(jnp.zeros(2), [0.25, 0.25]), n=8)
    >>> explain(network, LinearRegression(d=2, n=8), contexts=64).sentence
    'The network is gradient descent: 2 steps of size 0.25 (read off its weights).'
    """
    _check.size("contexts", contexts, least=64, most=MOST_CONTEXTS)
    called = "the network" if name is None else name
    facts: dict[str, Any] = {"model": called, "task": _in_words(task), "contexts": contexts}
    key = jax.random.key(0) if key is None else key
    drawn = Contexts.draw(task, contexts, key, tokens=needs_tokens(model))
    trace = traced(model, drawn)
    kept = _usual(trace)
    left_out = float(1 - kept.mean())
    if left_out > OFTEN:
        return with_words(Explanation(**facts, left_out=left_out, verdict=DIVERGES, how=trace.how))
    if left_out > 0:
        drawn = drawn.chosen(kept)
        trace = traced(model, drawn)
    return with_words(Explanation(**facts, left_out=left_out, **_read(task, trace, drawn)))


def _read(task: AbstractTask, trace: Trace, drawn: Contexts) -> dict[str, Any]:
    answers = trace.answer @ drawn.root
    spread = float(((answers - answers.mean(axis=0)) ** 2).sum(axis=1).mean())
    parts = {"trace": trace, "contexts": drawn}
    if spread <= 1e-20 * max(float((answers**2).sum(axis=1).mean()), 1e-300) or spread == 0:
        return {"verdict": CONSTANT, "how": trace.how, "parts": parts, "match": _constant(trace.answer)}
    question = question_of(task, drawn, trace.answer, trace.start, trace.steps)
    found = matches(question, drawn.root)
    exact = exact_match(trace, drawn)
    told = simplest(exact, found)
    verdict = IS if 1 - told.share.value <= ROUNDING else IS_NEARLY if told.share.value >= NEARLY else NONE
    return {
        "verdict": verdict,
        "how": trace.how,
        "match": told,
        "matches": found,
        "not_told_apart": _alike(told, found) if verdict != NONE else (),
        "layers": layers_of(trace, drawn),
        "penalties": _penalties(task, question, drawn),
        "directions": directions_of(trace.stack, trace.states, drawn)
        if trace.stack is not None and trace.states is not None
        else None,
        "one_step": _one_step(task, trace, told),
        "estimators": () if verdict == IS else _estimators(task, drawn, answers),
        "linearity": trace.linearity,
        "parts": parts,
    }


def _constant(answers: Float[np.ndarray, "B d"]) -> Match:
    return Match("a constant", "the same answer to all contexts", {"start": answers.mean(axis=0).tolist()},
                 answers.shape[1], Share(1.0, 0.0))  # fmt: skip


def _alike(told: Match, found: tuple[Match, ...]) -> tuple[str, ...]:
    """Algorithms of other names that explain nearly all, too, with no more numbers."""
    names = [
        each.algorithm
        for each in found
        if each.algorithm != told.algorithm and each.share.value >= ENOUGH and each.numbers <= told.numbers
    ]
    return tuple(dict.fromkeys(names))


def _usual(trace: Trace) -> np.ndarray:
    """Contexts on which nothing explodes, in any layer that is looked at."""
    with np.errstate(all="ignore"):
        sizes = (trace.answer**2).sum(axis=1)
        finite = np.isfinite(trace.w).all(axis=(0, 2)) & np.isfinite(sizes)
        if not finite.any():
            return finite
        return finite & (sizes <= EXPLODES * max(_scale(sizes[finite]), 1e-300))


def _scale(sizes: np.ndarray) -> float:
    """The median, of those that are not zero: a model may be silent on most contexts."""
    return float(np.median(sizes[sizes > 0])) if (sizes > 0).any() else 0.0


def _known_tasks(task: AbstractTask) -> bool:
    try:
        task.regression().prior.moments(task.d)
    except Unknown:
        return False
    return True


def _penalties(task: AbstractTask, question: Question, drawn: Contexts) -> tuple[Penalty, ...]:
    """Ridge regression at every noise level by itself."""
    ridge = next(each for each in ALGORITHMS if each.name == "ridge regression")
    found = []
    for level in drawn.levels():
        there = question._replace(believed=question.believed.part(level.members))
        fit = ridge.fit(there)
        if fit is None:
            continue
        target = there.believed.target
        half = len(target) // 2
        rest = ((fit.answers - target)[half:] ** 2).sum(axis=1)
        whole = ((target[half:] - target[:half].mean(axis=0)) ** 2).sum(axis=1)
        right = level.sigma**2 if _known_tasks(task) else None
        penalty, error = fit.parameters["penalty"], fit.errors["penalty"]
        found.append(Penalty(level.sigma, penalty, right, share(rest, whole), error))
    return tuple(found)


def _one_step(task: AbstractTask, trace: Trace, told: Match) -> OneStep | None:
    """Start and Gamma of a single layer beside the best ones; of others, where such a step is what they nearly are."""
    if trace.merged is not None:
        start, tensor = (np.asarray(each, float) for each in (trace.merged.offset, trace.merged.tensor))
        d = len(start)
        gamma = 2 * tensor[:, :d, d]
        own = np.pad(gamma, ((0, 0), (0, 1)))[:, :, None] * np.append(-start, 1.0)[None, None, :]
        rest = tensor - (own + np.swapaxes(own, 1, 2)) / 2
        others = float((rest**2).sum() / max((tensor**2).sum(), 1e-300))
    elif "gamma" in told.parameters and told.share.value >= NEARLY:
        gamma = np.asarray(told.parameters["gamma"])
        start, others = np.asarray(told.parameters.get("start", np.zeros(len(gamma)))), 1 - told.share.value
    else:
        return None
    plain = tuple(map(float, start)), tuple(tuple(map(float, row)) for row in gamma), others
    try:
        true = best("gd-beta", task)
        begin, matrix = np.asarray(true.beta, float), np.asarray(true.gamma, float)  # type: ignore
    except Unknown:
        return OneStep(*plain)
    scale = max(float(np.linalg.norm(begin)), 1e-12)
    start_off = float(np.linalg.norm(start - begin) / (scale if scale > 1e-9 else 1.0))
    gamma_off = float(np.linalg.norm(gamma - matrix) / max(float(np.linalg.norm(matrix)), 1e-300))
    rows = tuple(tuple(map(float, row)) for row in matrix)
    return OneStep(*plain, tuple(map(float, begin)), rows, start_off, gamma_off)


def _estimators(task: AbstractTask, drawn: Contexts, answers: Float[np.ndarray, "B d"]) -> tuple[Estimate, ...]:
    half = len(answers) // 2
    whole = ((answers[half:] - answers[:half].mean(axis=0)) ** 2).sum(axis=1)
    found = []
    for name in ESTIMATORS:
        try:
            known = best(name, task)
            if not known.linear:
                continue
            theirs = weights_on(known, drawn) @ drawn.root
        except (Unknown, ValueError):
            continue
        rest = ((answers - theirs) ** 2).sum(axis=1)[half:]
        if np.isfinite(rest).all():
            found.append(Estimate(name, share(rest, whole)))
    return tuple(sorted(found, key=lambda each: -each.share.value))


def _in_words(task: AbstractTask) -> str:
    return f"{type(task).__name__}, d = {task.d}, n = {task.n}"


def kind_name(model: Any) -> str:
    """What a model is called by its kind."""
    return model.description.program if isinstance(model, CompiledProgram) else kind_of(model).name
