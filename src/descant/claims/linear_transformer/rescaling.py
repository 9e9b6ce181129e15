"""Section 5.2 in trained networks: the sign of w_yy in the last layer, and what it does there."""

import equinox as eqx
import numpy as np

from ..._sampling import standard_error
from ...attention import FreeDiag
from .. import Check, Evidence, Lab, Table, at_least, at_most, claim
from ._contexts import Contexts
from ._networks import Networks, networks, task_of
from ._omegas import as_free
from ._printed import LAW_NAMES

LAWS = ("uniform:5", "1,3")
QUIET, LOUD = {"uniform:5": 0.5, "1,3": 1.0}, {"uniform:5": 4.5, "1,3": 3.0}
COUNT = (2_048, 16_384)
LEAST_COST = 1.05


@claim(
    "rescaling-sign",
    paper="linear-transformer",
    whose="extension",
    where="Beside section 5.2",
    title="From three layers on, the last layer's ω_yy is positive, and enlarges answers more when there is more noise",
    statement=r"""
        Section 5.2 explains $\omega_{yy} < 0$: it shrinks the labels, more so the larger they are, as ridge regression
        shrinks least squares. In the DIAG networks that we found on $U(0, 5)$ and $\{1, 3\}$ ($d = 10$, $n = 20$), the
        last layer's $\omega_{yy}$ is negative with two layers. With three, four and five layers it is positive: the
        factor $1 + \omega_{yy} \lambda$ of the query's label is larger where there is more noise. It is used: without it,
        all else unchanged, the loss is a twentieth larger or more.
    """,
    refuted_by={
        "two": "A two-layer network that was found with a last $\\omega_{yy}$ that is not negative.",
        "deep": "A network of three to five layers that was found with a last $\\omega_{yy}$ that is not positive.",
        "noise": "One of these whose factor is not larger at the higher noise level.",
        "used": "One of these whose loss grows by less than a twentieth when its last $\\omega_{yy}$ is set to zero.",
    },
    method=r"""
        The weights of the trained networks; the labels' squared size $\lambda$ before the last layer on sampled contexts at
        a low and at a high noise level of the law; the loss with and without the weight, on the same contexts. Signs can't
        be turned by other choices of units: $\omega_{yy}$ multiplies $|y|^2$. Other minima of the loss may exist.
    """,
    quick="U(0, 5) and {1, 3}, DIAG with 2 to 5 layers",
    full="the same, up to 7 layers, 16,384 contexts",
    seconds=6,
)
def rescaling_sign(lab: Lab) -> Evidence:
    """Signs, factors and costs of every network."""
    checks, rows = [], []
    for law in LAWS:
        found = networks(lab, law)
        for layers in range(2, min(found.depth, 5) + 1):
            row = _row(lab, found, law, layers)
            rows.append((LAW_NAMES[law], layers, *row))
            checks += _checks(f"{layers} layers, {LAW_NAMES[law]}", layers, *row)
    table = Table(
        "last-layers",
        "The last layer's ω_yy: its factor at a low and a high noise level, and what the loss is without it",
        ("noise", "layers", "ω_yy", "factor, low", "±", "factor, high", "±", "loss without / with", "±"),
        tuple(rows),
        "Low and high are 0.5 and 4.5 for U(0, 5), and the two levels of {1, 3}.",
    )
    signs = Table(
        "signs", "Signs of the weights, layer by layer", ("noise", "layers", "ω_xy", "ω_yx", "ω_yy"), _signs(lab)
    )
    words = (
        "Two layers do what section 5.2 and Theorem 5.2 describe. Deeper networks shrink in earlier layers, where most "
        "$\\omega_{yy}$ are negative, and in the last one undo some of it where the labels that are left are large.",
    )
    headline = next(check.name for check in checks if check.against == "deep")
    return Evidence(tuple(checks), tables=(table, signs), words=words, headline=headline)


def _row(lab: Lab, found: Networks, law: str, layers: int) -> tuple[float, ...]:
    model: FreeDiag = as_free(found.models[f"diag {layers}"])
    last = float(model.w_yy[-1])
    factors: list[float] = []
    for sigma in (QUIET[law], LOUD[law]):
        contexts = Contexts.draw(task_of(law), lab.pick(*COUNT), lab.seed, sigma)
        *_, (_, gram), _ = contexts.tokens(model)
        values = 1 + last * gram[:, -1, -1]
        factors += [float(values.mean()), float(standard_error(values))]
    contexts = Contexts.draw(task_of(law), lab.pick(*COUNT), lab.seed + 1)
    without = eqx.tree_at(lambda m: m.w_yy, model, model.w_yy.at[-1].set(0.0))
    losses = contexts.network_losses({"with": model, "without": without})
    times = losses["without"].mean() / losses["with"].mean()
    error = standard_error(losses["without"] - times * losses["with"]) / losses["with"].mean()
    return (last, *factors, float(times), float(error))


def _checks(
    name: str, layers: int, last: float, low: float, low_error: float, high: float, high_error: float, times, error
) -> list[Check]:
    if layers == 2:
        return [
            at_most(f"last ω_yy, {name}", last, 0.0, tolerance=-1e-4, against="two", reason="Below 0, not rounding.")
        ]
    return [
        at_least(f"last ω_yy, {name}", last, 0.0, tolerance=-1e-4, against="deep", reason="Above 0, not rounding."),
        at_least(
            f"factor at the high level beside the low, {name}",
            high,
            low,
            error=high_error,
            bound_error=low_error,
            against="noise",
            reason="Larger, beyond standard errors.",
        ),
        at_least(
            f"loss without it over the loss with it, {name}",
            times,
            LEAST_COST,
            error=error,
            against="used",
            reason="A twentieth, as the statement says.",
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
