"""The same models as PyTorch modules, for people who work there."""

from typing import TYPE_CHECKING

import equinox as eqx

from ..._predictor import AbstractPredictor
from .._kind import kind_of

if TYPE_CHECKING:
    import torch  # pyright: ignore[reportMissingImports]


def to_torch(model: eqx.Module, d: int | None = None) -> "torch.nn.Module":
    """An `nn.Module` with the same output.

    Its parameters are the model's; LTB is merged, diagonal and axial networks are written out.

    **Arguments:** `d` is needed for diagonal and axial linear transformers, which fit any; they become dense.

    **Returns:** a module whose `forward(x, y, x_query, guess=None)` takes batches: x (..., n, d), y (..., n), x_query
    (..., d), and gives (...). A `ValueError` for a model without a PyTorch form; one of your own has it if its `Kind`
    says how.

    PyTorch is not among Descant's requirements: install it, or the extra `torch`.
    """
    try:
        import torch  # noqa: F401, PLC0415  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ImportError("to_torch needs PyTorch; install it, or in a clone pip install '.[torch]'.") from None
    form = kind_of(model).torch if isinstance(model, AbstractPredictor) else None
    if form is None:
        raise ValueError(
            f"a {type(model).__name__} has no PyTorch form; a Kind beside its class can say how it gets one."
        )
    return form(model, d)
