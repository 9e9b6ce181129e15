"""Linear attention's world beside the language model's, in one figure."""

import numpy as np

from ..figures import Axis, Figure, Panel, Series
from ._linear_world import NOISE2, D, guessed_risk, remaining_share
from ._statistics import Interval
from ._study import Study
from ._summary import VARIED, by_distance, by_shots

FOLLOWED = ("embedding", "shuffled", "random")
SEE_DISTANCE = (
    "The error against the distance of the guess: left, exact risks of linear attention; right, the model's squared "
    "errors, over all wordings. y_q-LSA is below the guess alone everywhere."
)
SEE_SHARES = " Below: how much of the guess is left in the answer. Linear attention trusts it less with every example."


def figure(study: Study, model: str) -> Figure:
    """Left: exact risks of y_q-LSA. Right: what the model did, with standard errors.

    Below, if there are enough draws of demonstrations, what is left of the guess after each of them.
    """
    n = max(study.first.asked.shots, 1)
    distances = by_distance(study)
    variance = float(np.nanvar(study.gold)) or 1.0
    at = tuple(row.distance / variance for row in distances)
    widest = max(at, default=1.0)
    grid = tuple(widest * step / 40 for step in range(41))
    x = Axis("squared distance of guess / label variance")
    y = Axis("squared error / label variance")
    kinds = ", ".join(kind for kind in VARIED if kind in study.guesses)
    alone = Series("the guess alone", (0.0, widest), (0.0, widest), style="dashed")
    known = tuple(guessed_risk(each, n) if each else 0.0 for each in grid)
    without = (guessed_risk(1.0, n),) * 2
    panels = (
        Panel(
            f"y_q-LSA, exact: d = {D}, n = {n}, noise {NOISE2:g}",
            x,
            y,
            (
                alone,
                Series("y_q-LSA without it", (0.0, widest), without, style="line", family="without"),
                Series("y_q-LSA with the guess", grid, known, style="line", family="with"),
            ),
        ),
        Panel(
            f"{model}, guesses: {kinds}",
            x,
            y,
            (
                alone,
                _measured(
                    "the model without it, same queries", at, [r.without for r in distances], "without", variance
                ),
                _measured("the model with the guess", at, [row.error for row in distances], "with", variance),
            ),
        ),
    )
    copied = _copied(study)
    see = SEE_DISTANCE
    if any(len(series.x) > 1 for series in copied):
        panels += _shares(model, n, copied)
        see += SEE_SHARES
    return Figure(
        "guess-distance", f"Linear attention and {model}, given guesses of varying quality", see, panels, shared=True
    )


def _shares(model: str, n: int, copied: tuple[Series, ...]) -> tuple[Panel, Panel]:
    demonstrations, share = Axis("demonstrations before the answer"), Axis("share of the guess in the answer")
    good, bad = _share("good guesses (distance 0.3)", n, 0.3, "embedding"), _share("bad guesses", n, 2.0, "random")
    return (
        Panel("y_q-LSA, exact: share left of the guess", demonstrations, share, (good, bad)),
        Panel(f"{model}: share copied, by guess", demonstrations, share, copied),
    )


def _share(label: str, n: int, distance: float, family: str) -> Series:
    shots = tuple(range(n + 1))
    return Series(label, shots, tuple(remaining_share(each, distance=distance) for each in shots), family=family)


def _copied(study: Study) -> tuple[Series, ...]:
    """In the chosen wording: each has its own answers on the way."""
    rows = [row for row in by_shots(study.only(study.chosen)) if np.isfinite(row.copied.value)]
    followed = {kind: [row for row in rows if row.guess == kind] for kind in FOLLOWED}
    return tuple(
        _measured(kind, tuple(row.shots for row in own), [row.copied for row in own])
        for kind, own in followed.items()
        if own
    )


def _measured(label: str, x: tuple[float, ...], found: list[Interval], family: str = "", unit: float = 1.0) -> Series:
    values, errors = (tuple(getattr(each, part) / unit for each in found) for part in ("value", "error"))
    return Series(label, x, values, errors, family=family)
