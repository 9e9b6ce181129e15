"""What is left of a guess after n examples of linear regression in text, beside what the theory's learners leave."""

import numpy as np

from ..figures import Axis, Figure, Panel, Series
from ._learners import yq_share
from ._regression import TextResults
from ._shares import ShareRow, share_rows
from ._statistics import Interval

SEE = (
    "Left: the share of the guess in the answer. y_q-LSA's curve is exact; descent and Bayes are computed on the very "
    "prompts that the model was asked. At 1 an answer repeats the guess, at 0 it forgets it. Right: squared errors."
)


def share_figure(results: TextResults, model: str) -> Figure:
    """Shares and errors, with standard errors over tasks and wordings."""
    rows, setting = share_rows(results), results.tasks.setting
    examples = Axis("examples before the answer", log=False)
    grid = tuple(range(setting.shots + 1))
    exact = tuple(yq_share(results.tasks, n) for n in grid)
    others = [name for name in rows[0].learners if name != "y_q-LSA"]
    shares = (
        Series(f"{model}", *_points(rows, [row.share for row in rows]), family="model"),
        Series("y_q-LSA, exact", grid, exact, style="line", family="lsa"),
        *(
            Series(f"{name} from the guess", *_points(rows, [row.learners[name] for row in rows]), family=name)
            for name in others
        ),
    )
    errors = (
        Series(f"{model} with the guess", *_points(rows, [row.error for row in rows]), family="model"),
        Series(f"{model} without it", *_points(rows, [row.without for row in rows]), family="without"),
        Series("the guess alone", *_points(rows, [row.alone for row in rows]), family="alone"),
    )
    title = f"d = {setting.d}, noise {setting.noise:g}, guess at distance {setting.distance:g}"
    return Figure(
        "guess-share",
        f"Linear regression in text: what {model} leaves of a guess",
        SEE,
        (
            Panel(title, examples, Axis("share of the guess in the answer"), shares),
            Panel(
                f"{len(results.wordings)} wordings, {setting.tasks} tasks",
                examples,
                Axis("squared error / label variance"),
                errors,
            ),
        ),
    )


def _points(
    rows: list[ShareRow], found: list[Interval]
) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    kept = [(row.n, each) for row, each in zip(rows, found, strict=True) if np.isfinite(each.value)]
    return (
        tuple(float(n) for n, _ in kept),
        tuple(each.value for _, each in kept),
        tuple(each.error for _, each in kept),
    )
