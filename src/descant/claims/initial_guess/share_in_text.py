"""Linear regression in text: what is left of a guess in a language model's answer, beside the theory's share."""

from ...llm import LEARNERS, ShareRow, share_figure, share_rows, share_verdict
from .. import Evidence, Lab, Table, claim
from ._shipped import NAME, shipped_text, the_run


@claim(
    "guess-share-in-text",
    paper="initial-guess",
    whose="derived",
    where="What y_q-LSA says to look for in language models: the share of the guess that is left after n examples",
    title="SmolLM2-135M leaves of a guess what y_q-LSA leaves of it, (d + 1) / (n + d + 1)",
    statement=r"""
    In linear regression in context, with numbers in a prompt of text, $n$ examples without noise and a guess
    $\langle w_0, x \rangle$ at every point, the share of the guess that is left in a language model's answer is that of
    y_q-LSA at its optimum, $(d + 1) / (n + d + 1)$, and so it falls with $n$. Judged for SmolLM2-135M-Instruct,
    quantised to four bits, with $d = 2$ and $n$ up to 16.
    """,
    refuted_by={
        "curve": "A share that differs from $(d + 1) / (n + d + 1)$ at some number of examples.",
        "falls": "A share that is as large after all examples as after one.",
    },
    method="""
    Tasks of `LinearRegression` are written as text in twelve wordings, with guesses whose squared distance from the
    label is half of its variance. The share is the coefficient of the guess in the regression of the answer on guess
    and label, over tasks; y_q-LSA's is exact. Gradient descent from $w_0$ and Bayes are computed on the very same
    prompts. One pass over a prompt answers each of its points from those before it. Standard errors are over tasks (a
    jackknife) and over wordings, as if these had been drawn at random.
    """,
    quick="the answers that ship; statistics from them",
    full="the same; `descant llm regression` asks a model anew",
    seconds=3,
)
def guess_share_in_text(lab: Lab) -> Evidence:
    """The share against the exact curve at every n, and its fall."""
    lab.tell("jackknife", None)
    run = the_run()
    results = shipped_text(run.numbers["regression"])
    judged = share_verdict(results)
    setting = results.tasks.setting
    words = f"{setting.tasks} tasks in {len(results.wordings)} wordings. {judged.reason}"
    table = _table(share_rows(results))
    return Evidence(judged.checks, (share_figure(results, NAME),), (table,), (words,), "", (run.note,))


def _table(rows: list[ShareRow]) -> Table:
    others = [name for name in LEARNERS if name != "y_q-LSA"]
    columns = (
        "examples",
        "the model",
        "±",
        "y_q-LSA",
        "the model less y_q-LSA",
        "±",
        *(cell for name in others for cell in (name, "±")),
    )
    errors = ("MSE with the guess", "±", "guess alone: MSE", "±", "MSE without a guess", "±", "Spearman without", "±")
    found = []
    for row in rows:
        parts = (row.apart, *(row.learners[name] for name in others), row.error, row.alone, row.without, row.known)
        cells = (cell for part in parts for cell in (_finite(part.value), _finite(part.error)))
        found.append((row.n, _finite(row.share.value), _finite(row.share.error), row.exact, *cells))
    caption = (
        "Shares of the guess in the answer; y_q-LSA's is exact, the others' on the same prompts, and so is the "
        "difference of the model's and y_q-LSA's. Squared errors are in units of the label's variance."
    )
    return Table("shares", f"{NAME}, by the number of examples", (*columns, *errors), tuple(found), caption)


def _finite(value: float) -> float | None:
    return value if value == value else None
