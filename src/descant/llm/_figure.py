"""Linear attention's world beside the language model's, in one picture."""

import io

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine

from ._linear_world import NOISE2, D, guessed_risk, remaining_share
from ._results import Results
from ._summary import VARIED, DistanceRow, ShotsRow, by_distance, by_shots

BLUE, GREEN, ORANGE, GREY = "#2f6690", "#3a7d44", "#c2703d", "0.45"
FOLLOWED = {"embedding": GREEN, "random": ORANGE, "shuffled": BLUE}


def figure(results: Results, model: str) -> bytes:
    """The picture as a PNG. Left: exact risks of y_q-LSA. Right: what the model did, with 95% intervals."""
    distances, shots = by_distance(results), by_shots(results)
    variance = float(np.nanvar(results.gold))
    drawn, axes = plt.subplots(2, 2, figsize=(11, 8.4), dpi=130, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    widest = max((row.distance for row in distances), default=variance) / variance
    n = max(results.asked.shots, 1)
    _linear_errors(axes[0, 0], widest, n)
    _model_errors(axes[0, 1], distances, variance, model, ", ".join(kind for kind in VARIED if kind in results.guesses))
    highest = max(axes[0, 0].get_ylim()[1], axes[0, 1].get_ylim()[1])
    for each in axes[0]:
        each.set(xlim=(0, widest * 1.06), ylim=(0, highest))
        each.set_xlabel("squared distance of the guess (variances of the label)")
        each.set_ylabel("squared error (variances of the label)")
    _linear_shares(axes[1, 0], n)
    _model_shares(axes[1, 1], shots, model)
    low = min(-0.05, *(each.get_ylim()[0] for each in axes[1]))
    high = max(1.08, *(each.get_ylim()[1] for each in axes[1]))
    for each in axes[1]:
        each.axhline(0, color="0.8", lw=1, zorder=0)
        each.set(xlabel="demonstrations before the answer", ylabel="share of the guess in the answer", ylim=(low, high))
        each.set_xlim(-0.4, n + 0.4)
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
        each.legend(frameon=False, fontsize=9)
    image = io.BytesIO()
    drawn.savefig(image, format="png")
    plt.close(drawn)
    return image.getvalue()


def _linear_errors(axes: Axes, widest: float, n: int) -> None:
    grid = np.linspace(0.0, widest, 60)
    known = [guessed_risk(float(each), n) if each else 0.0 for each in grid]
    axes.plot(grid, grid, color=GREY, lw=1.2, ls=(0, (5, 3)), label="the guess alone")
    axes.axhline(guessed_risk(1.0, n), color=ORANGE, lw=1.5, label="without a guess")
    axes.plot(grid, known, color=GREEN, lw=2, label="with it")
    axes.set_title(f"y_q-LSA, exact  (d = {D}, n = {n}, noise {NOISE2:g} of the variance)", fontsize=11, loc="left")


def _model_errors(axes: Axes, rows: list[DistanceRow], variance: float, model: str, kinds: str) -> None:
    at = np.array([row.distance for row in rows]) / variance
    top = max((row.error.high for row in rows), default=variance) / variance
    axes.plot([0, max([*at, 1.0])], [0, max([*at, 1.0])], color=GREY, lw=1.2, ls=(0, (5, 3)), label="the guess alone")
    for name, intervals, colour, mark in (
        ("without a guess, same queries", [row.without for row in rows], ORANGE, "s"),
        ("with it", [row.error for row in rows], GREEN, "o"),
    ):
        value, low, high = (
            np.array([getattr(each, part) for each in intervals]) / variance for part in ("value", "low", "high")
        )
        axes.errorbar(
            at, value, [value - low, high - value], fmt=f"{mark}-", color=colour, ms=5, lw=1.5, capsize=2, label=name
        )
        top = max(top, np.nanmax(high, initial=0.0))
    axes.set_ylim(0, top * 1.1)
    axes.set_title(f"{model}, {kinds} guesses", fontsize=11, loc="left")


def _linear_shares(axes: Axes, n: int) -> None:
    places = list(range(n + 1))
    for distance, colour, name in (
        (0.3, GREEN, "good guesses (squared distance 0.3)"),
        (2.0, ORANGE, "bad guesses (squared distance 2)"),
    ):
        shares = [remaining_share(place, distance=distance) for place in places]
        axes.plot(places, shares, "o-", color=colour, ms=4, lw=1.5, label=name)
    axes.set_title("y_q-LSA, exact: demonstrations take the guess's place", fontsize=11, loc="left")


def _model_shares(axes: Axes, rows: list[ShotsRow], model: str) -> None:
    # Points of different guesses side by side, or their intervals would hide each other.
    for shift, (kind, colour) in zip((-0.12, 0.0, 0.12), FOLLOWED.items(), strict=True):
        found = [row for row in rows if row.guess == kind and np.isfinite(row.copied.value)]
        if not found:
            continue
        at = np.array([row.shots for row in found]) + shift
        value, low, high = (np.array([getattr(row.copied, part) for row in found]) for part in ("value", "low", "high"))
        axes.errorbar(
            at, value, [value - low, high - value], fmt="o-", color=colour, ms=4, lw=1.3, capsize=2, label=kind
        )
    axes.set_title(f"{model}: share copied, by guess", fontsize=11, loc="left")
