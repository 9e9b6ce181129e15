"""One head ties the four weights; two set them free."""

import numpy as np

from .. import CONTROL, Axis, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ._networks import networks, notes, task_of
from ._omegas import as_free
from ._pictures import LOSS
from ._printed import LAW_NAMES, printed_networks
from ._spectra import oracle_risk
from ._table1 import sampling_error

LAW = "1,3"


@claim(
    "single-head",
    paper="linear-transformer",
    whose="extension",
    where="Section 5; the experiments use one head throughout",
    title="On two noise levels and four layers, free weights come within a fifth of the loss printed for FULL",
    statement=r"""
        With one head $\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx}$ in every layer; with two or more the four are
        free. On $\sigma \in \{1, 3\}$ free weights have a smaller loss than one head at every depth from three on (with
        two layers the two differ by half a percent), and with four layers they come within a fifth of the loss that the
        paper prints for FULL with one head, all errors allowed for. (The paper leaves the difference between DIAG and
        FULL open.)
    """,
    refuted_by={
        "no better": "Free weights of three or four layers whose loss is not below that of one head.",
        "above": "Free weights of four layers whose loss may be a fifth above the one printed for FULL.",
    },
    method="Networks with free weights are trained from the one-head networks, from shallower ones with a layer "
    "added, and from random weights; all are measured on the same fresh contexts.",
    quick="{1, 3}, up to 4 layers, networks from a long run, measured again",
    full="{1, 3}, up to 5 layers, trained here with larger pools and more starts",
    seconds=8,
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
            ratio = free.measured.ratio(f"free {layers}", f"diag {layers}", other=one.measured)
            checks.append(
                at_most(
                    f"free weights over one head, {layers} layers",
                    ratio.value,
                    1.0,
                    error=ratio.error,
                    freedom=ratio.freedom,
                    reason="Better is below, beyond standard errors on the same contexts.",
                    against="no better",
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
            bound_error=sampling_error(printed, oracle_risk(task_of(LAW))[0]),
            tolerance=0.2 * printed,
            reason="A fifth, all errors allowed for, as in `table-1`: the paper's own follow from its 100,000 "
            "sequences with one query each.",
            printed=f"{printed}",
            against="above",
        ),
        at_most(
            "|w_xx w_yy - w_xy w_yx| of the trained one-head networks, relative",
            max(row[-1] for row in rows),
            0.0,
            tolerance=1e-14,
            reason="One head ties them by construction: rounding.",
            against=CONTROL,
        ),
        at_least(
            "the same of the free network with 4 layers, its largest layer",
            _tie(free.models["free 4"]),
            0.01,
            reason="If training left the tie as it was, this would be rounding.",
            against=CONTROL,
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
    return Evidence(tuple(checks), (figure,), (table,), headline=checks[1].name, long_runs=notes(one, free))


def _tie(model) -> float:
    """The largest |det| of a layer's omegas, relative to their products."""
    omegas = np.asarray(as_free(model).omegas())
    first, second = omegas[:, 0, 0] * omegas[:, 1, 1], omegas[:, 0, 1] * omegas[:, 1, 0]
    return float(np.max(np.abs(first - second) / np.maximum(np.abs(first) + np.abs(second), 1e-300)))
