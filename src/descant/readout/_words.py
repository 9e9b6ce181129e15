"""Sentences for a person; they say no more than was measured."""

from dataclasses import replace

import numpy as np

from ._explanation import CONSTANT, DIVERGES, IS, IS_NEARLY, Explanation, OneStep
from ._layers import AtLevels, Layer
from ._match import WEIGHTS, Match
from ._regression import Fit, Share

# Parts below these shares are left out of a sentence.
TOLD, MOMENTUM_TOLD = 0.01, 0.02
# A layer "is" what explains so much of it, is "mostly" that, or is something else.
ALL, MOSTLY = 0.99, 0.75
NOTHING = 1e-9
# A ridge regression that explains less than this is not told.
NEAR_AT_ALL = 0.5
# Less than this can't be told from none.
NO_PENALTY = 1e-6


def percent(share: Share, *, error: bool = True) -> str:
    """A share as a percentage, to the figures that its error leaves; never 100% unless it is all but rounding."""
    value, spread = 100 * share.value, 100 * share.error
    if share.value > 1 - 1e-12:
        return "100%"
    digits = min(6, max(0, int(np.ceil(-np.log10(max(spread, 1e-6))))))
    text = f"{value:.{digits}f}%"
    if text.startswith("100"):
        return "more than 99.9999%" if digits >= 6 else f"more than {100 - 10.0**-digits:.{digits}f}%"
    return f"{text} ± {float(f'{spread:.1g}'):g}%" if error and spread >= 1e-6 else text


def polynomial(fit: Fit | None) -> str:
    """I - 0.21 S, in words; "" for the identity."""
    if fit is None:
        return ""
    coefficients = dict(zip(fit.terms, fit.coefficients, strict=True))
    terms = [(1 + coefficients.get("I", 0.0), "I"), *((coefficients[name], name) for name in fit.terms if name != "I")]
    text = ""
    for number, name in terms:
        size = f"{abs(number):.3g}"
        shown = name if name == "I" and size == "1" else f"{size} {name}"
        text += (f" {'-' if number < 0 else '+'} " if text else ("-" if number < 0 else "")) + shown
    return text


def layer_sentence(layer: Layer) -> str:
    """One sentence for one layer."""
    name = layer.name
    if layer.size <= NOTHING:
        does = f"preconditions the inputs with {polynomial(layer.m)}" if layer.m is not None else ""
        mixes = "mixes labels into the inputs" if layer.u is not None else ""
        also = " and ".join(each for each in (does, mixes) if each)
        return f"{name} leaves the answer as it is" + (f"; it {also}." if also else ".")
    if layer.gradient + layer.momentum <= NOTHING:
        shrunk = _at_levels(layer.shrinkage, ", shrunk by", ", grown by")
        return f"{name} only rescales the answer{shrunk}."
    if layer.share.value < MOSTLY:
        return (
            f"{name} is no gradient step that we know: the best one, of size {layer.step:.3g}, explains "
            f"{percent(layer.share)} of its update."
        )
    step = (
        f"step of size {layer.step:.3g}" if (layer.step or 0.0) >= 0 else f"ascent of size {-(layer.step or 0.0):.3g}"
    )
    if layer.shrinking > layer.gradient + layer.momentum:
        # The largest part first: a step may be next to nothing beside it.
        shrunk = _at_levels(layer.shrinkage, ", shrunk by", ", grown by")
        return (
            f"{name} mostly rescales the answer{shrunk} (square {layer.shrinking:.2g} of the update's); its gradient "
            f"{step} has {layer.gradient:.1g} ({percent(layer.share)} of its update together)."
        )
    words = f"{name} is {'a' if layer.share.value >= ALL else 'mostly a'} gradient {step}"
    if layer.before is not None:
        about = "" if layer.before.share.value >= ALL else "about "
        words += f" after preconditioning with {about}{polynomial(layer.before)}"
    if layer.momentum >= MOMENTUM_TOLD:
        # Squares of parts, which may point against each other: more than 1 says that they cancel.
        how = "and, with it," if layer.momentum >= layer.gradient else "with"
        words += (
            f", {how} a momentum along the labels in its inputs (squares {layer.gradient:.2g} and {layer.momentum:.2g} "
            "of the update's)"
        )
    if layer.memory is not None:
        words += f", with momentum {layer.memory:.3g}"
    if layer.decay is not None:
        words += f", shrunk by {100 * layer.decay:.3g}%"
    words += _at_levels(layer.shrinkage, ", shrunk by", ", grown by")
    words += _at_levels(layer.damping, "; it damps the labels by", "; it amplifies the labels by")
    return f"{words} ({percent(layer.share)} of its update)."


