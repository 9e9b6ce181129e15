"""Risks in closed form."""

import math

import jax

from .. import _check, _memory
from .._arrays import quietly, settled
from .._predictor import AbstractPredictor, Merged
from .._unknown import Unknown
from ..tasks import AbstractTask
from ..theory import affine_risk, known_laws


@quietly
def exact_risk(predictor: AbstractPredictor, task: AbstractTask) -> float:
    """The predictor's risk in closed form; `Unknown` if there is none, with the reason.

    One layer of linear attention (anything affine in the Gram matrix) has one wherever the moments of the task's laws
    are known, see `theory.GramMoments`; others have one if they say so themselves. One beyond what numbers hold is an
    `OverflowError`.

    >>> from descant import LinearRegression, UniformInputs, estimators
    >>> exact_risk(estimators.Zero(), LinearRegression(d=3, n=5, inputs=UniformInputs(-1, 1)))
    1.0
    """
    try:
        _memory.need(f"the merged form of a layer in d = {task.d} dimensions", 6 * task.d * (task.d + 1) ** 2, "d")
        merged = predictor.gram_affine(task.d, task.n)
    except Unknown as not_merged:
        try:
            value = float(predictor.exact_risk(task))
        except Unknown as reason:
            raise Unknown(f"{not_merged}, and {reason}") from None
        # Some are infinite in truth: least squares with noise and as many tokens as dimensions.
        return _number(value, predictor, overflowed=math.isnan(value))
    value = float(merged_risk(merged, task))
    return _number(value, predictor, overflowed=not math.isfinite(value))


def _number(value: float, predictor: AbstractPredictor, *, overflowed: bool) -> float:
    """The value, unless it is what an overflow left of it."""
    if overflowed:
        raise OverflowError(
            f"the risk of {type(predictor).__name__} on this task is beyond what numbers hold; expected a smaller "
            "prior mean, prior scale or noise level, or smaller weights."
        )
    return value


def merged_risk(merged: Merged, task: AbstractTask):
    """The exact risk of a layer in merged form; in NumPy, which has it before JAX has compiled anything."""
    _check.inputs(merged.offset.shape[0], task.d)
    laws = jax.tree.map(settled, known_laws(task, query_masked=merged.query_masked))
    return affine_risk(laws, settled(merged.offset), settled(merged.tensor), query_masked=merged.query_masked)
