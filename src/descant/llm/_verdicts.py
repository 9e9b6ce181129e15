"""What is claimed of language models, judged on one model's answers.

Each claim is a list of effects that must all be at least as large as would be worth the name: over all wordings, and in
the wording that was chosen on other queries because the model knows most in it. Where a claim is undecided, more
queries, draws or wordings would decide it. The guess judged is `embedding`: informative, and made without the label or
the model.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._checks import CONTROL, Check, Verdict, at_least, verdict_of
from ._ensemble import cross_fitted
from ._statistics import LEAST_DRAWS, Interval, copied, difference, mse, spearman, within_slope
from ._study import Study
from ._summary import VARIED

# In squared points of a scale, whose labels vary by about a tenth of its squared width; and in correlation.
LEAST_MSE = 0.002
LEAST_SPEARMAN = 0.02
# Of the guess's squared distance, as much must reach the answer.
LEAST_SLOPE = 0.05
# What a model knows without a guess, below which nothing can be taken from it; and the least that is destroyed.
LEAST_KNOWN, LEAST_DISPLACED = 0.1, 0.05
# Fewer queries say nothing, whatever their standard errors are.
LEAST_QUERIES = 30
REASON = "The least effect that would be worth the name. The error is over queries and draws, and wordings if several."
# The guesses that each claim is judged on.
NEEDS = {
    "a": ("none", "shuffled", "embedding"),
    "b": ("embedding",),
    "c": ("none", "random", "embedding"),
    "displaced": ("none", "shuffled"),
    "ensemble": ("none", "embedding"),
}
# What each claim says, in a sentence.
STATEMENTS = {
    "a": "An initial guess improves the model's answers.",
    "b": "It improves them beyond the guess itself.",
    "c": "A bad guess hurts: the error grows with the squared distance of the guess.",
    "displaced": "A wrong guess destroys what the model knows without one.",
    "ensemble": "The model beats the regression of the label on the guess and on its answer without one.",
}


@dataclass(frozen=True)
class Judged:
    """A claim's verdict for one model, with its numbers and the reason in words."""

    claim: str
    statement: str
    verdict: Verdict
    reason: str
    checks: tuple[Check, ...]


def verdicts(study: Study) -> list[Judged]:
    """The verdicts of all claims."""
    return [_judge(study, name, checks, words) for name, (checks, words) in _CLAIMS.items()]


def near_chance(study: Study) -> bool:
    """Whether nothing worth the name is seen to be known without a guess, in the wording that was chosen for it."""
    if "none" not in study.guesses:
        return False
    return unaided(study.only(study.chosen)).low < LEAST_KNOWN


def unaided(study: Study) -> Interval:
    """The Spearman correlation of the answers without a guess."""
    return study.estimate(spearman, study.answer("none"), study.gold)


def _improves(study: Study) -> tuple[Check, ...]:
    return tuple(
        check
        for name, other in (("no guess", "none"), ("a shuffled guess", "shuffled"))
        for check in _better(study, name, ("embedding", other))
    )


def _better(study: Study, name: str, kinds: tuple[str, str]) -> tuple[Check, Check]:
    answer, other, gold = study.answer(kinds[0]), study.answer(kinds[1]), study.gold
    return (
        _effect(study, f"squared error saved over {name}", study.estimate(difference(mse), other, answer, gold)),
        _effect(
            study,
            f"Spearman gained over {name}",
            study.estimate(difference(spearman), answer, other, gold),
            LEAST_SPEARMAN,
        ),
    )


def _beyond(study: Study) -> tuple[Check, ...]:
    answer, shown, gold = study.answer("embedding"), study.shown("embedding"), study.gold
    return (
        _effect(
            study, "squared error saved over the guess alone", study.estimate(difference(mse), shown, answer, gold)
        ),
        _effect(
            study,
            "Spearman gained over the guess alone",
            study.estimate(difference(spearman), answer, shown, gold),
            LEAST_SPEARMAN,
        ),
    )


def _hurts(study: Study) -> tuple[Check, ...]:
    gold = study.gold
    kinds = [kind for kind in VARIED if kind in study.guesses]
    errors = [(study.answer(kind) - gold) ** 2 for kind in kinds]
    distances = [(study.shown(kind) - gold) ** 2 for kind in kinds]
    return (
        _effect(
            study,
            "squared error added by a random guess",
            study.estimate(difference(mse), study.answer("random"), study.answer("none"), gold),
        ),
        _effect(
            study,
            "squared error per squared distance of the guess, within queries",
            study.estimate(within_slope, *errors, *distances),
            LEAST_SLOPE,
        ),
    )


def _displaces(study: Study) -> tuple[Check, ...]:
    known = unaided(study)
    return (
        replace(_effect(study, "Spearman without a guess", known, LEAST_KNOWN), against=CONTROL, reason=_NOTHING),
        _effect(study, "Spearman lost by a shuffled guess", displaced(study), LEAST_DISPLACED),
    )


_NOTHING = "Where nothing is known, nothing can be destroyed, and nothing is decided."


def displaced(study: Study, kind: str = "shuffled") -> Interval:
    """How much of the Spearman correlation without a guess is lost with a wrong one."""
    return study.estimate(difference(spearman), study.answer("none"), study.answer(kind), study.gold)


