"""What the paper says of language models, for every model whose answers are on disk (`descant llm sts`); else nothing.

A claim's name holds the number of answers it is judged on: with more answers it is another judgement.
"""

from collections.abc import Sequence

from ..._names import slug
from ...llm import (
    NEEDS,
    STATEMENTS,
    Found,
    GuessRow,
    Interval,
    Study,
    WordingRow,
    by_wording,
    figure,
    found,
    summary,
    verdicts,
)
from .. import CONTROL, Evidence, Lab, Table, claim, shown

NAMES = {
    "a": "guess-helps",
    "b": "beyond-the-guess",
    "c": "bad-guess-hurts",
    "displaced": "guess-displaces",
    "ensemble": "beats-the-ensemble",
}
TITLES = {
    "a": "An initial guess improves {name}'s answers",
    "b": "{name} improves on the guess itself",
    "c": "A bad guess hurts {name} as it hurts linear attention",
    "displaced": "A wrong guess destroys what {name} knows without one",
    "ensemble": "{name} with a guess beats a line through the guess and its answer without one",
}
REFUTED = {
    "a": "Answers that are no better with an informative guess than without one, "
    "or than with the guess of another pair.",
    "b": "A guess that is, alone, as good as the model's answers with it.",
    "c": "Random guesses that do no harm, or errors that don't follow the distance of the guess.",
    "displaced": "Answers that keep their correlation with the label beside the guess of another pair.",
    "ensemble": "An ensemble that is as good as the model with the guess in its prompt.",
}
# The paper says that a guess helps; the others are questions of ours.
WHOSE = {"a": "paper", "b": "control", "c": "derived", "displaced": "control", "ensemble": "control"}
METHOD = """
    Pairs of sentences are scored after labelled demonstrations, {draws}, with and without a guess in the prompt, in
    {wordings}. The answer is the mean score under the probabilities of the next token, or the number in the text of a
    chat. Guesses are compared on the same queries with the same demonstrations; each guess is also judged alone.
"""


def _register(item: Found) -> None:
    asked, wordings = item.first, list(item.asked)
    answers = len(asked.queries) * asked.seeds * len(asked.guesses) * len(wordings)
    # Two models may have one name; their folders haven't.
    model = slug(item.answers.parent.name, most=60)
    data = slug(f"{item.data}-{asked.data[:6]}-{'.'.join(wordings)}", most=80)
    setting = f"{data}-{asked.where}-{asked.shots}-by-{asked.together}"
    draws = "drawn afresh for each query" if asked.together == 1 else f"shared by {asked.together} queries"
    for letter, name in NAMES.items():
        if not set(NEEDS[letter]) <= set(asked.guesses):
            continue
        claim(
            f"{name}-{model}-{setting}-{answers}",
            paper="initial-guess",
            whose=WHOSE[letter],
            seen="summary" if WHOSE[letter] == "paper" else "",
            where="the section on language models",
            title=TITLES[letter].format(name=item.name),
            statement=f"{STATEMENTS[letter]} Judged for {item.name} on {item.data}, {asked.shots} demonstrations.",
            refuted_by=REFUTED[letter],
            method=METHOD.format(draws=draws, wordings="one wording" if len(wordings) == 1 else "several wordings"),
            quick=f"{len(asked.queries)} queries, {asked.seeds} draws of demonstrations each, as they were asked",
            full="the same",
            seconds=20,
        )(lambda lab, letter=letter: _evidence(lab, item, letter))


def _evidence(lab: Lab, item: Found, letter: str) -> Evidence:
    lab.tell("jackknife", None)
    study = item.study()
    verdict = next(each for each in verdicts(study) if each.claim == letter)
    # Too few answers decide nothing: a control that fails, beside a check that stands for what was not looked at.
    few = shown("enough answers", False, reason=verdict.reason, against=CONTROL)
    nothing = shown("not looked at", True, reason=verdict.reason)
    tables = (answer_table(summary(study), item.name), wording_table(study, f"{item.name}, by wording"))
    return Evidence(
        verdict.checks or (few, nothing),
        (figure(study, item.name),) if letter == "c" else (),
        tables if letter == "a" else (),
        (verdict.reason,),
    )


def answer_table(guesses: Sequence[GuessRow], name: str, file: str = "answers") -> Table:
    """The table of `descant llm sts`."""
    rows = []
    for row in guesses:
        parts = (row.mse, row.mae, row.spearman, row.alone_mse, row.alone_spearman, row.copied, row.corrected)
        cells = (cell for part in (*parts, row.displaced) for cell in _cells(part))
        rows.append((row.guess, *cells, row.failed))
    labels = (
        "MSE",
        "MAE",
        "Spearman",
        "guess alone: MSE",
        "guess alone: Spearman",
        "copied",
        "corrected",
        "displaced",
    )
    columns = ("guess", *(cell for label in labels for cell in (label, "±")), "no score")
    caption = (
        "copied, corrected: the coefficients of guess and label in the regression of the answer on both. displaced: "
        "the Spearman correlation lost against no guess."
    )
    return Table(file, f"{name}, by guess", columns, tuple(rows), caption)


def wording_table(wordings: "Study | Sequence[WordingRow]", title: str, file: str = "wordings") -> Table:
    """Spearman correlations by wording, and which was chosen on other queries."""
    found = by_wording(wordings) if isinstance(wordings, Study) else wordings
    rows = []
    for row in found:
        parts = (row.choice, row.none, row.embedding, row.shuffled, row.copied)
        cells = (cell for part in parts for cell in _cells(part))
        rows.append((f"{row.wording}{' (chosen)' if row.chosen else ''}", *cells))
    labels = ("no guess, training pairs", "no guess", "embedding", "shuffled", "copied of embedding")
    columns = ("wording", *(cell for label in labels for cell in (label, "±")))
    caption = "Spearman correlations with the label; errors over queries and draws. A wording is chosen by the first."
    return Table(file, title, columns, tuple(rows), caption)


def _cells(interval: Interval) -> tuple[float | None, float | None]:
    if interval.value != interval.value:
        return None, None
    return interval.value, interval.error


for _item in found():
    _register(_item)
