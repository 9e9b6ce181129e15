"""How many layers it takes to come near the Bayes rule, over the networks at hand."""

import math

from .. import Axis, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ..linear_transformer._networks import networks
from ..linear_transformer._printed import LAW_NAMES, printed_networks

LAWS = ("uniform:5", "1,3")
# Within this factor of the Bayes rule's loss.
NEAR = 2.0
DEEPEST = 5
LEFT = 2 / 3


@claim(
    "depth-to-bayes",
    paper="descant",
    whose="extension",
    where="Beside Table 1 of Vladymyrov et al. 2024",
    title="Up to five layers, each takes a third or more of what is left to Bayes; two noise levels need more than five",
    statement=r"""
        Let the excess be the adjusted loss of a DIAG network less that of the Bayes rule, which knows the law of the noise
        level but not the level ($d = 10$, $n = 20$, one head, the networks that we found). On $U(0, 5)$ and on $\{1, 3\}$,
        from two layers to five every further layer takes at least a third of the excess. On $U(0, 5)$ four layers come
        within twice the Bayes rule's loss, and three do not; on $\{1, 3\}$ five do not.
    """,
    refuted_by={
        "layer": "A layer, from the third to the fifth, that leaves more than two thirds of the excess.",
        "near": "Four layers on $U(0, 5)$ with more than twice the Bayes rule's loss.",
        "far": "Three layers on $U(0, 5)$, or five on $\\{1, 3\\}$, within twice the Bayes rule's loss.",
    },
    method=r"""
        Losses on ordinary contexts of the trained networks and of the Bayes rule, on the same contexts. Errors of
        differences are taken as if they were not: too large, if anything. How many layers a loss needs *at least* is not
        shown by networks that were found.
    """,
    quick="U(0, 5) and {1, 3}, up to 5 layers",
    full="the same with larger pools",
    seconds=1,
)
def depth_to_bayes(lab: Lab) -> Evidence:
    """Excess over Bayes by depth and law."""
    checks, rows, panels = [], [], []
    for law in LAWS:
        measured, label = networks(lab, law).measured, LAW_NAMES[law]
        bayes, bayes_error = measured.mean("bayes")
        found = {layers: measured.ordinary_mean(f"diag {layers}") for layers in range(2, DEEPEST + 1)}
        excess = {layers: (loss - bayes, math.hypot(error, bayes_error)) for layers, (loss, error) in found.items()}
        for layers, (loss, error) in found.items():
            printed = printed_networks("diag", law)[layers - 1]
            times, spread = loss / bayes, loss / bayes * math.hypot(error / loss, bayes_error / bayes)
            rows.append((label, layers, loss, error, times, spread, *excess[layers], printed))
            if layers > 2:
                left, before = excess[layers], excess[layers - 1]
                share = left[0] / before[0]
                checks.append(
                    at_most(
                        f"share of the excess that layer {layers} leaves, {label}",
                        share,
                        LEFT,
                        error=share * math.hypot(left[1] / left[0], before[1] / before[0]),
                        against="layer",
                        reason="Two thirds, as the statement says.",
                    )
                )
            name, why = f"loss over the Bayes rule's, {layers} layers, {label}", "Twice, as the statement says."
            if (law, layers) == ("uniform:5", 4):
                checks.append(at_most(name, times, NEAR, error=spread, against="near", reason=why))
            if (law, layers) in (("uniform:5", 3), ("1,3", 5)):
                checks.append(at_least(name, times, NEAR, error=spread, against="far", reason=why))
        depths, values = tuple(map(float, excess)), list(excess.values())
        ours = Series("ours", depths, tuple(value for value, _ in values), tuple(error for _, error in values))
        table_1 = [(float(index), loss - bayes) for index, loss in enumerate(printed_networks("diag", law), start=1)][
            1:
        ]
        paper = Series("Table 1", *(tuple(column) for column in zip(*table_1, strict=True)), style="points")
        panels.append(Panel(label, Axis("layers"), Axis("loss less the Bayes rule's", log=True), (ours, paper)))
    figure = Figure(
        "depth-to-bayes",
        "Excess over the Bayes rule by depth, DIAG",
        "Each layer takes a third or more, up to five. In the paper's Table 1 the sixth and seventh take less on U(0, 5).",
        tuple(panels),
    )
    table = Table(
        "excess",
        "DIAG networks and the Bayes rule",
        ("noise", "layers", "loss", "±", "over the Bayes rule's", "±", "excess", "±", "loss in Table 1"),
        tuple(rows),
    )
    headline = next(check.name for check in checks if check.against == "far" and "5 layers" in check.name)
    return Evidence(tuple(checks), (figure,), (table,), headline=headline)
