"""In-context linear regression in text: how much of a guess is left in a model's answer after n examples."""

import hashlib
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._answers import Answers, Ask, Key
from ._experiment import Progress
from ._models import Model
from ._numbers import NumberTemplate
from ._prompts import Prompt
from ._reading import Scale
from ._text_tasks import HIGH, LOW, TextSetting, TextTasks, draw_tasks

KINDS = ("none", "guess")


def page_scale() -> Scale:
    """What the leading digits stand for: "3" begins 3.0 to 3.9, whatever the labels are."""
    return Scale(tuple(digit + 0.45 for digit in range(10)), LOW, HIGH)


@dataclass(frozen=True)
class TextResults:
    """Answers by kind, (wordings, tasks, shots + 1), NaN where there is none; and the tasks."""

    tasks: TextTasks
    wordings: tuple[str, ...]
    answer: dict[str, np.ndarray]
    statuses: dict[str, int]

    @property
    def places(self) -> tuple[int, ...]:
        """After how many examples there are answers."""
        return self.tasks.setting.places


def run_regression(
    model: Model,
    setting: TextSetting,
    templates: tuple[NumberTemplate, ...],
    folder: Path,
    *,
    on_progress: Progress = lambda stage, done, total: None,
) -> TextResults:
    """Ask what has no answer yet, with a guess and without, in every wording, and give all answers."""
    tasks, scale = draw_tasks(setting), page_scale()
    answers = Answers(folder)
    with answers.working():
        answers = Answers(folder)
        asked = {
            template.name: [ask for task in range(setting.tasks) for ask in _asks(model, tasks, template, scale, task)]
            for template in templates
        }
        for template in templates:
            _answer(model, answers, asked[template.name], template, scale, on_progress)
    return _gathered(tasks, templates, asked, answers)


def _asks(model: Model, tasks: TextTasks, template: NumberTemplate, scale: Scale, task: int) -> list[Ask]:
    """Of each kind, the whole prompt; and its beginnings, for a model that can't answer them on its way."""
    setting = tasks.setting
    wording = f"{template.name}@{hashlib.sha256(repr(astuple(template)).encode()).hexdigest()[:8]}"
    found = []
    for kind in KINDS:
        whole = tasks.prompt(task, template, guessed=kind == "guess")
        places = [setting.shots] if model.reads_along else list(setting.places)
        for place in places:
            prompt: Prompt = whole.cut(place) if place < setting.shots else whole
            key = Key(model.identity, wording, kind, "all", 0, task, place, prompt.digest, tasks.digest)
            shown = float(tasks.guess[task, place]) if kind == "guess" else None
            found.append(Ask(key, prompt, setting.shots, 1, scale.digest, float(tasks.label[task, place]), shown))
    return found


def _answer(
    model: Model,
    answers: Answers,
    asks: list[Ask],
    template: NumberTemplate,
    scale: Scale,
    on_progress: Progress,
) -> None:
    todo = answers.missing(asks)
    done = len(asks) - len(todo)

    def show(count: int) -> None:
        on_progress(f"{template.name}: answers", count, len(asks))

    show(done)
    for index, reply in model.replies([ask.prompt for ask in todo], template, scale):
        answers.keep([(todo[index], reply)])
        done += 1
        show(done)


def _gathered(
    tasks: TextTasks, templates: tuple[NumberTemplate, ...], asked: dict[str, list[Ask]], answers: Answers
) -> TextResults:
    setting = tasks.setting
    shape = (len(templates), setting.tasks, setting.shots + 1)
    answer = {kind: np.full(shape, np.nan) for kind in KINDS}
    statuses: dict[str, int] = {}
    for index, template in enumerate(templates):
        for ask in asked[template.name]:
            row: dict[str, Any] | None = answers[ask.key]
            status = "unanswered" if row is None else row["status"]
            statuses[status] = statuses.get(status, 0) + 1
            if row is None:
                continue
            along = row.get("along", [])
            values = [*along, row["answer"]] if along else [row["answer"]]
            first = ask.key.place - len(along)
            for place, value in enumerate(values, first):
                if value is not None:
                    answer[ask.key.guess][index, ask.key.query, place] = value
    return TextResults(tasks, tuple(each.name for each in templates), answer, statuses)
