"""What a wrong guess destroys, judged on a language model that knows something without one.

SmolLM2's answers without a guess are near chance, so that nothing of them can be destroyed.
"""

from typing import Any

from ...llm import Judged, summary, verdicts
from .. import CONTROL, Evidence, Lab, claim
from ._shipped import LARGER, LARGER_RUN, NAME, renamed, shipped_judged, shipped_rows, shipped_study, the_run
from .language_models import answer_table, wording_table


@claim(
    "guess-displaces",
    paper="initial-guess",
    whose="control",
    where="A control of ours on the section on language models",
    title="A wrong guess destroys a part of what Qwen2.5-Coder-1.5B knows without one",
    statement="""
        With the guess of another pair in the prompt, a language model's answers lose correlation with the label that
        they have without a guess. Judged for Qwen2.5-Coder-1.5B-Instruct, quantised to four bits, with ten
        demonstrations and the guess shown at all of them, on 400 queries each of the STS benchmark and of SICK-R, in
        one wording: of four, the one in which it knows most without a guess, on a hundred training pairs of the same
        data. The paper's models have 7 and 8 billion parameters: nothing is said about those here.
    """,
    refuted_by="Answers that keep their correlation with the label beside the guess of another pair.",
    method="""
        As in `guess-helps`, with one draw of demonstrations for ten queries, no guess and that of another pair. Effects
        and their least sizes are those of the small model's run. The numbers of queries and draws, the four wordings
        and how one is chosen were fixed before an answer of this model was looked at. The model was chosen because it
        had been seen to know something, and to lose it, on other occasions; and after Qwen2.5-Coder-0.5B, by the same
        design with more queries, had left the question open. Standard errors are over queries and draws (a jackknife
        that leaves out a draw with its queries): they say nothing of other wordings.
    """,
    quick="the answers that ship; statistics from them",
    full="the same; `descant llm sts --model FILE.gguf` asks it anew",
    seconds=2,
)
def guess_displaces(lab: Lab) -> Evidence:
    """Spearman without a guess, and what a shuffled guess leaves of it."""
    lab.tell("jackknife", None)
    run = the_run(LARGER_RUN)
    numbers = run.numbers[LARGER]
    study, found = shipped_study(numbers["stsb"]), _displaced(numbers)
    checks = tuple(check for data, judged in found.items() for check in renamed(judged, data))
    guesses, wordings = shipped_rows(numbers["sick"])
    tables = (
        answer_table(summary(study), f"{LARGER} on the STS benchmark", "answers-stsb"),
        answer_table(guesses, f"{LARGER} on SICK-R", "answers-sick"),
        wording_table(study, f"{LARGER} on the STS benchmark", "wordings-stsb"),
        wording_table(wordings, f"{LARGER} on SICK-R", "wordings-sick"),
    )
    words = [f"{data}: {judged.reason}" for data, judged in found.items()]
    words += _choices(numbers)
    for name, theirs in (*run.numbers.items(), (NAME, the_run().numbers)):
        if name != LARGER:
            words += [f"{name}, {data}: {judged.reason}" for data, judged in _displaced(theirs).items()]
    headline = next(check.name for check in checks if check.against != CONTROL)
    return Evidence(checks, (), tables, tuple(words), headline, (run.note,))


def _displaced(numbers: dict[str, Any]) -> dict[str, Judged]:
    """What is judged of a model's answers, by data; of SICK effects ship, and not of every model."""
    judged = verdicts(shipped_study(numbers["stsb"]))
    found = {"STS-B": next(each for each in judged if each.claim == "displaced")}
    return found | ({"SICK-R": shipped_judged(numbers["sick"], "displaced")} if "sick" in numbers else {})


def _choices(numbers: dict[str, Any]) -> list[str]:
    """What the wordings were chosen by."""
    found = []
    for data, intervals in numbers["unaided"].items():
        told = ", ".join(f"`{name}` {each['value']:.2f} ± {each['error']:.2f}" for name, each in intervals.items())
        found.append(f"{data}: Spearman without a guess on the training pairs by which the wording was chosen: {told}.")
    return found
