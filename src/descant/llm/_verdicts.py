"""The paper's claims about language models, judged on one model's answers.

Each claim is a list of effects that must all be at least as large as would be worth the name; where it is undecided,
more queries would decide it. The guess judged is `embedding`: informative, and made without the label or the model.
"""

from dataclasses import dataclass

from .._checks import Check, Verdict, at_least, verdict_of
from ._results import Results
from ._statistics import Interval, bootstrap, difference, mse, spearman, within_slope
from ._summary import VARIED

# In squared points of the scale from 0 to 5, whose labels have a variance of about 2.3; and in correlation.
LEAST_MSE = 0.05
LEAST_SPEARMAN = 0.02
# Of the guess's squared distance, as much must reach the answer.
LEAST_SLOPE = 0.05
REASON = "The least effect that would be worth the name. Bootstrap over queries and draws of demonstrations."
# The guesses that each claim is judged on.
NEEDS = {
    "a": ("none", "shuffled", "embedding"),
    "b": ("embedding",),
    "c": ("none", "random", "embedding"),
}
STATEMENTS = {
    "a": "An initial guess improves the model's answers.",
    "b": "It improves them beyond the guess itself.",
    "c": "A bad guess hurts: the error grows with the squared distance of the guess.",
}


@dataclass(frozen=True)
class Judged:
    """A claim's verdict for one model, with its numbers and the reason in words."""

    claim: str
    statement: str
    verdict: Verdict
    reason: str
    checks: tuple[Check, ...]


def verdicts(results: Results) -> list[Judged]:
    """The verdicts of the three claims."""
    return [_improves(results), _beyond(results), _hurts(results)]


def _improves(results: Results) -> Judged:
    if missing := _missing(results, "a"):
        return _unasked("a", missing)
    answer, gold = results.answer, results.gold
    checks = tuple(
        check
        for name, other in (("no guess", "none"), ("a shuffled guess", "shuffled"))
        for check in (
            _effect(
                f"squared error saved over {name}",
                bootstrap(difference(mse), answer[other], answer["embedding"], gold),
                LEAST_MSE,
            ),
            _effect(
                f"Spearman gained over {name}",
                bootstrap(difference(spearman), answer["embedding"], answer[other], gold),
                LEAST_SPEARMAN,
            ),
        )
    )
    words = {
        "holds": "With the embedding guess answers are better than without one, and better than with a guess of "
        "another pair, so it is the guess's content that helps and not the longer prompt.",
        "does-not-hold": "The embedding guess does not improve on no guess and on a shuffled one alike.",
        "undecided": "The numbers allow a gain and none.",
    }
    return _judged("a", checks, words)


def _beyond(results: Results) -> Judged:
    if missing := _missing(results, "b"):
        return _unasked("b", missing)
    answer, shown, gold = results.answer["embedding"], results.shown["embedding"], results.gold
    checks = (
        _effect("squared error saved over the guess alone", bootstrap(difference(mse), shown, answer, gold), LEAST_MSE),
        _effect(
            "Spearman gained over the guess alone",
            bootstrap(difference(spearman), answer, shown, gold),
            LEAST_SPEARMAN,
        ),
    )
    words = {
        "holds": "The model's answers with the embedding guess are better than the guess itself.",
        "does-not-hold": "The guess alone is as good as the model's answers with it, or better: what the guess gains, "
        "the model gains by copying it.",
        "undecided": "The numbers allow that the model adds to the guess, and that it does not.",
    }
    return _judged("b", checks, words)


def _hurts(results: Results) -> Judged:
    if missing := _missing(results, "c"):
        return _unasked("c", missing)
    gold = results.gold
    kinds = [kind for kind in VARIED if kind in results.guesses]
    errors = [(results.answer[kind] - gold) ** 2 for kind in kinds]
    distances = [(results.shown[kind] - gold) ** 2 for kind in kinds]
    checks = (
        _effect(
            "squared error added by a random guess",
            bootstrap(difference(mse), results.answer["random"], results.answer["none"], gold),
            LEAST_MSE,
        ),
        _effect(
            "squared error per squared distance of the guess, within queries",
            bootstrap(within_slope, *errors, *distances),
            LEAST_SLOPE,
        ),
    )
    words = {
        "holds": "A random guess makes answers worse than no guess, and for one and the same query the error grows "
        "with the squared distance of the guess, as for one step of descent from that guess.",
        "does-not-hold": "Either a random guess does no harm, or the error does not follow the distance of the guess.",
        "undecided": "The numbers allow harm and none.",
    }
    return _judged("c", checks, words)


def _effect(name: str, effect: Interval, least: float) -> Check:
    return at_least(name, effect.value, least, error=effect.error, reason=REASON)


def _judged(claim: str, checks: tuple[Check, ...], words: dict[str, str]) -> Judged:
    verdict = verdict_of(checks)
    numbers = "; ".join(
        f"{check.name} {check.value:.3f} ± {check.error:.3f} (at least {check.bound:g})" for check in checks
    )
    return Judged(claim, STATEMENTS[claim], verdict, f"{words[verdict]} {numbers[0].upper()}{numbers[1:]}.", checks)


def _missing(results: Results, claim: str) -> str:
    return ", ".join(kind for kind in NEEDS[claim] if kind not in results.guesses)


def _unasked(claim: str, missing: str) -> Judged:
    return Judged(claim, STATEMENTS[claim], "undecided", f"Not asked: {missing}.", ())
