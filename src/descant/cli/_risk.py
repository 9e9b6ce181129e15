"""`descant risk`: the in-context risk of one predictor on one task."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from cyclopts import Parameter

from .._plain import line
from ._closed import Answer, Question, closed_answer
from ._task import TaskFlags

if TYPE_CHECKING:
    from ..measure import Method, Risk

REFERENCES = ("bayes", "ridge", "zero")


def risk(
    name: str,
    /,
    *,
    task: Annotated[TaskFlags, Parameter(name="*")],
    heads: int | None = None,
    query_masked: Annotated[bool, Parameter(negative="--query-attends")] = True,
    method: Literal["auto", "exact", "moments", "tokens"] = "auto",
    samples: int = 32_768,
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Print the in-context risk E (prediction - <w, x>)^2 of a predictor; for a class, of its best member.

    Exact where a closed form exists, otherwise an estimate with its standard error. The query's own label noise is not
    counted. "Adjusted" is the risk less that of the oracle, who knows the prior and is told the noise level of each
    prompt (for Gaussian tasks the oracle ridge); it is left out where the posterior is not known.

    Parameters
    ----------
    name
        zero, ols, gd (one step from zero, scalar step size), preconditioned-gd (one step from zero, any matrix),
        gd-beta, ridge (the oracle), const-ridge, ada-ridge, tuned-ridge, bayes, lsa, multi-head-lsa, yq-lsa or ltb; or
        your own as module:name.
    heads
        Heads of multi-head-lsa; d + 1 if left out, more never help.
    query_masked
        Whether the query's own token is left out of the keys and values of an attention.
    method
        exact (closed form), moments (Monte Carlo over Gram matrices), tokens (over prompts), or auto,
        the first possible.
    samples
        Contexts to draw where the risk is estimated.
    seed
        Seed of the draws.
    json
        Print one JSON object instead of a table.
    """
    asked, references = Question(name, task, heads, query_masked, method, samples, seed), () if json else REFERENCES
    answer = closed_answer(asked, references) or _measured_answer(asked, references)
    if json:
        print(_as_json(name, answer.found, task, heads, query_masked))
    else:
        _print_table(task.in_words(), [(name, answer.found), *answer.beside], answer.unknown)


def _measured_answer(asked: Question, references: Sequence[str]) -> Answer:
    """The answer of whatever laws and predictors there are."""
    import jax

    from ..measure import best, risk as measure
    from ..tasks import Unknown

    built, key = asked.task.build(), jax.random.key(asked.seed)
    predictor = best(asked.name, built, heads=asked.heads, query_masked=asked.query_masked)
    found = measure(predictor, built, cast("Method", asked.method), samples=asked.samples, key=key)
    beside, unknown = [], []
    for reference in references:
        try:
            if reference != asked.name:
                beside.append((reference, measure(best(reference, built), built, samples=asked.samples, key=key)))
        except Unknown as reason:
            unknown.append(f"{reference}: {reason}")
    return Answer(found, beside, unknown)


def _as_json(name: str, found: "Risk", task: TaskFlags, heads: int | None, query_masked: bool) -> str:
    result: dict[str, Any] = {
        "name": name,
        "risk": found.value,
        "standard_error": found.standard_error,
        "method": found.method,
        "adjusted": found.adjusted,
        "adjusted_standard_error": found.adjusted_error,
        "note": found.note,
        "task": task.as_json(),
    }
    if name == "multi-head-lsa":
        result["heads"] = task.d + 1 if heads is None else heads
    if not query_masked:
        result["query_masked"] = False
    return line("result", result)


def _print_table(title: str, rows: "list[tuple[str, Risk]]", unknown: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", caption_justify="left")
    table.caption = "risk: E (prediction - <w, x>)²; adjusted: less the oracle's; ±: standard error"
    table.add_column("predictor")
    for column in ("risk", "±", "adjusted", "±"):
        table.add_column(column, justify="right")
    table.add_column("method")
    for index, (name, found) in enumerate(rows):
        cells = (
            name,
            f"{found.value:.6g}",
            "exact" if found.method == "exact" else _error(found.standard_error),
            "-" if found.adjusted is None else f"{found.adjusted:.6g}",
            _error(found.adjusted_error),
            found.method,
        )
        table.add_row(*cells, style="bold" if index == 0 else "dim", end_section=index == 0)
    Console().print(table)
    if rows[0][1].note:
        print(f"not exact: {rows[0][1].note}")
    for reason in unknown:
        print(f"not known of {reason}")


def _error(value: float | None) -> str:
    """A standard error; nothing is said of a number that isn't known."""
    return "-" if value is None else "exact" if value == 0 else f"{value:.2g}"
