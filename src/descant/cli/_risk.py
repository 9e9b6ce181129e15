"""`descant risk`: the in-context risk of one predictor on one task."""

import math
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from ._flags import Json
from ._printing import add_risk, print_json, risk_fields, risk_table
from ._task import TaskFlags

REFERENCES = ("bayes", "ridge", "zero")


def risk(
    name: str,
    /,
    *,
    task: Annotated[TaskFlags, Parameter(name="*")],
    heads: int | None = None,
    query_masked: Annotated[bool, Parameter(negative="--query-attends", show_default="--query-masked")] = True,
    method: Literal["auto", "exact", "moments", "tokens"] = "auto",
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
    import jax

    from ..measure import best, risk as measure
    from ..tasks import Unknown

    built = task.build()
    predictor = best(name, built, heads=heads, query_masked=query_masked)
    key = jax.random.key(seed)
    found = measure(predictor, built, method, samples=samples, key=key)
    if not math.isfinite(found.value) and found.method != "exact":
        raise OverflowError(f"the risk of {name} is {found.value}: {found.note}; expected a task of smaller numbers.")
    if json:
        options: dict[str, Any] = {"query_masked": query_masked}
        if name == "multi-head-lsa":
            options["heads"] = task.d + 1 if heads is None else heads
        body = {"name": name, **risk_fields(found), **options, "task": task.as_json()}
        print_json("risk", body, seed=seed, samples=samples)
        return
    from rich.console import Console

    table = risk_table(task.in_words(), "predictor")
    add_risk(table, name, risk_fields(found), style="bold", end_section=True)
    unknown = []
    for reference in REFERENCES:
        try:
            if reference != name:
                beside = measure(best(reference, built), built, samples=samples, key=key)
                add_risk(table, reference, risk_fields(beside), style="dim")
        except Unknown as reason:
            unknown.append(f"not known of {reference}: {reason}")
    Console().print(table)
    if found.note:
        print(f"not exact: {found.note}")
    for sentence in unknown:
        print(sentence)
