"""The paper's claims about language models, judged on one model's answers.

Each claim is a list of effects that must all be there. An effect is there if it is larger than its tolerance, the least
that would be worth the name, by three standard errors or more, and it is not if it is smaller by as much: the rule of
the report's checks. A claim holds if all its effects are there, does not hold if one is not, and is undecided else:
more queries would decide it. The guess judged is `embedding`: informative, and made without the label or the model.
"""

from dataclasses import dataclass

from ._results import Results
from ._statistics import Interval, bootstrap, difference, mse, spearman, within_slope
from ._summary import VARIED

# The number of standard errors of the report's checks.
Z = 3.0
# In squared points of the scale from 0 to 5, whose labels have a variance of about 2.3; and in correlation.
MSE_TOLERANCE = 0.05
SPEARMAN_TOLERANCE = 0.02
# Of the guess's squared distance, as much must reach the answer.
SLOPE_TOLERANCE = 0.05
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
class Check:
    """An effect that a claim needs, and the least that would count."""

    name: str
    effect: Interval
    tolerance: float

    @property
    def state(self) -> str:
        """Whether the number is for the claim, against it, or neither. NaN is against it: nothing was shown."""
        slack = Z * self.effect.error
        if self.effect.value - slack >= self.tolerance:
            return "for"
        return "open" if self.effect.value + slack >= self.tolerance else "against"


@dataclass(frozen=True)
class Verdict:
    """A claim's verdict for one model, with its numbers and the reason in words."""

    claim: str
    statement: str
    verdict: str
    reason: str
    checks: tuple[Check, ...]


def verdicts(results: Results) -> list[Verdict]:
    """The verdicts of the three claims."""
    return [_improves(results), _beyond(results), _hurts(results)]


def _improves(results: Results) -> Verdict:
    if missing := _missing(results, "a"):
        return _unasked("a", missing)
    answer, gold = results.answer, results.gold
    checks = tuple(
        check
        for name, other in (("no guess", "none"), ("a shuffled guess", "shuffled"))
        for check in (
            Check(
                f"squared error saved over {name}",
                bootstrap(difference(mse), answer[other], answer["embedding"], gold),
                MSE_TOLERANCE,
            ),
            Check(
                f"Spearman gained over {name}",
                bootstrap(difference(spearman), answer["embedding"], answer[other], gold),
                SPEARMAN_TOLERANCE,
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


def _beyond(results: Results) -> Verdict:
    if missing := _missing(results, "b"):
        return _unasked("b", missing)
    answer, shown, gold = results.answer["embedding"], results.shown["embedding"], results.gold
    checks = (
        Check(
            "squared error saved over the guess alone", bootstrap(difference(mse), shown, answer, gold), MSE_TOLERANCE
        ),
        Check(
            "Spearman gained over the guess alone",
            bootstrap(difference(spearman), answer, shown, gold),
            SPEARMAN_TOLERANCE,
        ),
    )
    words = {
        "holds": "The model's answers with the embedding guess are better than the guess itself.",
        "does-not-hold": "The guess alone is as good as the model's answers with it, or better: what the guess gains, "
        "the model gains by copying it.",
        "undecided": "The numbers allow that the model adds to the guess, and that it does not.",
    }
    return _judged("b", checks, words)


def _hurts(results: Results) -> Verdict:
    if missing := _missing(results, "c"):
        return _unasked("c", missing)
    gold = results.gold
    kinds = [kind for kind in VARIED if kind in results.guesses]
    errors = [(results.answer[kind] - gold) ** 2 for kind in kinds]
    distances = [(results.shown[kind] - gold) ** 2 for kind in kinds]
    checks = (
        Check(
            "squared error added by a random guess",
            bootstrap(difference(mse), results.answer["random"], results.answer["none"], gold),
            MSE_TOLERANCE,
        ),
        Check(
            "squared error per squared distance of the guess, within queries",
            bootstrap(within_slope, *errors, *distances),
            SLOPE_TOLERANCE,
        ),
    )
    words = {
        "holds": "A random guess makes answers worse than no guess, and for one and the same query the error grows "
        "with the squared distance of the guess, as for one step of descent from that guess.",
        "does-not-hold": "Either a random guess does no harm, or the error does not follow the distance of the guess.",
        "undecided": "The numbers allow harm and none.",
    }
    return _judged("c", checks, words)


def _judged(claim: str, checks: tuple[Check, ...], words: dict[str, str]) -> Verdict:
    states = [check.state for check in checks]
    verdict = "does-not-hold" if "against" in states else "holds" if set(states) == {"for"} else "undecided"
    numbers = "; ".join(
        f"{check.name} {check.effect.value:.3f} ± {check.effect.error:.3f} (at least {check.tolerance:g})"
        for check in checks
    )
    return Verdict(claim, STATEMENTS[claim], verdict, f"{words[verdict]} {numbers[0].upper()}{numbers[1:]}.", checks)


def _missing(results: Results, claim: str) -> str:
    return ", ".join(kind for kind in NEEDS[claim] if kind not in results.guesses)


def _unasked(claim: str, missing: str) -> Verdict:
    return Verdict(claim, STATEMENTS[claim], "undecided", f"Not asked: {missing}.", ())
