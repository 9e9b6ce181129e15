"""Sentences for a person; they say no more than was measured."""

from dataclasses import replace

import numpy as np

from .._counted import counted
from ._explanation import CONSTANT, DIVERGES, IS, IS_NEARLY, NONE, Estimate, Explanation, OneStep
from ._layers import AtLevels, Layer
from ._match import NEARLY, ROUNDING, WEIGHTS
from ._regression import Fit, Share
from ._spelled import CLEARLY, NO_PENALTY, called, give, parameters, percent, polynomial
from ._trace import MERGED

# Parts below these shares are left out of a sentence.
TOLD, MOMENTUM_TOLD = 0.01, 0.02
# A layer "is" what explains so much of it, is "mostly" that, or is something else.
ALL, MOSTLY = 0.99, 0.75
NOTHING = 1e-9
# Answers of which a linear function of the query leaves no more than this are linear, but for rounding.
ROUNDED = 1e-9
# A ridge regression that explains less than this is not told.
NEAR_AT_ALL = 0.5


def layer_sentence(layer: Layer) -> str:
    """One sentence for one layer."""
    name = layer.name
    if layer.size <= NOTHING:
        does = f"preconditions the inputs with {_matrix_told(layer.m)}" if layer.m is not None else ""
        mixes = "mixes labels into the inputs" if layer.u is not None else ""
        also = " and ".join(each for each in (does, mixes) if each)
        return f"{name} leaves the answer as it is" + (f"; it {also}." if also else ".")
    if layer.gradient + layer.momentum <= NOTHING:
        shrunk = _at_levels(layer.shrinkage, ", ", "shrunk by", "grown by")
        return f"{name} only rescales the answer{shrunk}."
    if layer.share.value < MOSTLY:
        way, size = _step(layer)
        best = f"the best one, {'an ascent ' if way == 'ascent' else ''}of size {size}"
        explained = percent(layer.share) if layer.share.value > 0 else "nothing"
        return f"{name} is no gradient step that we know: {best}, explains {explained} of its update."
    step = " of size ".join(_step(layer))
    if layer.shrinking > layer.gradient + layer.momentum:
        # The largest part first: a step may be next to nothing beside it.
        shrunk = _at_levels(layer.shrinkage, ", ", "shrunk by", "grown by")
        return (
            f"{name} mostly rescales the answer{shrunk} (square {layer.shrinking:.2g} of the update's); its gradient "
            f"{step} has {layer.gradient:.1g} ({percent(layer.share)} of its update together)."
        )
    words = f"{name} is {'a' if layer.share.value >= ALL else 'mostly a'} gradient {step}"
    if layer.before is not None:
        words += f" after preconditioning with {_matrix_told(layer.before)}"
    if layer.momentum >= MOMENTUM_TOLD:
        # Squares of parts, which may point against each other: more than 1 says that they cancel.
        how = "and, with it," if layer.momentum >= layer.gradient else "with"
        words += (
            f", {how} a momentum along the labels in its inputs (squares {layer.gradient:.2g} and {layer.momentum:.2g} "
            "of the update's)"
        )
    if "memory less decay" in layer.own:
        number = give(layer.own["memory less decay"], layer.errors.get("memory", 0.0))
        words += f", with momentum less shrinkage {number}, which are one at a second step from zero"
    elif layer.memory is not None:
        words += f", with momentum {give(layer.memory, layer.errors.get('memory', 0.0))}"
    if layer.decay is not None:
        less = "shrunk" if layer.decay >= 0 else "grown"
        words += f", {less} by {give(100 * abs(layer.decay), 100 * layer.errors.get('decay', 0.0), '%')}"
    words += _at_levels(layer.shrinkage, ", ", "shrunk by", "grown by")
    words += _at_levels(layer.damping, "; it ", "damps the labels by", "amplifies the labels by")
    return f"{words} ({percent(layer.share)} of its update)."


def _matrix_told(m: Fit) -> str:
    """A preconditioner by powers of S, where these are what it is made of."""
    if m.share.value >= ALL:
        return polynomial(m)
    if m.share.value >= MOSTLY:
        return f"about {polynomial(m)}"
    explained = percent(m.share) if m.share.value > 0 else "nothing"
    return f"a matrix that is not made of powers of S (they explain {explained} of what it adds to I)"


