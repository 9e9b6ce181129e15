"""`descant risk`: the in-context risk of one predictor on one task."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

from cyclopts import Parameter

from ._closed import Answer, Question, closed_answer
from ._flags import Json
from ._printing import add_risk, print_json, risk_fields, risk_table
from ._task import TaskFlags

if TYPE_CHECKING:
    from ..measure import Method

REFERENCES = ("bayes", "ridge", "zero")
Methods = Literal["auto", "exact", "moments", "tokens"]
METHODS = get_args(Methods)


def risk(
    name: str,
    /,
    *,
    task: Annotated[TaskFlags, Parameter(name="*")],
    heads: int | None = None,
    query_masked: Annotated[bool, Parameter(negative="--query-attends", show_default="--query-masked")] = True,
    method: Methods = "auto",
    samples: int = 32_768,
    seed: int = 0,
    json: Json = False,
) -> None:
    """Print the in-context risk E (prediction - ⟨w, x⟩)² of a predictor; for a class, of its best member.

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
    """
    asked, references = Question(name, task, heads, query_masked, method, samples, seed), () if json else REFERENCES
    answer = closed_answer(asked, references) or measured_answer(asked, references)
    if json:
        options: dict[str, Any] = {"query_masked": query_masked}
        if name == "multi-head-lsa":
            options["heads"] = task.d + 1 if heads is None else heads
        body = {"name": name, **risk_fields(answer.found), **options, "task": task.as_json()}
        print_json("risk", body, seed=seed, samples=samples)
    else:
        _print_table(task.in_words(), name, answer)


def measured_answer(asked: Question, references: Sequence[str]) -> Answer:
    """The answer of whatever laws and predictors there are."""
    import jax

    from ..measure import best, risk as measure
    from ..tasks import Unknown

    built, key = asked.task.build(), jax.random.key(asked.seed)
    predictor = best(asked.name, built, heads=asked.heads, query_masked=asked.query_masked)
    found = measure(predictor, built, cast("Method", asked.method), samples=asked.samples, key=key)
    if not math.isfinite(found.value) and found.method != "exact":
        raise OverflowError(
            f"the risk of {asked.name} is {found.value}: {found.note}; expected a task of smaller numbers."
        )
    beside, unknown = [], []
    for reference in references:
        try:
            if reference != asked.name:
                beside.append((reference, measure(best(reference, built), built, samples=asked.samples, key=key)))
        except Unknown as reason:
            unknown.append(f"not known of {reference}: {reason}")
    return Answer(found, beside, unknown)


def _print_table(title: str, name: str, answer: Answer) -> None:
    from rich.console import Console

    table = risk_table(title, "predictor")
    add_risk(table, name, risk_fields(answer.found), style="bold", end_section=True)
    for reference, beside in answer.beside:
        add_risk(table, reference, risk_fields(beside), style="dim")
    Console().print(table)
    if answer.found.note:
        print(f"not exact: {answer.found.note}")
    for sentence in answer.unknown:
        print(sentence)
