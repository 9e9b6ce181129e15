"""The same models as PyTorch modules, for people who work there."""

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import numpy as np

from ._elsa import ELSAPredictor
from ._guess import AbstractGuess, ConstantGuess, GivenGuess, LinearGuess, NoGuess
from ._linear_transformer import AbstractLinearTransformer, Full, as_full
from ._lsa import LSA
from ._ltb import LTB, MergedLTB
from ._softmax import SoftmaxTransformer

if TYPE_CHECKING:
    import torch  # pyright: ignore[reportMissingImports]


def to_torch(model: eqx.Module, d: int | None = None) -> "torch.nn.Module":
    """An `nn.Module` with the same output; its parameters are the model's, LTB merged, diagonal and axial networks written out.

    Its `forward(x, y, x_query, guess=None)` takes batches: x (..., n, d), y (..., n), x_query (..., d), and gives (...).
    `d` is needed for diagonal and axial linear transformers, which fit any; they become dense.

    PyTorch is not among Descant's requirements: install it, or `descant[torch]`.
    """
    try:
        import torch  # noqa: F401, PLC0415  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ImportError("to_torch needs PyTorch; install descant[torch].") from None
    from . import _torch_modules as modules  # noqa: PLC0415

    if isinstance(model, AbstractLinearTransformer):
        if d is None and isinstance(model, Full):
            d = model.p.shape[-1] - 1
        if d is None:
            raise ValueError(
                "d is missing; a linear transformer becomes dense in PyTorch, which needs the input dimension."
            )
        p, q = as_full(model, d).parameters()
        return modules.Transformer(_numpy(p), _numpy(q))
    match model:
        case LSA(v=v, u=u):
            switches = {"query_masked": model.query_masked, "normalized": model.normalized, "residual": model.residual}
            return modules.LSA(_numpy(v), _numpy(u), *_guess(model.guess), **switches)
        case LTB():
            return to_torch(model.merged())
        case MergedLTB(v=v, u=u, skip=skip):
            return modules.MergedLTB(_numpy(v), _numpy(u), _numpy(skip))
        case ELSAPredictor(network=network):
            blocks = [
                {name: _numpy(getattr(block, name)) for name in ("w1", "w2", "w3", "b1", "b2", "b3")}
                for block in network.unrolled()
            ]
            return modules.ELSA(blocks, [block.residual for block in network.unrolled()], network.blocks[0].columns)
        case SoftmaxTransformer():
            return modules.Softmax(
                jax.tree.map(np.asarray, eqx.filter(model, eqx.is_array)), model, *_guess(model.guess)
            )
    raise ValueError(f"a {type(model).__name__} has no PyTorch form.")


def _numpy(array) -> np.ndarray | None:
    return None if array is None else np.array(array)


def _guess(guess: AbstractGuess) -> tuple[str, Any]:
    match guess:
        case NoGuess():
            return "none", None
        case LinearGuess(g=g):
            return "linear", _numpy(g)
        case ConstantGuess(c=c):
            return "constant", _numpy(c)
        case GivenGuess():
            return "given", None
    raise ValueError(f"a {type(guess).__name__} has no PyTorch form.")
