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

LAWS = (*(f"uniform:{top}" for top in range(2, 8)), "1,3", "1,3,5")
COUNT = (2_048, 16_384)
LEAST_COST = 1.05
# A weight whose size is below this has no sign.
SMALL = 1e-4


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
    title=r"In trained networks the last layer's $\omega_{yy}$ has either sign, not only the one of section 5.2",
    statement=r"""
        Section 5.2 explains $\omega_{yy} < 0$: it shrinks the labels, more so the larger they are, as ridge regression
        shrinks least squares. In the DIAG networks that we found on $U(0, 2)$ to $U(0, 7)$, $\{1, 3\}$ and $\{1, 3,
        5\}$ ($d = 10$, $n = 20$), the last layer's $\omega_{yy}$ is negative with two layers; with three and more both
        signs occur. Where it is positive, the factor $1 + \omega_{yy} \lambda$ of the query's label is larger where
        there is more noise, and it is used: without it, all else unchanged, the loss is a twentieth larger or more.
    """,
    refuted_by={
        "two": "A two-layer network that was found with a last $\\omega_{yy}$ that is not negative.",
        "both": "Only one of the signs in the networks of three layers and more.",
        "noise": "A network with a positive one whose factor is not larger at the higher noise level.",
        "used": "A network with a positive one whose loss grows by less than a twentieth when it is set to zero.",
    },
    method=r"""
        The weights of the trained networks; the labels' squared size $\lambda$ before the last layer on sampled
        contexts at a low and at a high noise level of the law; the loss with and without the weight, on the same
        contexts. Signs can't be turned by other choices of units: $\omega_{yy}$ multiplies $|y|^2$. Other minima of the
        loss may exist. That both signs occur was written after a look at these networks: a first version, on fewer
        laws, had found positive ones alone beyond two layers.
    """,
    quick="eight laws, DIAG with 2 to 5 or 7 layers",
    full="the same, 16,384 contexts",
    seconds=6,
)
def rescaling_sign(lab: Lab) -> Evidence:
    """Signs, factors and costs of every network."""
    rows: dict[tuple[str, int], Row] = {}
    used = [networks(lab, law) for law in LAWS]
    for law, found in zip(LAWS, used, strict=True):
        for layers in range(2, found.depth + 1):
            rows[law, layers] = _row(lab, found, law, layers)
    checks = _checks(rows)
    table = Table(
        "last-layers",
        "The last layer's ω_yy: its factor at a low and a high noise level, and what the loss is without it",
        ("noise", "layers", "ω_yy", "factor, low", "±", "factor, high", "±", "loss without / with", "±"),
        tuple((LAW_NAMES[law], layers, *row) for (law, layers), row in rows.items()),
        "Low and high are a tenth and nine tenths of a range, or the lowest and the highest level.",
    )
    signs = Table(
        "signs", "Signs of the weights, layer by layer", ("noise", "layers", "ω_xy", "ω_yx", "ω_yy"), _signs(lab)
    )
    words = (
        "Two layers do what section 5.2 and Theorem 5.2 describe. Deeper networks mostly shrink in earlier layers; "
        "those "
        "with a positive weight in the last one undo some of it where the labels that are left are large. The sign "
        "depends on the law and on the minimum that training found, so it is no property of the best network.",
    )
    headline = next(check.name for check in checks if check.against == "both")
    return Evidence(tuple(checks), tables=(table, signs), words=words, headline=headline, long_runs=notes(*used))


def _row(lab: Lab, found: Networks, law: str, layers: int) -> Row:
    model: FreeDiag = as_free(found.models[f"diag {layers}"])
    last = float(model.w_yy[-1])
    factors = []
    levels = [float(level) for level in law.removeprefix("uniform:").split(",")]
    for sigma in (0.1 * levels[0], 0.9 * levels[0]) if ":" in law else (levels[0], levels[-1]):
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


def _checks(rows: dict[tuple[str, int], Row]) -> list[Check]:
    """Two layers; and of the deeper ones, those that come nearest to a refutation."""
    two = max((key for key in rows if key[1] == 2), key=lambda key: rows[key].last)
    deep = {key: row for key, row in rows.items() if key[1] > 2}
    positive = [key for key, row in deep.items() if row.last > SMALL]
    negative = [key for key, row in deep.items() if row.last < -SMALL]
    checks = [
        at_most(
            f"largest last ω_yy of two layers, {LAW_NAMES[two[0]]}",
            rows[two].last,
            0.0,
            tolerance=-SMALL,
            against="two",
            reason="Below 0, clearly.",
        )
    ]
    for name, found in (("positive", positive), ("negative", negative)):
        name = f"networks of three layers and more, of {len(deep)}, with a {name} last ω_yy"
        checks.append(at_least(name, len(found), 1, against="both", reason="Both signs occur."))
    if positive:
        rises = min(positive, key=lambda key: deep[key].high - deep[key].low)
        cheap = min(positive, key=lambda key: deep[key].times - 3 * deep[key].error)
        checks += [
            at_least(
                f"factor at the high level beside the low, {rises[1]} layers, {LAW_NAMES[rises[0]]}",
                deep[rises].high,
                deep[rises].low,
                error=deep[rises].high_error,
                bound_error=deep[rises].low_error,
                against="noise",
                reason="Larger, beyond standard errors; the smallest rise where the weight is positive.",
            ),
            at_least(
                f"loss without it over the loss with it, {cheap[1]} layers, {LAW_NAMES[cheap[0]]}",
                deep[cheap].times,
                LEAST_COST,
                error=deep[cheap].error,
                against="used",
                reason="A twentieth, as the statement says; the smallest where the weight is positive.",
            ),
        ]
    return checks


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