def _at_levels(numbers: AtLevels, less: str, more: str) -> str:
    """Shrunk by 12% at sigma = 3 (and by 4% at sigma = 1): the largest level first; what is small is left out."""
    if not numbers or max(abs(value) for _, value, _ in numbers) < TOLD:
        return ""
    sign = 1 if numbers[-1][1] >= 0 else -1
    (sigma, value, _), *others = numbers[::-1]
    words = f"{less if sign > 0 else more} {100 * sign * value:.3g}% at σ = {sigma:.3g}"
    if others:
        sigma, value, _ = others[-1]
        words += f" and {100 * sign * value:.3g}% at σ = {sigma:.3g}"
    return words


def parameters(match: Match) -> str:
    """The numbers of an algorithm, in words."""
    told, words = match.parameters, []
    steps = told.get("steps")
    if isinstance(told.get("step"), list):
        words.append(f"{len(told['step'])} steps of sizes {', '.join(f'{each:.3g}' for each in told['step'])}")
    elif "step" in told:
        words.append(
            f"{steps} steps of size {told['step']:.3g}" if steps != 1 else f"one step of size {told['step']:.3g}"
        )
    elif steps and "scale" not in told:
        words.append(f"{steps} steps")
    if isinstance(told.get("contraction"), list):
        words.append(f"contractions {', '.join(f'{each:.3g}' for each in told['contraction'])}")
    if "momentum" in told:
        words.append(f"momentum {told['momentum']:.3g}")
    if "odds" in told:
        words.append(f"noise levels {told['low']:.3g} and {told['high']:.3g}")
    elif "low" in told:
        words.append(f"for eigenvalues of S between {told['low']:.3g} and {told['high']:.3g}")
    if "scale" in told:
        words.append(f"{steps} doublings from {told['scale']:.3g} I")
    if "penalty" in told:
        none = "no penalty: least squares" if match.algorithm == "ridge regression" else "no penalty"
        words.append(f"penalty {told['penalty']:.3g}" if told["penalty"] > NO_PENALTY else none)
    if "gamma" in told:
        values = np.sort(np.linalg.eigvals(np.array(told["gamma"])).real)[::-1]
        words.append(f"a matrix with eigenvalues from {values[-1]:.3g} to {values[0]:.3g}")
    if "start" in told:
        words.append("from a start of length " + f"{np.linalg.norm(told['start']):.3g}")
    return ", ".join(words)


def whole_sentence(found: Explanation) -> str:
    """What the model is, in one sentence."""
    match = found.match
    if found.verdict == DIVERGES or match is None:
        often = f"on {100 * found.left_out:.3g}% of the contexts its answer is"
        return f"{found.model} diverges: {often} no number, or more than ten times as long as usual."
    if found.verdict == CONSTANT:
        return f"{found.model} answers the same whatever the context is: it has learnt nothing from contexts."
    if found.verdict == IS:
        source = "read off its weights" if match.method == WEIGHTS else "as its answers show, to rounding"
        return f"{found.model} is {match.algorithm}: {parameters(match)} ({source})."
    share = percent(match.share)
    if found.verdict == IS_NEARLY:
        return f"{found.model} is nearly {match.algorithm}: {parameters(match)}; that is {share} of what it does."
    return f"{found.model} is none of the algorithms that we know (best: {match.algorithm}, {share})."


def more_sentences(found: Explanation) -> tuple[str, ...]:
    """What else there is to say, the layers first."""
    words = [layer.sentence for layer in found.layers] if len(found.layers) > 1 or found.match is None else []
    if found.not_told_apart and found.match is not None:
        others = ", ".join(found.not_told_apart)
        words.append(f"On these contexts it can't be told from: {others}.")
    words += _of_others(found)
    # Of one level, what the model is says it all.
    if found.penalties and (found.verdict != IS or len(found.penalties) > 1):
        words.append(_of_penalties(found))
    if found.one_step is not None and found.one_step.start_off is not None:
        words.append(_beside(found.one_step))
    if found.directions is not None:
        words += _of_directions(found)
    if found.linearity is not None:
        words.append(
            f"Its answers are linear in the query to {percent(found.linearity.share)} "
            f"({found.linearity.queries} queries a context)."
        )
    if found.estimators and found.verdict != IS:
        best = found.estimators[0]
        words.append(
            f"Of the estimators that we know, {best.name} is nearest ({percent(best.share)})."
            if best.share.value > 0
            else "None of the estimators that we know is near it."
        )
    if found.left_out > 0:
        words.append(
            f"Left out are {100 * found.left_out:.2g}% of the contexts, on which its answer is no number, or more than "
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
    nearest = found.matches[0] if found.matches else match
    if match.method != WEIGHTS and nearest.numbers > match.numbers and 2 * nearest.distance**2 < match.distance**2:
        words.append(f"With more numbers, {nearest.algorithm} comes nearer: {percent(nearest.share)}.")
    return words


def _of_penalties(found: Explanation) -> str:
    """Penalties where a ridge regression is near at all."""
    near = [
        f"{each.penalty:.3g} at σ = {each.sigma:.3g} ({_right(each.right)}{percent(each.share)})"
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
    found = replace(found, sentence=_capital(whole_sentence(found)))
    return replace(found, sentences=tuple(_capital(each) for each in more_sentences(found)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