def _step(layer: Layer) -> tuple[str, str]:
    """A step down the gradient, or up it, and its size; one that may as well go down is not said to go up."""
    size = (layer.step or 0.0) + 0.0  # no minus before nothing
    upwards = size < -CLEARLY * layer.step_error
    return "ascent" if upwards else "step", give(-size if upwards else size, layer.step_error)


def _at_levels(numbers: AtLevels, lead: str, less: str, more: str) -> str:
    """Shrunk by 12% at sigma = 3 (and by 4% at sigma = 1): the largest level first; what is small is left out."""
    if not numbers or max(abs(value) for _, value, _ in numbers) < TOLD:
        return ""
    ordered = [numbers[-1], *numbers[:1]] if len(numbers) > 1 else [*numbers]
    told, way = [], ""
    for sigma, value, error in ordered:
        # What may as well be zero goes the way of the level before.
        turned = not way or abs(value) > CLEARLY * error
        now = (less if value >= 0 else more) if turned else way
        size = give(100 * (value if now == less else -value), 100 * error, "%")
        where = " on average" if sigma is None else f" at σ = {sigma:.3g}"
        told.append((f"{now} " if now != way else "") + size + where)
        way = now
    return lead + " and ".join(told)


def whole_sentence(found: Explanation) -> str:
    """What the model is, in one sentence."""
    match = found.match
    if found.verdict == DIVERGES or match is None:
        often = f"on {100 * found.left_out:.3g}% of the contexts its answer is"
        return f"{found.model} diverges: {often} no number, or more than ten times as long as usual."
    if found.verdict == CONSTANT:
        return f"{found.model} answers the same whatever the context is: it has learnt nothing from contexts."
    who, does = _who(found)
    if found.verdict == IS:
        source = "read off its weights" if match.method == WEIGHTS else "as its answers show, to rounding"
        return f"{who} is {called(match)}: {parameters(match)} ({source})."
    share = percent(match.share)
    if found.verdict == IS_NEARLY:
        fitted = "" if match.method == WEIGHTS else f", with {counted(match.numbers, 'number')} fitted"
        return f"{who} is nearly {called(match)}: {parameters(match)}; that is {share} of {does}{fitted}."
    # A share that may as well be zero, or below, is that of one that is no better than a constant.
    of = "" if _is_linear(found, 1 - match.share.value) else " of its linear part"
    best = f"best: {called(match)}, {share}{of}" if _clear(match.share) else "nor near any"
    return f"{found.model} is none of the algorithms that we know ({best})."


def _who(found: Explanation) -> tuple[str, str]:
    """Of whom an algorithm is told, and what it is a share of: where answers are not linear, of their linear part."""
    if _is_linear(found, 1 - NEARLY if found.verdict == IS_NEARLY else ROUNDED):
        return found.model, "what it does"
    return f"the linear part of {found.model}", "it"


def _clear(share: Share) -> bool:
    return share.value > CLEARLY * share.error


def _is_linear(found: Explanation, left: float) -> bool:
    return found.linearity is None or 1 - found.linearity.share.value <= left


def more_sentences(found: Explanation) -> tuple[str, ...]:
    """What else there is to say, the layers first."""
    words = [layer.sentence for layer in found.layers] if len(found.layers) > 1 or found.match is None else []
    if found.not_told_apart and found.match is not None:
        others = ", ".join(found.not_told_apart)
        # The others leave less than a thousandth, and may still leave a thousand times as much.
        words.append(f"On these contexts it can hardly be told from: {others}.")
    words += _of_others(found)
    # Of one level, what the model is says it all.
    if found.penalties and (found.verdict != IS or len(found.penalties) > 1):
        words.append(_of_penalties(found))
    if found.one_step is not None and found.one_step.start_off is not None:
        words.append(_beside(found.one_step))
        # Of others than a single layer, the share has told it.
        if found.how == MERGED and found.one_step.others > TOLD:
            words.append(f"{100 * found.one_step.others:.2g}% of its weights (squares) are neither start nor Gamma.")
    if found.directions is not None:
        words += _of_directions(found)
    if found.linearity is not None:
        asked = f"({found.linearity.queries} queries a context)"
        words.append(
            f"Its answers are linear in the query to {percent(found.linearity.share)} {asked}."
            if found.linearity.share.value > 0
            else f"Its answers are nothing like linear in the query {asked}."
        )
    if found.estimators and found.verdict != IS:
        words.append(_of_estimators(found.estimators[0], exactly=_is_linear(found, ROUNDED)))
    if found.left_out > 0:
        words.append(
            f"Left out are {100 * found.left_out:.3g}% of the contexts, on which its answer is no number, or more than "
            "ten times as long as usual."
        )
    return tuple(words)


