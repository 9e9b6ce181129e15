"""Which wording shows most of what a model knows: seen on training pairs, which are never judged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ._draws import generator
from ._experiment import Encoder, Progress, Setting, run
from ._models import Model
from ._pairs import Benchmark
from ._statistics import Interval, estimate, spearman
from ._study import Study
from ._templates import Template

# Queries on which the wording is chosen; the spread of a Spearman correlation over them is about 0.15.
QUERIES = 40


def choice_benchmark(benchmark: Benchmark, queries: int = QUERIES) -> Benchmark:
    """Training pairs in the place of those that are judged; of more of them, the first are the same."""
    rows = generator("choice of a wording").permutation(len(benchmark.train))[:queries].tolist()
    return replace(benchmark, asked=tuple(benchmark.train[row] for row in rows), split="choice")


def run_study(
    model: Model,
    benchmark: Benchmark,
    setting: Setting,
    templates: tuple[Template, ...],
    folder: Path,
    *,
    encoder: Encoder | None = None,
    on_progress: Progress = lambda stage, done, total: None,
    queries: int = QUERIES,
) -> Study:
    """Ask in every wording, and choose one of them on other queries. What has an answer is not asked again."""

    def stage(name: str) -> Progress:
        return lambda stage, done, total: on_progress(stage if len(templates) == 1 else f"{name}: {stage}", done, total)

    unaided: dict[str, Interval] = {}
    if len(templates) > 1:
        choice = choice_benchmark(benchmark, queries)
        for template in templates:
            asked = replace(setting, template=template, guesses=("none",), queries=len(choice.asked), seeds=1)
            results = run(model, choice, asked, folder, on_progress=stage(f"choice, {template.name}"))
            unaided[template.name] = estimate(spearman, results.answer["none"], results.gold, together=setting.together)
    wordings = {
        template.name: run(
            model,
            benchmark,
            replace(setting, template=template),
            folder,
            encoder=encoder,
            on_progress=stage(template.name),
        )
        for template in templates
    }
    return Study(wordings, _best(unaided, next(iter(wordings))), unaided)


def _best(unaided: dict[str, Interval], otherwise: str) -> str:
    """The wording with the highest correlation; the first if there is none."""
    known = {name: each.value for name, each in unaided.items() if each.value == each.value}
    best: Callable[[str], float] = known.__getitem__
    return max(known, key=best) if known else otherwise
