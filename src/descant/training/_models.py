"""Models by name, as the command line knows them."""

from typing import Any

import jax
from jaxtyping import PRNGKeyArray

from .. import _check
from ..attention import (
    LSA,
    LTB,
    Axial,
    Diag,
    ELSAPredictor,
    FreeDiag,
    Full,
    GDPlusPlusTransformer,
    LinearGuess,
    SoftmaxTransformer,
)
from ..tasks import AbstractTask
from ._starts import random_start

MODELS = ("lsa", "yq-lsa", "ltb", "gd++", "diag", "free-diag", "axial", "full", "elsa", "softmax")
# Models whose layers and heads can be chosen, and whose layers can be tied.
STACKED = ("gd++", "diag", "free-diag", "axial", "full", "elsa", "softmax")
WITH_HEADS = ("lsa", "yq-lsa", "diag", "axial", "full", "elsa", "softmax")
# Size of the random weights of ELSA for a context of one number.
ELSA_SCALE = 0.6
TIEABLE = ("gd++", "diag", "free-diag", "axial", "full")


def make_model(
    name: str,
    task: AbstractTask,
    *,
    layers: int | None = None,
    heads: int | None = None,
    tied: bool = False,
    query_masked: bool = True,
    mlp: str | None = None,
    causal: bool = False,
    key: PRNGKeyArray,
) -> Any:
    """A model with random weights, of the size that the task's contexts call for."""
    _check.one_of("model", name, MODELS)
    for flag, value, allowed in (("layers", layers, STACKED), ("heads", heads, WITH_HEADS)):
        if value is not None:
            _check.size(flag, value)
            if name not in allowed and value != 1:
                raise ValueError(
                    f"{flag} is {value}, but {name} has no {flag} to choose; models with: {', '.join(allowed)}."
                )
    if tied and name not in TIEABLE:
        raise ValueError(f"tied layers were asked for, but {name} has none to tie; models with: {', '.join(TIEABLE)}.")
    if not query_masked and name not in ("lsa", "yq-lsa"):
        raise ValueError(f"the query can't be told to attend in {name}; models with the choice: lsa, yq-lsa.")
    if name != "softmax" and (mlp is not None or causal):
        raise ValueError(f"mlp and causal were asked for, but {name} has neither; the model with the choice: softmax.")
    depth, width = layers or 1, heads or 1
    d, n = task.d, task.n
    match name:
        case "lsa":
            return LSA.random(d, width, key=key, query_masked=query_masked)
        case "yq-lsa":
            guess = LinearGuess(0.1 * jax.random.normal(jax.random.fold_in(key, 1), (d,)))
            return LSA.random(d, width, key=key, guess=guess, query_masked=query_masked)
        case "ltb":
            return LTB.random(d, key=key)
        case "gd++":
            return random_start(GDPlusPlusTransformer.random(depth, key=key, tied=tied), task, key)
        case "diag":
            return random_start(Diag.random(depth, width, key=key, tied=tied), task, key)
        case "free-diag":
            return random_start(FreeDiag.random(depth, key=key, tied=tied), task, key)
        case "axial":
            return random_start(Axial.random(depth, width, key=key, tied=tied), task, key)
        case "full":
            return random_start(Full.random(d, depth, width, key=key, tied=tied), task, key)
        case "elsa":
            # A block is a sum over the context of products of three weights: their size falls with its size.
            return ELSAPredictor.random(d, n, layers or 2, width, key=key, scale=ELSA_SCALE / (n * d) ** (1 / 3))
    return SoftmaxTransformer(d, 64, layers or 2, heads or 4, key=key, mlp=mlp or "none", causal=causal)
