"""What the paper says of language models, for every model whose answers are on disk (`descant llm sts`); else nothing.

A claim's name holds the number of answers it is judged on: with more answers it is another judgement.
"""

from ..._names import slug
from ...llm import NEEDS, STATEMENTS, Found, Interval, Results, figure, found, summary, verdicts
from .. import Evidence, Lab, Table, claim

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
# The paper says that a guess helps; the others are questions of ours.
WHOSE = {"a": "paper", "b": "control", "c": "derived"}
METHOD = """
    Pairs of sentences of the STS benchmark are scored from 0 to 5 after labelled demonstrations, {draws}, with and
    without a guess in the prompt. The answer is the mean score under the probabilities of the next token, or the number
    in the text of a chat. Guesses are compared on the same queries with the same demonstrations; each guess is also
    judged alone.
"""


def _register(item: Found) -> None:
    asked = item.asked
    answers = len(asked.queries) * asked.seeds * len(asked.guesses)
    # Two models may have one name; their folders haven't.
    model = slug(item.answers.parent.name, most=80)
    setting = f"{asked.template.split('@')[0]}-{asked.where}-{asked.shots}{'-fixed' if asked.fixed else ''}"
    for letter, name in NAMES.items():
        if not set(NEEDS[letter]) <= set(asked.guesses):
            continue
        claim(
            f"{name}-{model}-{slug(setting, most=80)}-{answers}",
            paper="initial-guess",
            whose=WHOSE[letter],
            seen="summary" if WHOSE[letter] == "paper" else "",
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
    return Evidence(
        verdict.checks,
        (figure(results, item.name),) if letter == "c" else (),
        (answer_table(results, item.name),) if letter == "a" else (),
        (verdict.reason,),
    )


def answer_table(results: Results, name: str) -> Table:
    """The table of `descant llm sts`."""
    rows = []
    for row in summary(results):
        parts = (row.mse, row.spearman, row.alone_mse, row.alone_spearman, row.copied, row.corrected)
        rows.append((row.guess, *(cell for part in parts for cell in _cells(part)), row.failed))
    labels = ("MSE", "Spearman", "guess alone: MSE", "guess alone: Spearman", "copied", "corrected")
    columns = ("guess", *(cell for label in labels for cell in (label, "±")), "no score")
    caption = "copied, corrected: the coefficients of guess and label in the regression of the answer on both."
    return Table("answers", f"{name}, by guess", columns, tuple(rows), caption)


def _cells(interval: Interval) -> tuple[float | None, float | None]:
    if interval.value != interval.value:
        return None, None
    return interval.value, interval.error


for _item in found():
    _register(_item)
