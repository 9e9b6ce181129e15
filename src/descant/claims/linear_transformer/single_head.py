"""One head ties the four weights; two set them free."""

import numpy as np

from .. import Axis, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ._networks import networks
from ._omegas import as_free
from ._pictures import LOSS
from ._printed import LAW_NAMES, printed_networks

LAW = "1,3"


@claim(
    "single-head",
    paper="linear-transformer",
    where="Section 5; the experiments use one head throughout",
    title="A second head closes most of the gap between DIAG and FULL",
    statement=r"""
        With one head $\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx}$ in every layer; with two or more the four are
        free. On $\sigma \in \{1, 3\}$ free weights have a smaller loss than one head at every depth from three on (with
        two layers the two differ by half a percent), and with four layers they reach the loss that the paper prints for
        FULL with one head. (Ours: the paper leaves the difference between DIAG and FULL open.)
    """,
    refuted_by="Free weights that are no better than one head, or that stay above the printed FULL loss at four "
    "layers.",
    method="Networks with free weights are trained from the one-head networks, from shallower ones with a layer "
    "added, and from random weights; all are measured on the same fresh contexts.",
    quick="{1, 3}, up to 4 layers",
    full="{1, 3}, up to 5 layers, larger pools and more starts",
    seconds=140,
)
def single_head(lab: Lab) -> Evidence:
    """Losses of one head and of free omegas, by depth."""
    one, free = networks(lab, LAW), networks(lab, LAW, "free")
    checks: list[Check] = []
    rows = []
    depth = free.depth
    for layers in range(1, depth + 1):
        bound, bound_error = one.measured.ordinary_mean(f"diag {layers}")
        value, error = free.measured.ordinary_mean(f"free {layers}")
        full = printed_networks("full", LAW)[layers - 1]
        rows.append((layers, bound, bound_error, value, error, full, _tie(one.models[f"diag {layers}"])))
        if layers >= 3:
            checks.append(
                at_most(
                    f"free weights over one head, {layers} layers",
                    value / bound,
                    1.0,
                    error=value / bound * ((error / value) ** 2 + (bound_error / bound) ** 2) ** 0.5,
                    reason="Better is below, beyond standard errors.",
                )
            )
    value, error = free.measured.ordinary_mean("free 4")
    printed = printed_networks("full", LAW)[3]
    checks += [
        at_most(
            "free weights with 4 layers against the paper's FULL with one head",
            value,
            printed,
            error=error,
            tolerance=0.03 * printed + 6 * error,
            reason="3% for training, and three standard errors (six here, because a check must hold for all values "
            "within three).",
            printed=f"{printed}",
        ),
        at_most(
            "|w_xx w_yy - w_xy w_yx| of the trained one-head networks, relative",
            max(row[-1] for row in rows),
            0.0,
            tolerance=1e-12,
            reason="One head ties them by construction: rounding.",
        ),
        at_least(
            "the same of the free network with 4 layers, its largest layer",
            _tie(free.models["free 4"]),
            0.01,
            reason="If training left the tie as it was, this would be rounding.",
        ),
    ]
    layers = tuple(range(1, depth + 1))
    figure = Figure(
        "single-head",
        "One head, and free weights",
        "Free weights lie below one head, and at four layers on the loss that the paper prints for FULL. At three "
        "layers FULL is still better.",
        (
            Panel(
                LAW_NAMES[LAW],
                Axis("layers"),
                Axis(LOSS, log=True),
                (
                    Series("DIAG, one head", layers, tuple(row[1] for row in rows), tuple(row[2] for row in rows)),
                    Series("free weights", layers, tuple(row[3] for row in rows), tuple(row[4] for row in rows)),
                    Series("paper, FULL", layers, tuple(row[5] for row in rows), style="points"),
                ),
            ),
        ),
        columns=1,
    )
    table = Table(
        "heads",
        "Adjusted half-MSE with one head and with free weights",
        ("layers", "one head", "±", "free weights", "±", "paper, FULL", "tie broken by, one head"),
        tuple(rows),
    )
    return Evidence(tuple(checks), (figure,), (table,))


def _tie(model) -> float:
    """The largest |det| of a layer's omegas, relative to their products."""
    omegas = np.asarray(as_free(model).omegas())
    first, second = omegas[:, 0, 0] * omegas[:, 1, 1], omegas[:, 0, 1] * omegas[:, 1, 0]
    return float(np.max(np.abs(first - second) / np.maximum(np.abs(first) + np.abs(second), 1e-300)))
