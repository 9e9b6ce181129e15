"""What the exact risk of one layer depends on: the laws of a task, as far as its closed form needs them."""

from jaxtyping import Float

from .._arrays import Arrays, Number
from .._unknown import Unknown
from ..forms import LONGEST, attending_risk, gram_risk
from ..tasks import AbstractTask
from ._gram_moments import GramMoments
from ._problem import Problem

SIXTH = "a query that attends takes sixth moments of the inputs, which are known for Gaussian ones only"


def known_laws(task: AbstractTask, *, query_masked: bool = True) -> Problem | GramMoments:
    """The task's laws: in closed form for Gaussian ones, by their moments for others.

    **Arguments:** `query_masked=False` asks for what an attending query takes, which Gaussian laws alone know.

    **Returns:** a `Problem` or `GramMoments`; `Unknown` says what is missing.

    >>> from descant import LinearRegression, UniformInputs
    >>> type(known_laws(LinearRegression(d=3, n=5))).__name__
    'Problem'
    >>> type(known_laws(LinearRegression(d=3, n=5, inputs=UniformInputs(-1, 1)))).__name__
    'GramMoments'
    """
    if task.n > LONGEST:
        raise Unknown(f"n is {task.n}, and beyond {LONGEST} tokens closed forms lose their digits")
    try:
        return Problem.of(task)
    except Unknown as reason:
        if not query_masked:
            raise Unknown(f"{reason}, and {SIXTH}") from None
    return GramMoments.of(task)


def affine_risk(
    laws: Problem | GramMoments,
    offset: Float[Arrays, " d"],
    tensor: Float[Arrays, "d e e"],
    *,
    query_masked: bool = True,
) -> Number:
    """The risk of the layer with weights offset_l + `<tensor_l, G/n>`, differentiable in both.

    **Arguments:** `laws` are `known_laws` of a task; `offset` (d,) and `tensor` (d, d+1, d+1). With
    `query_masked=False` the query token is in G too, which takes Gaussian laws: `Unknown` for others.

    >>> import jax.numpy as jnp
    >>> from descant import LinearRegression, UniformInputs
    >>> laws = known_laws(LinearRegression(d=3, n=5, inputs=UniformInputs(-1, 1)))
    >>> round(float(affine_risk(laws, jnp.zeros(3), jnp.zeros((3, 4, 4)))), 4)
    1.0
    """
    if isinstance(laws, Problem):
        return (gram_risk if query_masked else attending_risk)(laws, offset, tensor)
    if not query_masked:
        raise Unknown(SIXTH)
    return laws.risk(offset, tensor)
