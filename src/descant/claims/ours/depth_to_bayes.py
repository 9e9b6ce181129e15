"""How many layers it takes to come near the Bayes rule, over the networks at hand."""

import numpy as np

from .. import Axis, Check, Evidence, Figure, Lab, Mean, Panel, Series, Table, at_least, at_most, claim, paired
from ..linear_transformer._measured import Measured
from ..linear_transformer._networks import networks, notes
from ..linear_transformer._printed import LAW_NAMES, printed_networks

LAWS = ("uniform:2", "uniform:5", "1,3", "1,3,5")
# Depths that come within twice the Bayes rule's loss, and depths that don't; the layers that halve the excess.
NEAR = {("uniform:2", 5), ("uniform:5", 4), ("1,3,5", 5)}
FAR = {("uniform:2", 4), ("uniform:5", 3), ("1,3", 6)}
HALVING = (3, 4)
# A late layer that does little.
LATE, LEFT = ("uniform:5", 7), 0.7


@claim(
    "depth-to-bayes",
    paper="descant",
    whose="extension",
    where="Beside Table 1 of Vladymyrov et al. 2024",
    title="Four or five layers of DIAG come within twice the Bayes rule's loss, but not six on noise levels 1 and 3",
    statement=r"""
        Let the excess be the adjusted loss of a DIAG network less that of the Bayes rule, which knows the law of the
        noise level but not the level ($d = 10$, $n = 20$, one head, the networks that we found). On $U(0, 2)$, $U(0,
        5)$, $\{1, 3\}$ and $\{1, 3, 5\}$ the third and the fourth layer take more than half of the excess each; on
        $U(0, 5)$ the seventh leaves more than seven tenths. Within twice the Bayes rule's loss are four layers on $U(0,
        5)$ (three are not), five on $U(0, 2)$ (four are not) and five on $\{1, 3, 5\}$; on $\{1, 3\}$ six are not.
    """,
    refuted_by={
        "half": "A third or fourth layer that leaves more than half of the excess.",
        "late": "A seventh layer on $U(0, 5)$ that leaves less than seven tenths.",
        "near": "A network that is said to be within twice the Bayes rule's loss, and is not.",
        "far": "A network that is said not to be, and is.",
    },
    method=r"""
        Losses on ordinary contexts of the trained networks and of the Bayes rule, on the same contexts; errors from
        parts of them, paired. How many layers a loss needs *at least* is not shown by networks that were found. What is
        said of single laws and layers was written after a look at these networks.
    """,
    quick="four laws, DIAG with 2 to 5, 6 or 7 layers",
    full="the same, trained anew, up to 7 layers",
    seconds=2,
)
def depth_to_bayes(lab: Lab) -> Evidence:
    """Excess over Bayes by depth and law."""
    checks, rows, panels, used = [], [], [], []
    for law in LAWS:
        found = networks(lab, law)
        used.append(found)
        measured, depths = found.measured, range(2, found.depth + 1)
        for layers in depths:
            times = measured.ratio(f"diag {layers}", "bayes")
            left = _left(measured, layers) if layers > 2 else None
            checks += _checks(law, layers, times, left)
            share = (left.value, left.error) if left else (None, None)
            printed = printed_networks("diag", law)[layers - 1]
            loss = measured.ordinary_mean(f"diag {layers}")
            rows.append((LAW_NAMES[law], layers, *loss, times.value, times.error, *share, printed))
        panels.append(_panel(law, measured, list(depths)))
    figure = Figure(
        "depth-to-bayes",
        "Excess over the Bayes rule by depth, DIAG",
        "The first layers halve it, later ones do less.",
        tuple(panels),
    )
    table = Table(
        "excess",
        "DIAG networks and the Bayes rule",
        (
            "noise",
            "layers",
            "loss",
            "±",
            "over the Bayes rule's",
            "±",
            "excess left by the layer",
            "±",
            "loss in Table 1",
        ),
        tuple(rows),
    )
    headline = next(check.name for check in checks if check.against == "far" and LAW_NAMES["1,3"] in check.name)
    return Evidence(tuple(checks), (figure,), (table,), headline=headline, long_runs=notes(*used))


def _parts(measured: Measured, name: str) -> np.ndarray:
    """The means over parts of the contexts."""
    row = measured.names.index(name)
    return np.array([block[row][-1] for block in measured.blocks])


def _left(measured: Measured, layers: int) -> Mean:
    """The share of the excess that the last of so many layers leaves; the error by its linear part, paired."""
    bayes = _parts(measured, "bayes")
    now, before = (_parts(measured, f"diag {depth}") - bayes for depth in (layers, layers - 1))
    share = float(now.mean() / before.mean())
    spread = paired(now, share * before)
    return Mean(share, spread.error / float(before.mean()), spread.freedom)


def _checks(law: str, layers: int, times: Mean, left: Mean | None) -> list[Check]:
    checks: list[Check] = []

    def compare(relation, name: str, found: Mean, bound: float, against: str, words: str) -> None:
        name, why = f"{name}, {LAW_NAMES[law]}", f"{words}, as the statement says."
        error, freedom = found.error, found.freedom
        checks.append(relation(name, found.value, bound, error=error, freedom=freedom, against=against, reason=why))

    loss, share = f"loss over the Bayes rule's, {layers} layers", f"share of the excess that layer {layers} leaves"
    if (law, layers) in NEAR:
        compare(at_most, loss, times, 2.0, "near", "Twice")
    if (law, layers) in FAR:
        compare(at_least, loss, times, 2.0, "far", "Twice")
    if left and layers in HALVING:
        compare(at_most, share, left, 0.5, "half", "Half")
    if left and (law, layers) == LATE:
        compare(at_least, share, left, LEFT, "late", "Seven tenths")
    return checks


def _panel(law: str, measured: Measured, depths: list[int]) -> Panel:
    bayes = measured.mean("bayes")[0]
    excess = [paired(_parts(measured, f"diag {layers}"), _parts(measured, "bayes")) for layers in depths]
    values, errors = (tuple(each[index] for each in excess) for index in (0, 1))
    table_1 = [(index, loss - bayes) for index, loss in enumerate(printed_networks("diag", law), start=1) if index > 1]
    series = (
        Series("ours", tuple(depths), values, errors),
        Series("Table 1", *(tuple(column) for column in zip(*table_1, strict=True)), style="points"),
    )
    return Panel(LAW_NAMES[law], Axis("layers"), Axis("loss less the Bayes rule's", log=True), series)
