"""What the paper says of language models, judged on the answers of a small one that ship with the package.

The paper asks Llama-3.1-8B-Instruct and Qwen2.5-7B-Instruct. These answers are SmolLM2-135M-Instruct's; the paper's
wording, its origin of the guess and its numbers are not public.
"""

from ..._checks import verdict_of
from ...llm import Judged, Study, figure, near_chance, summary, verdicts
from .. import CONTROL, Check, Evidence, Figure, Lab, claim
from ._shipped import NAME, renamed, shipped_judged, shipped_rows, shipped_study, the_run
from .language_models import answer_table, wording_table

CONDITIONS = """
    Judged for SmolLM2-135M-Instruct, quantised to four bits, with ten demonstrations and the guess shown at all of
    them, over twelve wordings and in the one that was chosen on training pairs, on 900 queries each of the STS
    benchmark and of SICK-R: it has to hold in all of these. The paper's models have 7 and 8 billion parameters: nothing
    is said about those here.
"""
METHOD = """
    Pairs of sentences of a test file are scored after ten labelled pairs of the training file, with and without a guess
    in the prompt, in twelve wordings and with three draws of demonstrations, each shared by ten queries. The answer is
    the mean score under the probabilities of the next token. The guess that is judged is the cosine of MiniLM sentence
    embeddings, put on the scale of scores by a straight line; others are controls. All are compared on the same queries
    with the same demonstrations. Effects, their least sizes and the numbers of queries, draws and wordings were fixed
    before an answer of this run was looked at. Standard errors are over queries and draws (a jackknife that leaves out
    a draw with its queries) and over wordings, as if these had been drawn at random; t quantiles, with Satterthwaite's
    degrees of freedom. The answers were given once, and ship as numbers of three decimals; SICK's labels can't ship, so
    of SICK-R its effects do.
"""
FULL = "the same; `descant llm sts` asks a model anew, and its answers are judged beside these"
QUICK = "the answers that ship; statistics from them"


@claim(
    "guess-helps",
    paper="initial-guess",
    whose="extension",
    where="The section on language models, whose models have 7 and 8 billion parameters; here one of 0.135 billion",
    title="An initial guess in the prompt improves SmolLM2-135M's answers, which are near chance without one",
    statement="With an informative guess of the answer in the prompt, a language model's scores of sentence similarity "
    "are better than without one, and better than with the guess of another pair. (Those of this small model have next "
    "to no correlation with the label without one: what can be seen here is that a guess is passed on.)" + CONDITIONS,
    refuted_by="Answers that are no better with the embedding guess than without one, or than with that of another "
    "pair.",
    method=METHOD,
    quick=QUICK,
    full=FULL,
    seconds=3,
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
    "does more than pass it on. (Those of linear attention with the best weights are.)" + CONDITIONS,
    refuted_by="A guess that is, alone, as good as the model's answers with it.",
    method=METHOD,
    quick=QUICK,
    full=FULL,
    seconds=3,
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
    seconds=3,
)
def bad_guess_hurts(lab: Lab) -> Evidence:
    """Random guesses against none, and the slope over distances."""
    return _judged(lab, "c")


@claim(
    "beats-the-ensemble",
    paper="initial-guess",
    whose="control",
    where="A control of ours on the section on language models",
    title="SmolLM2-135M with a guess beats a line through the guess and its answer without one",
    statement="With an informative guess in the prompt, a language model is better than the simplest ensemble: the "
    "regression of the label on the guess and on the model's answer without one, fitted on other draws." + CONDITIONS,
    refuted_by="An ensemble that is as good as the model with the guess in its prompt.",
    method=METHOD,
    quick=QUICK,
    full=FULL,
    seconds=3,
)
def beats_the_ensemble(lab: Lab) -> Evidence:
    """The answers with a guess against the cross-fitted regression."""
    return _judged(lab, "ensemble")


def _judged(lab: Lab, name: str) -> Evidence:
    lab.tell("jackknife", None)
    run = the_run()
    study, sick = shipped_study(run.numbers["stsb"]), run.numbers["sick"]
    found = {
        "STS-B": next(each for each in verdicts(study) if each.claim == name),
        "SICK-R": shipped_judged(sick, name),
    }
    checks = tuple(check for data, judged in found.items() for check in renamed(judged, data))
    guesses, wordings = shipped_rows(sick)
    tables = (
        answer_table(summary(study), f"{NAME} on the STS benchmark", "answers-stsb"),
        answer_table(guesses, f"{NAME} on SICK-R", "answers-sick"),
        wording_table(study, f"{NAME} on the STS benchmark, by wording", "wordings-stsb"),
        wording_table(wordings, f"{NAME} on SICK-R, by wording", "wordings-sick"),
    )
    words = _words(name, study, sick, found, checks)
    return Evidence(checks, _figures(study, name), tables, words, _headline(checks), (run.note,))


def _headline(checks: tuple[Check, ...]) -> str:
    return next(check.name for check in checks if check.against != CONTROL)


def _words(name: str, study: Study, sick: dict, found: dict[str, Judged], checks: tuple[Check, ...]) -> tuple[str, ...]:
    counts = (
        f"{len(study.first.asked.queries)} queries of the STS benchmark and {sick['queries']} of SICK-R, each with "
    )
    asked = f"{len(study.guesses)} guesses in {len(study.wordings)} wordings and {study.first.asked.seeds} draws"
    # The front page shows the first of them, where a claim does not hold or is open.
    words = _what_would_decide(name, len(study.wordings), checks)
    words += [f"{data}: {judged.reason}" for data, judged in found.items()]
    words.append(f"{counts}{asked} of demonstrations.")
    if near_chance(study):
        words.append(
            "Without a guess, the correlation of answers and labels on the STS benchmark is not shown to be above 0.1, "
            "in the wording that was chosen for it: a gain by a guess can only show that it is passed on."
        )
    return tuple(words)


def _what_would_decide(name: str, wordings: int, checks: tuple[Check, ...]) -> list[str]:
    """Where a claim is open: what is missing, and why it is not there."""
    if verdict_of(checks) != "undecided":
        return []
    opened = [check.name for check in checks if check.outcome == "undecided" and check.against != CONTROL]
    if not opened:
        return []
    return [
        f"Not shown, over all wordings: {'; '.join(opened)}. Its error is made of the spread over wordings and of that "
        "over draws of demonstrations: what would decide it are more of both, if the effect stays what it is. That "
        f"there are {wordings} wordings, and that the claim stays open if they don't decide it, was fixed before the "
        "run; so none were added after the look."
    ]


def _figures(study: Study, name: str) -> tuple[Figure, ...]:
    return (figure(study, NAME),) if name == "c" else ()
