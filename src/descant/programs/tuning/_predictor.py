"""A compiled program as a predictor: its inputs are taken from a prompt, its output is the answer."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..._predictor import AbstractPredictor
from ...attention import ELSA, Kind
from ...tasks import Prompt
from .._compiled import CompiledProgram
from .._description import Description, Rectangle

INPUTS, LABELS, QUERY = "inputs", "labels", "query"
# What inputs of a program are called that a prompt has, in lower case.
ROLES = {"x": INPUTS, "y": LABELS, "query": QUERY, "x_query": QUERY, "q": QUERY}
WEIGHTS, PREDICTION = "weights", "prediction"


class ProgramPredictor(AbstractPredictor):
    """A network of extended linear self-attention on H as a compiled program has it.

    **Arguments:** `network`; `rows` of H; `inputs` are what of a prompt stands where, (role, column) with the roles
    inputs, labels and query; a query may lie (`query_row`). `answer` says what is read after the last block: "weights",
    a vector of d numbers whose product with the query is the prediction, or "prediction" itself, from `column` on.
    """

    network: ELSA
    rows: int = eqx.field(static=True)
    inputs: tuple[tuple[str, int], ...] = eqx.field(static=True)
    answer: str = eqx.field(static=True)
    column: int = eqx.field(static=True)
    query_row: bool = eqx.field(static=True, default=False)

    @classmethod
    def of(cls, compiled: CompiledProgram) -> "ProgramPredictor":
        """Bind a program by the names and shapes of its inputs and outputs.

        `X` is the n × d matrix of a prompt's inputs, `y` the n × 1 column of its labels, `query` (or `x_query`) the
        query, d × 1 or 1 × d. Other inputs must be optional, and stay zero. A program that reads the query returns its
        prediction, 1 × 1; one that does not returns d × 1 weights, whose product with the query is the prediction.
        """
        description = compiled.description
        roles = _roles(description)
        answer = _answer(description, roles)
        reads = tuple((role, each.column) for role, each in roles.items() if each.column >= 0)
        kind = PREDICTION if QUERY in roles else WEIGHTS
        lies = QUERY in roles and roles[QUERY].rows == 1 and roles[INPUTS].width > 1
        return cls(compiled.network, description.rows, reads, kind, answer.column, lies)

    def embed(self, prompt: Prompt) -> Float[Array, "r c"]:
        """H before the first block: what the program reads of the prompt, each in its columns."""
        h = jnp.zeros((self.rows, self.network.blocks[0].columns), prompt.x.dtype)
        query = prompt.x_query[None, :] if self.query_row else prompt.x_query[:, None]
        values = {INPUTS: prompt.x, LABELS: prompt.y[:, None], QUERY: query}
        for role, column in self.inputs:
            value = values[role]
            h = h.at[: value.shape[0], column : column + value.shape[1]].set(value)
        return h

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Embed, run, read the answer."""
        h = self.network(self.embed(prompt))
        if self.answer == PREDICTION:
            return h[0, self.column]
        return h[: prompt.d, self.column] @ prompt.x_query


def _roles(description: Description) -> dict[str, Rectangle]:
    found: dict[str, Rectangle] = {}
    for each in description.inputs:
        role = ROLES.get(each.name.lower())
        if role is None and not each.optional:
            raise ValueError(
                f"{description.program} takes {each.name} ({each.rows} x {each.width}), which no prompt has; a program "
                "that is trained takes X, y and query, and others only if they are optional, `= 0`."
            )
        if role in found:
            raise ValueError(f"{description.program} takes both {found[role].name} and {each.name}; leave one out.")
        if role is not None:
            found[role] = each
    if not {INPUTS, LABELS} <= set(found):
        raise ValueError(
            f"{description.program} takes {', '.join(each.name for each in description.inputs) or 'nothing'}; a "
            "program that is trained takes X (n x d) and y (n x 1)."
        )
    (n, d), labels = (found[INPUTS].rows, found[INPUTS].width), found[LABELS]
    if (labels.rows, labels.width) != (n, 1):
        raise ValueError(f"{labels.name} is {labels.rows} x {labels.width}; expected {n} x 1, the labels of X.")
    query = found.get(QUERY)
    if query is not None and (query.rows, query.width) not in ((d, 1), (1, d)):
        raise ValueError(f"{query.name} is {query.rows} x {query.width}; expected {d} x 1, a query for X.")
    return found


def _answer(description: Description, roles: dict[str, Rectangle]) -> Rectangle:
    d = roles[INPUTS].width
    shape, what = ((1, 1), "its prediction") if QUERY in roles else ((d, 1), "its weights")
    fitting = [each for each in description.outputs if (each.rows, each.width) == shape]
    named = [each for each in fitting if each.name in ("prediction", "w")] or fitting
    if not named:
        raise ValueError(
            f"{description.program} returns nothing of {shape[0]} x {shape[1]}, which would be {what}; one with a "
            "query returns the prediction, one without it the weights w."
        )
    return named[0]


def _make(task: Any, *, key: Any) -> ProgramPredictor:
    del task, key
    raise ValueError("a program is no kind of random model; train it with `descant train --from ridge`.")


KIND = Kind(
    name="program",
    sentence="a compiled matrix program, from `descant train --from`",
    model=ProgramPredictor,
    make=_make,
)