def _of_others(found: Explanation) -> list[str]:
    """Where more steps were not tried, and where one of more numbers comes nearer."""
    match, words = found.match, []
    if match is None:
        return []
    if match.at_edge:
        words.append(f"No more than {match.parameters['steps']} steps were tried: it may take more.")
    if match.method != WEIGHTS and "scale" in match.parameters and found.verdict != NONE:
        steps = 2 ** match.parameters["steps"]
        words.append(
            f"So many doublings answer as {steps} steps of gradient descent on the same ridge loss do: only weights "
            "could tell which they are."
        )
    nearest = found.matches[0] if found.matches else match
    if match.method != WEIGHTS and nearest.numbers > match.numbers and 2 * nearest.distance**2 < match.distance**2:
        words.append(f"With more numbers, {nearest.algorithm} comes nearer: {percent(nearest.share)}.")
    return words


def _of_estimators(best: Estimate, *, exactly: bool) -> str:
    """The nearest estimator, which a model may well be that is none of the algorithms."""
    if exactly and 1 - best.share.value <= ROUNDING:
        return f"It answers as the estimator {best.name} does, to rounding."
    if not _clear(best.share):
        return "None of the estimators that we know is near it."
    return f"Of the estimators that we know, {best.name} is nearest ({percent(best.share)})."


def _of_penalties(found: Explanation) -> str:
    """Penalties where a ridge regression is near at all."""
    near = [
        f"{give(each.penalty, each.error) if each.penalty > NO_PENALTY else 'zero'} at σ = {each.sigma:.3g} "
        f"({_right(each.right)}{percent(each.share)})"
        for each in found.penalties
        if each.share.value >= NEAR_AT_ALL
    ]
    far = [f"σ = {each.sigma:.3g}" for each in found.penalties if each.share.value < NEAR_AT_ALL]
    words = [f"The nearest ridge regression has the penalty {', '.join(near)}."] if near else []
    return " ".join([*words, *([f"No ridge regression is near it at {', '.join(far)}."] if far else [])])


def _right(penalty: float | None) -> str:
    return "" if penalty is None else f"right would be {penalty:.3g}; "


def _beside(step: OneStep) -> str:
    start, gamma = (
        f"the same {what}" if (off or 0.0) < 1e-6 else f"a {what} that {_off(off or 0.0, nothing)}"
        for what, off, nothing in (
            ("start", step.start_off, not any(step.true_start or ())),
            ("Gamma", step.gamma_off, False),
        )
    )
    return f"The best single step on this task has {start} and {gamma}."


def _off(off: float, from_zero: bool) -> str:
    """A share of what it is beside, or a distance where that is zero."""
    return f"is zero, {off:.2g} away" if from_zero else f"differs by {float(f'{100 * off:.2g}'):g}%"


def _of_directions(found: Explanation) -> list[str]:
    directions = found.directions
    if directions is None or directions.beside_diagonal < 1e-6:
        return []
    words = [
        f"{100 * directions.beside_diagonal:.2g}% of its weights (squares, in the tokens' units) are not diagonal."
    ]
    for each in directions.singled_out:
        largest = int(np.argmax(np.abs(each.vector)))
        near = f"x{largest + 1}" if abs(each.vector[largest]) > 0.99 else "a mixture of inputs"
        carried = "; ".join(
            f"after {layer.name} {words}" for layer, words in zip(found.layers[:-1], each.words[:-1], strict=True)
        )
        words.append(
            f"It singles out {near} ({100 * each.share:.2g}% of that), which carries {carried or 'nothing yet'}."
        )
    if not directions.singled_out:
        words.append("No direction of the inputs stands out among them.")
    return words


def with_words(found: Explanation) -> Explanation:
    """The same with its sentences."""
    layers = tuple(replace(each, sentence=_capital(layer_sentence(each))) for each in found.layers)
    found = replace(found, layers=layers)
    # A name of somebody's code is spelt as it is.
    begin = str if ":" in found.model else _capital
    found = replace(found, sentence=begin(whole_sentence(found)))
    return replace(found, sentences=tuple(_capital(each) for each in more_sentences(found)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
