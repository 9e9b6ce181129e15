"""Do networks that fit two noise levels better do worse at others? Over all networks at hand."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ..._checks import Z
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ..linear_transformer._contexts import Contexts
from ..linear_transformer._networks import networks, task_of

LAW = "1,3"
KINDS = ("diag", "free", "without-w_xx", "without-w_xy", "without-w_yy", "full")
# Noise levels that were not trained: below, between and above those that were.
BELOW, BETWEEN, ABOVE = 0.0, 2.0, 4.0
COUNT = (2_048, 16_384)
SHALLOWEST = 2


@claim(
    "extrapolation-and-fit",
    paper="descant",
    whose="extension",
    where="Beside Figure 3 of Vladymyrov et al. 2024",
    title="Trained on noise levels 1 and 3, better networks are worse at 2 and better at 0",
    statement=r"""
        Vladymyrov et al. find that FULL fits $\sigma \in \{1, 3\}$ better than DIAG and does worse on levels not trained
        on. Over all our networks with two to five layers that see the labels' size (DIAG, free weights, one weight left
        out, FULL; $d = 10$, $n = 20$), this follows the fit, not the kind, and the level decides: the smaller the loss
        over $\{1, 3\}$, the larger the loss at 2, between the two; and the smaller the loss at 0. The Bayes rule of
        $\{1, 3\}$ is worse at 2 than all of them: approaching it, networks have to get worse there.
    """,
    refuted_by={
        "between": "A rank correlation of loss and loss at 2, over the networks, that is not negative.",
        "below": "A rank correlation of loss and loss at 0 that is not positive.",
        "bayes": "A network with a larger loss at 2 than the Bayes rule of {1, 3}.",
    },
    method=r"""
        Losses over the law and at single levels, for every network. Spearman's rank correlation, with an interval by
        Fisher's transformation (variance $(1 + r^2/2)/(m - 3)$ for $m$ networks, three standard errors). It treats networks
        as independent draws, which they are not: deeper ones began as shallower ones.
    """,
    quick="all networks trained on {1, 3}, 2,048 contexts per level",
    full="the same with deeper networks, 16,384 contexts per level",
    seconds=8,
)
def extrapolation_and_fit(lab: Lab) -> Evidence:
    """Losses inside and outside, and their rank correlations."""
    levels = {
        sigma: Contexts.draw(task_of(LAW), lab.pick(*COUNT), lab.seed, sigma) for sigma in (BELOW, BETWEEN, ABOVE)
    }
    rows = [row for kind in KINDS for row in _rows(lab, kind, levels)]
    measured = networks(lab, LAW).measured
    bayes = {sigma: measured.profile("bayes")[0][measured.sigmas.index(sigma)] for sigma in levels}
    seeing = [row for row in rows if not row[0].startswith("gd++")]
    inside = [row[1] for row in seeing]
    found = {sigma: _correlation(inside, [row[3 + index] for row in seeing]) for index, sigma in enumerate(levels)}
    checks = (
        _check("≤", BETWEEN, found[BETWEEN], "between", len(seeing)),
        _check("≥", BELOW, found[BELOW], "below", len(seeing)),
        at_most(
            "largest loss of a network at σ = 2 over that of the Bayes rule",
            max(row[4] for row in seeing) / bayes[BETWEEN],
            1.0,
            against="bayes",
            reason="Not above it.",
        ),
    )
    names = ("network", "loss over {1, 3}", "±", *(f"σ = {sigma:g}" for sigma in levels))
    last = ("Bayes rule of {1, 3}", *measured.mean("bayes"), *bayes.values())
    table = Table("networks", "Losses inside and outside", names, (*sorted(rows, key=lambda row: -row[1]), last))
    above = found[ABOVE]
    words = (
        f"At σ = {ABOVE:g}, above both, the rank correlation is {above[0]:+.2f} (from {above[1]:+.2f} to "
        f"{above[2]:+.2f}). GD++, whose one constant lies between the levels, is best of all at 2 whatever its fit.",
    )
    return Evidence(checks, (_figure(seeing, bayes, list(levels)),), (table,), words)


def _rows(lab: Lab, kind: str, levels: dict[float, Contexts]) -> list[tuple[Any, ...]]:
    """Name, loss over the law with its error, losses at the levels."""
    found = networks(lab, LAW, kind)
    rows = []
    for name, model in found.models.items():
        if int(name.split()[-1]) < SHALLOWEST:
            continue
        if kind == "full":
            profile = dict(zip(found.measured.sigmas, found.measured.profile(name)[0], strict=True))
            outside = [profile[sigma] for sigma in levels]
        else:
            outside = [float(contexts.network_losses({name: model})[name].mean()) for contexts in levels.values()]
        rows.append((name, *found.measured.ordinary_mean(name), *outside))
    return rows


def _correlation(inside: list[float], outside: list[float]) -> tuple[float, float, float]:
    """Spearman's, and its interval."""
    found = float(np.clip(spearmanr(inside, outside).statistic, -0.999, 0.999))
    spread = Z * np.sqrt((1 + found**2 / 2) / (len(inside) - 3))
    return found, float(np.tanh(np.arctanh(found) - spread)), float(np.tanh(np.arctanh(found) + spread))


def _check(relation: str, sigma: float, found: tuple[float, float, float], against: str, count: int) -> Check:
    compare = at_most if relation == "≤" else at_least
    check = compare(
        f"rank correlation of loss and loss at σ = {sigma:g}, {count} networks",
        found[0],
        0.0,
        against=against,
        reason="The sign, with the interval of Fisher's transformation.",
    )
    return replace(check, interval=found[1:])


def _figure(rows: list[tuple[Any, ...]], bayes: dict[float, float], levels: list[float]) -> Figure:
    panels = [
        Panel(
            f"σ = {sigma:g}",
            Axis("loss over {1, 3}", log=True),
            Axis(f"loss at σ = {sigma:g}", log=True),
            (Series("networks", tuple(row[1] for row in rows), tuple(row[3 + index] for row in rows), style="points"),),
            (Baseline("Bayes rule of {1, 3}", bayes[sigma]),),
        )
        for index, sigma in enumerate(levels)
    ]
    return Figure(
        "extrapolation-and-fit",
        "Loss at levels that were not trained against the fit",
        "Each point is a network. Below the trained levels better fits help, between them they hurt.",
        tuple(panels),
    )
