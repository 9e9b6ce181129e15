"""Section 5.2 in trained networks: the sign of w_yy in the last layer, and what it does there."""

from typing import NamedTuple

import equinox as eqx
import numpy as np

from ..._sampling import standard_error
from ...attention import FreeDiag
from .. import Check, Evidence, Lab, Table, at_least, at_most, claim
from ._contexts import Contexts
from ._networks import Networks, networks, notes, task_of
from ._omegas import as_free
from ._printed import LAW_NAMES

LAWS = ("uniform:2", "uniform:5", "1,3", "1,3,5")
QUIET = {"uniform:2": 0.5, "uniform:5": 0.5, "1,3": 1.0, "1,3,5": 1.0}
LOUD = {"uniform:2": 1.5, "uniform:5": 4.5, "1,3": 3.0, "1,3,5": 5.0}
COUNT = (2_048, 16_384)
LEAST_COST = 1.05
# From so many layers on.
DEEP = 4


class Row(NamedTuple):
    """The last w_yy, its factor at a low and a high noise level, and the loss without it over that with it."""

    last: float
    low: float
    low_error: float
    high: float
    high_error: float
    times: float
    error: float


@claim(
    "rescaling-sign",
    paper="linear-transformer",
    whose="extension",
    where="Beside section 5.2",
    title="From four layers on, the last layer's ω_yy is positive, and enlarges answers more when there is more noise",
    statement=r"""
        Section 5.2 explains $\omega_{yy} < 0$: it shrinks the labels, more so the larger they are, as ridge regression
        shrinks least squares. In the DIAG networks that we found on $U(0, 2)$, $U(0, 5)$, $\{1, 3\}$ and $\{1, 3, 5\}$
        ($d = 10$, $n = 20$), the last layer's $\omega_{yy}$ is negative with two layers, and with four and more it is
        positive: the factor $1 + \omega_{yy} \lambda$ of the query's label is larger where there is more noise. It is
        used: without it, all else unchanged, the loss is a twentieth larger or more.
    """,
    refuted_by={
        "two": "A two-layer network that was found with a last $\\omega_{yy}$ that is not negative.",
        "deep": "A network of four layers or more that was found with a last $\\omega_{yy}$ that is not positive.",
        "noise": "One of these whose factor is not larger at the higher noise level.",
        "used": "One of these whose loss grows by less than a twentieth when its last $\\omega_{yy}$ is set to zero.",
    },
    method=r"""
        The weights of the trained networks; the labels' squared size $\lambda$ before the last layer on sampled
        contexts at a low and at a high noise level of the law; the loss with and without the weight, on the same
        contexts. Signs can't be turned by other choices of units: $\omega_{yy}$ multiplies $|y|^2$. Other minima of the
        loss may exist.
    """,
    quick="four laws, DIAG with 2 to 5, 6 or 7 layers",
    full="the same, 16,384 contexts",
    seconds=6,
)
def rescaling_sign(lab: Lab) -> Evidence:
    """Signs, factors and costs of every network."""
    checks, rows = [], []
    for law in LAWS:
        found, by_depth = networks(lab, law), {}
        for layers in range(2, found.depth + 1):
            by_depth[layers] = _row(lab, found, law, layers)
            rows.append((LAW_NAMES[law], layers, *by_depth[layers]))
        checks += _checks(law, by_depth)
    table = Table(
        "last-layers",
        "The last layer's ω_yy: its factor at a low and a high noise level, and what the loss is without it",
        ("noise", "layers", "ω_yy", "factor, low", "±", "factor, high", "±", "loss without / with", "±"),
        tuple(rows),
        "Low and high are 0.5 and 1.5 for U(0, 2), 0.5 and 4.5 for U(0, 5), and the lowest and highest of the others.",
    )
    signs = Table(
        "signs", "Signs of the weights, layer by layer", ("noise", "layers", "ω_xy", "ω_yx", "ω_yy"), _signs(lab)
    )
    words = (
        "Two layers do what section 5.2 and Theorem 5.2 describe. Deeper networks shrink in earlier layers, where most "
        "$\\omega_{yy}$ are negative, and in the last one undo some of it where the labels that are left are large. "
        "With "
        "three layers both happen.",
    )
    headline = next(check.name for check in checks if check.against == "deep")
    return Evidence(
        tuple(checks), tables=(table, signs), words=words, headline=headline, long_runs=notes(networks(lab, LAWS[0]))
    )


def _row(lab: Lab, found: Networks, law: str, layers: int) -> Row:
    model: FreeDiag = as_free(found.models[f"diag {layers}"])
    last = float(model.w_yy[-1])
    factors = []
    for sigma in (QUIET[law], LOUD[law]):
        contexts = Contexts.draw(task_of(law), lab.pick(*COUNT), lab.seed, sigma)
        *_, (_, gram), _ = contexts.tokens(model)
        values = 1 + last * gram[:, -1, -1]
        factors.append((float(values.mean()), float(standard_error(values))))
    contexts = Contexts.draw(task_of(law), lab.pick(*COUNT), lab.seed + 1)
    without = eqx.tree_at(lambda m: m.w_yy, model, model.w_yy.at[-1].set(0.0))
    losses = contexts.network_losses({"with": model, "without": without})
    times = losses["without"].mean() / losses["with"].mean()
    error = standard_error(losses["without"] - times * losses["with"]) / losses["with"].mean()
    (low, low_error), (high, high_error) = factors
    return Row(last, low, low_error, high, high_error, float(times), float(error))


def _checks(law: str, rows: dict[int, Row]) -> list[Check]:
    """Two layers; and of the deeper ones, the one that comes nearest to a refutation."""
    name, deep = LAW_NAMES[law], {layers: row for layers, row in rows.items() if layers >= DEEP}
    two, least = rows[2].last, min(deep, key=lambda layers: deep[layers].last)
    rises = min(deep, key=lambda layers: deep[layers].high - deep[layers].low)
    cheap = min(deep, key=lambda layers: deep[layers].times)
    return [
        at_most(f"last ω_yy, 2 layers, {name}", two, 0.0, tolerance=-1e-4, against="two", reason="Below 0, clearly."),
        at_least(
            f"smallest last ω_yy, {least} layers, {name}",
            deep[least].last,
            0.0,
            tolerance=-1e-4,
            against="deep",
            reason="Above 0, clearly.",
        ),
        at_least(
            f"factor at the high level beside the low, {rises} layers, {name}",
            deep[rises].high,
            deep[rises].low,
            error=deep[rises].high_error,
            bound_error=deep[rises].low_error,
            against="noise",
            reason="Larger, beyond standard errors; the smallest rise of all depths.",
        ),
        at_least(
            f"loss without it over the loss with it, {cheap} layers, {name}",
            deep[cheap].times,
            LEAST_COST,
            error=deep[cheap].error,
            against="used",
            reason="A twentieth, as the statement says; the smallest of all depths.",
        ),
    ]


def _signs(lab: Lab) -> tuple[tuple[str, ...], ...]:
    """Of w_xy, w_yx and w_yy; 0 below a hundredth of the largest of their kind."""
    rows = []
    for law in LAWS:
        found = networks(lab, law)
        for layers in range(2, found.depth + 1):
            columns = np.asarray(found.models[f"diag {layers}"].omegas()).reshape(-1, 4)[:, 1:]
            small = np.abs(columns) < 0.01 * np.abs(columns).max(axis=0)
            marks = np.where(small, "0", np.where(columns > 0, "+", "-"))
            rows.append((LAW_NAMES[law], str(layers), *(" ".join(column) for column in marks.T)))
    return tuple(rows)