def _beats(study: Study) -> tuple[Check, ...]:
    gold, together = study.gold, study.first.asked.together
    guess, without, answer = study.shown("embedding"), study.answer("none"), study.answer("embedding")
    ensemble = cross_fitted(gold, guess, without, together=together)
    # Its answers are put on the scale by a line of their own, as the ensemble is.
    lined = cross_fitted(gold, answer, together=together)
    return (
        _effect(
            study,
            "squared error saved over the ensemble, both on a line",
            study.estimate(difference(mse), ensemble, lined, gold),
        ),
        _effect(
            study,
            "Spearman gained over the ensemble",
            study.estimate(difference(spearman), answer, ensemble, gold),
            LEAST_SPEARMAN,
        ),
    )


_CLAIMS: dict[str, tuple[Callable[[Study], tuple[Check, ...]], dict[str, str]]] = {
    "a": (
        _improves,
        {
            "holds": "With the embedding guess answers are better than without one, and better than with a guess of "
            "another pair, so it is the guess's content that helps and not the longer prompt.",
            "does-not-hold": "The embedding guess does not improve on no guess and on a shuffled one alike.",
            "undecided": "The numbers allow a gain and none.",
        },
    ),
    "b": (
        _beyond,
        {
            "holds": "The model's answers with the embedding guess are better than the guess itself.",
            "does-not-hold": "The guess alone is as good as the model's answers with it, or better: nothing is seen of "
            "the model but that it passes the guess on.",
            "undecided": "The numbers allow that the model adds to the guess, and that it does not.",
        },
    ),
    "c": (
        _hurts,
        {
            "holds": "A random guess makes answers worse than no guess, and for one and the same query the error grows "
            "with the squared distance of the guess, as for one step of descent from that guess.",
            "does-not-hold": "Either a random guess does no harm, or the error does not follow the distance of the "
            "guess.",
            "undecided": "The numbers allow harm and none.",
        },
    ),
    "displaced": (
        _displaces,
        {
            "holds": "With the guess of another pair the model's answers lose a part of what they had without one.",
            "does-not-hold": "With the guess of another pair the model's answers keep what they had without one.",
            "undecided": "Nothing is decided: too little is known without a guess, or the numbers allow a loss and "
            "none.",
        },
    ),
    "ensemble": (
        _beats,
        {
            "holds": "With the guess in its prompt the model is better than a line through the guess and its answer "
            "without one.",
            "does-not-hold": "A line through the guess and the model's answer without one is as good as the model with "
            "the guess in its prompt, or better.",
            "undecided": "The numbers allow that the model beats the ensemble, and that it does not.",
        },
    ),
}
# What is destroyed can only be seen where something is known.
_CHOSEN_ALONE = ("displaced",)


def _judge(study: Study, name: str, effects: Callable[[Study], tuple[Check, ...]], words: dict[str, str]) -> Judged:
    missing = ", ".join(kind for kind in NEEDS[name] if kind not in study.guesses)
    why = f"Not asked: {missing}." if missing else _too_few(study, NEEDS[name])
    if why:
        return Judged(name, STATEMENTS[name], "undecided", why, ())
    checks: tuple[Check, ...] = ()
    several = len(study.wordings) > 1
    if name not in _CHOSEN_ALONE or not several:
        checks += effects(study)
    if several:
        own = effects(study.only(study.chosen))
        checks += tuple(replace(check, name=f"{check.name}, wording {study.chosen}") for check in own)
    verdict = verdict_of(checks)
    numbers = "; ".join(
        f"{check.name} {check.value:.3f} ± {check.error:.3f} (at least {check.bound:g})" for check in checks
    )
    reason = f"{words[verdict]} {numbers[0].upper()}{numbers[1:]}."
    if name == "a" and near_chance(study):
        reason += (
            f" Without a guess the correlation of the model's answers with the label is not shown to be above "
            f"{LEAST_KNOWN:g}, in the wording that was chosen for it: all that can be seen here is that it passes a "
            "guess on."
        )
    return Judged(name, STATEMENTS[name], verdict, reason, checks)


def _too_few(study: Study, kinds: tuple[str, ...]) -> str:
    """A sentence if too few queries were answered, in all wordings and with all these guesses; else nothing."""
    whole = np.all([np.isfinite(study.answer(kind)).all(axis=(0, 2)) for kind in kinds], axis=0)
    together = study.first.asked.together
    queries, draws = int(whole.sum()), len(np.unique(np.flatnonzero(whole) // together))
    if queries < LEAST_QUERIES:
        return f"Judged on {LEAST_QUERIES} queries or more that were answered throughout; there are {queries}."
    if draws < LEAST_DRAWS:
        return (
            f"Judged on {LEAST_DRAWS} draws of demonstrations or more; there are {draws}, each shared by "
            f"{together} queries."
        )
    return ""


def _effect(study: Study, name: str, effect: Interval, least: float | None = None) -> Check:
    bound = LEAST_MSE * study.first.asked.width**2 if least is None else least
    # NaN: an effect without a value has not been shown.
    freedom = effect.freedom if effect.freedom == effect.freedom and effect.freedom < 1e6 else None
    return at_least(name, effect.value, bound, error=effect.error, freedom=freedom, reason=REASON)


def copied_share(study: Study, kind: str) -> Interval:
    """How much of a guess is copied."""
    return study.estimate(copied, study.answer(kind), study.shown(kind), study.gold)
