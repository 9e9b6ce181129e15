"""Descant: descent by attention, a laboratory for in-context learning by linear attention.

Names are loaded when they are first used: `import descant` alone doesn't import JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str
    from . import (
        attention as attention,
        estimators as estimators,
        llm as llm,
        measure as measure,
        programs as programs,
        runs as runs,
        sweeps as sweeps,
        tasks as tasks,
        theory as theory,
        training as training,
    )
    from ._predictor import (
        AbstractLinearPredictor as AbstractLinearPredictor,
        AbstractPredictor as AbstractPredictor,
    )
    from .measure import Risk as Risk, best as best, risk as risk
    from .tasks import (
        AbstractInputs as AbstractInputs,
        AbstractNoise as AbstractNoise,
        AbstractPrior as AbstractPrior,
        AbstractTask as AbstractTask,
        CategoricalNoise as CategoricalNoise,
        FixedNoise as FixedNoise,
        GaussianInputs as GaussianInputs,
        GaussianPrior as GaussianPrior,
        LinearRegression as LinearRegression,
        Moments as Moments,
        Prompt as Prompt,
        UniformInputs as UniformInputs,
        UniformNoise as UniformNoise,
        Unknown as Unknown,
    )

_ROOMS = ("attention", "estimators", "llm", "measure", "programs", "runs", "sweeps", "tasks", "theory", "training")
_HOME = {
    **dict.fromkeys(("AbstractLinearPredictor", "AbstractPredictor"), "_predictor"),
    **dict.fromkeys(("Risk", "best", "risk"), "measure"),
    **dict.fromkeys(
        (
            "AbstractInputs",
            "AbstractNoise",
            "AbstractPrior",
            "AbstractTask",
            "CategoricalNoise",
            "FixedNoise",
            "GaussianInputs",
            "GaussianPrior",
            "LinearRegression",
            "Moments",
            "Prompt",
            "UniformInputs",
            "UniformNoise",
            "Unknown",
        ),
        "tasks",
    ),
}


def __getattr__(name: str):
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS, *_HOME])
