"""Along a training: when each layer becomes what it ends as."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from ..figures import Axis, Figure, Panel, Series
from ..tasks import AbstractTask
from ._contexts import Contexts
from ._exact import exact_match
from ._explanation import DIVERGES
from ._layers import layers_of
from ._match import NEARLY, matches, question_of, simplest
from ._trace import Trace, needs_tokens, traced

CONTEXTS = 256
# A layer is what it ends as if no more than this of its last update is left, now and ever after.
SETTLED = 0.05
# A layer whose last update is smaller than this beside the answer, squared, adds nothing.
NOTHING = 1e-9


@dataclass(frozen=True)
class Moment:
    """A model along the way: `at` is where (a step, or a count of rows), `label` says it in words.

    `off` has for each layer the mean square of its update less its last one, relative to the last one's, and None where
    the model has other layers than at the end; `steps` are the layers' step sizes. `whole_off` is the same of the
    answer. `algorithm` is the nearest known one, with its `share`.
    """

    at: float
    label: str
    off: tuple[float | None, ...]
    steps: tuple[float | None, ...]
    whole_off: float | None
    algorithm: str
    share: float


@dataclass(frozen=True)
class OverTime:
    """A training by its models: its `moments`, and when each layer `settled`: an `at`, the last if only at the end."""

    names: tuple[str, ...]
    moments: tuple[Moment, ...]
    settled: tuple[float, ...]
    whole_settled: float
    sentences: tuple[str, ...] = ()
    unit: str = "rows"

    @property
    def text(self) -> str:
        """All sentences, a line each."""
        return "\n".join(self.sentences)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def figure(self) -> Figure:
        """How far each layer is from what it ends as, and its step size, along the training."""
        logs = all(each.at > 0 for each in self.moments)
        x = Axis(f"along the training, {self.unit}", log=logs)
        off = tuple(self._series(index, [each.off[index] for each in self.moments]) for index in range(len(self.names)))
        # The last is its own end, which a logarithm can't show.
        steps = tuple(
            self._series(index, [each.steps[index] for each in self.moments]) for index in range(len(self.names))
        )
        panels = (
            Panel("how far from its end", x, Axis("squared distance", log=True), off),
            Panel("step size", x, Axis("step"), steps),
        )
        return Figure(
            "over-time",
            "When each layer becomes what it ends as",
            "The mean square of a layer's update less its last one, relative to the last one's; a layer has settled "
            f"where this stays below {SETTLED}.",
            panels,
        )

    def _series(self, index: int, values: Sequence[float | None]) -> Series:
        points = [(each.at, value) for each, value in zip(self.moments, values, strict=True) if value is not None]
        return Series(self.names[index], tuple(at for at, _ in points), tuple(value for _, value in points))


def over_time(
    models: Sequence[tuple[float, str, Any]],
    task: AbstractTask,
    *,
    unit: str = "rows",
    contexts: int = CONTEXTS,
    key: PRNGKeyArray | None = None,
) -> OverTime:
    """Read the models of a training, the last one last, on the same contexts.

    **Arguments:** `models` are (at, label, model): where in the training, the same in words, and the model then;
    `unit` is that of `at`.

    **Returns:** an `OverTime`. A layer has settled at the first moment from which on it stays within a twentieth
    (squared) of what it ends as.
    """
    if not models:
        raise ValueError("models is empty; expected those of a training, the last one last.")
    key = jax.random.key(0) if key is None else key
    drawn = Contexts.draw(task, contexts, key, tokens=any(needs_tokens(model) for _, _, model in models))
    kept = np.asarray(np.isfinite(traced(models[-1][2], drawn).w).all(axis=(0, 2)))
    if kept.mean() < 0.8:
        raise ValueError(
            "the trained model overflows on more than a fifth of the contexts: there is nothing to compare."
        )
    # What others do on contexts on which the last one overflows is no distance from it.
    drawn = drawn if kept.all() else drawn.chosen(kept)
    traces = [traced(model, drawn) for _, _, model in models]
    last = traces[-1]
    moments = tuple(
        _moment(at, label, trace, last, drawn, task) for (at, label, _), trace in zip(models, traces, strict=True)
    )
    settled = tuple(_settled(moments, [each.off[index] for each in moments]) for index in range(last.depth))
    whole = _settled(moments, [each.whole_off for each in moments])
    sizes = np.mean(np.diff(last.w, axis=0) ** 2, axis=(1, 2)) / max(float(np.mean(last.answer**2)), 1e-300)
    words = [
        _of_layer(name, settled[index], moments, [each.off[index] for each in moments], float(sizes[index]))
        for index, name in enumerate(last.names)
    ]
    if last.depth > 1:
        words.append(_sentence("the answer", whole, moments, [each.whole_off for each in moments]))
    return OverTime(last.names, moments, settled, whole, tuple(words), unit)


def _moment(at: float, label: str, trace: Trace, last: Trace, drawn: Contexts, task: AbstractTask) -> Moment:
    same = trace.depth == last.depth
    nothing = (None,) * last.depth
    # Answers that overflow on the way are as far off as can be.
    if not np.isfinite(trace.w).all():
        return Moment(at, label, nothing, nothing, None, DIVERGES, 0.0)
    now, end = np.diff(trace.w, axis=0), np.diff(last.w, axis=0)
    off = tuple(_off(*each) for each in zip(now, end, strict=True)) if same else nothing
    layers = layers_of(trace, drawn)
    spread = np.abs(trace.answer - trace.answer.mean(axis=0)).max()
    if spread <= 1e-10 * max(float(np.abs(trace.answer).max()), 1e-300):
        name, share = "a constant", 1.0
    else:
        question = question_of(task, drawn, trace.answer, trace.start, trace.steps)
        told = simplest(exact_match(trace, drawn), matches(question, drawn.root))
        name, share = told.algorithm, told.share.value
    return Moment(
        at,
        label,
        off,
        tuple(each.step for each in layers) if same else nothing,
        _off(trace.answer, last.answer),
        name if share >= NEARLY else f"none (best: {name})",
        share,
    )


def _off(now: Float[np.ndarray, "B d"], end: Float[np.ndarray, "B d"]) -> float:
    whole = float((end**2).sum())
    rest = float(((now - end) ** 2).sum())
    return rest / whole if whole > 0 else float(rest > 0)


def _settled(moments: tuple[Moment, ...], off: Sequence[float | None]) -> float:
    at = moments[-1].at
    for moment, value in zip(moments[::-1], off[::-1], strict=True):
        if value is None or value > SETTLED:
            break
        at = moment.at
    return at


def _of_layer(name: str, at: float, moments: tuple[Moment, ...], off: Sequence[float | None], size: float) -> str:
    """A layer is followed by what it adds to the weight vector, which depends on the layers before it, too."""
    if size <= NOTHING:
        return f"{_capital(name)} adds nothing to the answer at the end; what else it does is not followed."
    return _sentence(f"what {name} adds to the weight vector", at, moments, off)


def _sentence(what: str, at: float, moments: tuple[Moment, ...], off: Sequence[float | None]) -> str:
    """When something comes to its end: only what the looks show, which lie between rows that nobody has seen."""
    begin, end = moments[0], moments[-1]
    called, near = _capital(what), "within 5% (squared) of what it ends as"
    index = [each.at for each in moments].index(at)
    if at == begin.at:
        return f"{called} is {near} from the first look on ({begin.label} of {end.label})."
    before = moments[index - 1]
    if off[index - 1] is None:
        why = "diverges" if before.algorithm == DIVERGES else "has other layers"
        where = "only at the end" if at == end.at else f"from {moments[index].label} on"
        return f"{called} is {near} {where} (of {end.label}); at {before.label} the network {why}."
    if at == end.at:
        return f"{called} comes {near} only after {before.label} (of {end.label})."
    return f"{called} is {near} from {moments[index].label} on (of {end.label}), and not at {before.label}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
