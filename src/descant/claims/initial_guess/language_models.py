"""What the paper says of language models, for every model whose answers are on disk (`descant llm sts`); else nothing.

A claim's name holds the number of answers it is judged on: with more answers it is another judgement.
"""

import re

from ...llm import (
    NEEDS,
    STATEMENTS,
    DistanceRow,
    Found,
    Interval,
    ShotsRow,
    by_distance,
    by_shots,
    found,
    guessed_risk,
    remaining_share,
    summary,
    verdicts,
)
from .. import Axis, Evidence, Figure, Lab, Panel, Series, Table, at_least, claim

NAMES = {"a": "guess-helps", "b": "beyond-the-guess", "c": "bad-guess-hurts"}
TITLES = {
    "a": "An initial guess improves {name}'s answers",
    "b": "{name} improves on the guess itself",
    "c": "A bad guess hurts {name} as it hurts linear attention",
}
REFUTED = {
    "a": "Answers that are no better with an informative guess than without one, "
    "or than with the guess of another pair.",
    "b": "A guess that is, alone, as good as the model's answers with it.",
    "c": "Random guesses that do no harm, or errors that don't follow the distance of the guess.",
}
REASON = "The least effect that would be worth the name. Bootstrap over queries and draws of demonstrations."
METHOD = """
    Pairs of sentences of the STS benchmark are scored from 0 to 5 after labelled demonstrations, {draws}, with and
    without a guess in the prompt. The answer is the mean score under the probabilities of the next token, or the number
    in the text of a chat. Guesses are compared on the same queries with the same demonstrations; each guess is also
    judged alone.
"""


def _register(item: Found) -> None:
    asked = item.asked
    answers = len(asked.queries) * asked.seeds * len(asked.guesses)
    model = re.sub(r"[^a-z0-9]+", "-", item.name.lower()).strip("-")
    setting = f"{asked.template.split('@')[0]}-{asked.where}-{asked.shots}{'-fixed' if asked.fixed else ''}"
    for letter, name in NAMES.items():
        if not set(NEEDS[letter]) <= set(asked.guesses):
            continue
        claim(
            f"{name}-{model}-{setting}-{answers}",
            paper="initial-guess",
            where="the section on language models",
            title=TITLES[letter].format(name=item.name),
            statement=f"{STATEMENTS[letter]} Judged for {item.name}, {asked.shots} demonstrations.",
            refuted_by=REFUTED[letter],
            method=METHOD.format(draws="the same for all queries" if asked.fixed else "drawn afresh for each query"),
            quick=f"{len(asked.queries)} queries, {asked.seeds} draws of demonstrations each, as they were asked",
            full="the same",
            seconds=20,
        )(lambda lab, letter=letter: _evidence(lab, item, letter))


def _evidence(lab: Lab, item: Found, letter: str) -> Evidence:
    lab.tell("bootstrap", None)
    results = item.results()
    verdict = next(each for each in verdicts(results) if each.claim == letter)
    checks = tuple(
        at_least(check.name, check.effect.value, check.tolerance, error=check.effect.error, reason=REASON)
        for check in verdict.checks
    )
    return Evidence(
        checks,
        (_figure(item, by_distance(results), by_shots(results)),) if letter == "c" else (),
        (_table(item),) if letter == "a" else (),
        (verdict.reason,),
    )


def _table(item: Found) -> Table:
    """The table of `descant llm sts`."""
    rows = []
    for row in summary(item.results()):
        parts = (row.mse, row.spearman, row.alone_mse, row.alone_spearman, row.copied, row.corrected)
        rows.append((row.guess, *(cell for part in parts for cell in _cells(part)), row.failed))
    names = ("MSE", "Spearman", "guess alone: MSE", "guess alone: Spearman", "copied", "corrected")
    columns = ("guess", *(cell for name in names for cell in (name, "±")), "no score")
    caption = "copied, corrected: the coefficients of guess and label in the regression of the answer on both."
    return Table("answers", f"{item.name}, by guess", columns, tuple(rows), caption)


def _cells(interval: Interval) -> tuple[float | None, float | None]:
    if interval.value != interval.value:
        return None, None
    return interval.value, interval.error


def _figure(item: Found, distances: list[DistanceRow], shots: list[ShotsRow]) -> Figure:
    """Linear attention's world on the left, the model's on the right."""
    n = max(item.asked.shots, 1)
    variance = float(item.results().gold.var()) or 1.0
    at = tuple(row.distance / variance for row in distances)
    grid = tuple(max(at, default=1.0) * step / 20 for step in range(21))
    x, y = (
        Axis("squared distance of the guess (variances of the label)"),
        Axis("squared error (variances of the label)"),
    )
    places = tuple(range(n + 1))
    shares = Axis("share of the guess in the answer")
    followed = [
        Series(
            kind,
            tuple(row.shots for row in rows),
            tuple(row.copied.value for row in rows),
            tuple(row.copied.error for row in rows),
        )
        for kind in ("embedding", "shuffled", "random")
        if (rows := [row for row in shots if row.guess == kind and row.copied.value == row.copied.value])
    ]
    return Figure(
        "guess-distance",
        f"Linear attention and {item.name}, given guesses of varying quality",
        "Above: the error against the distance of the guess. In both worlds good guesses help and bad ones hurt, and "
        "the two lines cross; y_q-LSA is below the guess alone everywhere. Below: how much of the guess is left in the "
        "answer. Linear attention trusts it less with every demonstration.",
        (
            Panel(
                "y_q-LSA, exact",
                x,
                y,
                (
                    Series("the guess alone", grid, grid, style="dashed"),
                    Series("without a guess", grid, tuple(guessed_risk(1.0, n) for _ in grid), style="line"),
                    Series(
                        "with it", grid, tuple(guessed_risk(each, n) if each else 0.0 for each in grid), style="line"
                    ),
                ),
            ),
            Panel(
                item.name,
                x,
                y,
                (
                    Series("the guess alone", at, at, style="dashed"),
                    _series("without a guess", at, [row.without for row in distances], variance),
                    _series("with it", at, [row.error for row in distances], variance),
                ),
            ),
            Panel(
                "y_q-LSA, exact",
                Axis("demonstrations"),
                shares,
                (
                    _share("good guesses", places, 0.3, "embedding"),
                    _share("bad guesses", places, 2.0, "random"),
                ),
            ),
            Panel(item.name, Axis("demonstrations"), shares, tuple(followed)),
        ),
    )


def _share(label: str, places: tuple[int, ...], distance: float, family: str) -> Series:
    return Series(label, places, tuple(remaining_share(each, distance=distance) for each in places), family=family)


def _series(label: str, at: tuple[float, ...], found: list[Interval], variance: float) -> Series:
    values = tuple(each.value / variance for each in found)
    return Series(label, at, values, tuple(each.error / variance for each in found))


for _item in found():
    _register(_item)
