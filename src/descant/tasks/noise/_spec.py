"""Noise laws as short texts, for the command line and for tables."""

from collections.abc import Callable
from typing import Any

from ... import _check
from ..._registry import Registry
from ._abstract import AbstractNoise
from ._categorical import CategoricalNoise
from ._fixed import FixedNoise
from ._inverse_gamma import InverseGammaNoise
from ._log_uniform import LogUniformNoise
from ._uniform import UniformNoise

NoiseMaker = Callable[..., AbstractNoise]


def _maker(thing: Any) -> NoiseMaker:
    if not callable(thing):
        raise ValueError(f"noise is {thing!r}; expected a class or a function that makes a noise law from numbers.")
    make: NoiseMaker = thing  # pyright: ignore[reportAssignmentType]
    return make


def _uniform(high: float) -> AbstractNoise:
    # U(0, 0) is how the papers' tables write "no noise".
    return UniformNoise(high) if high > 0 else FixedNoise(0.0)


# What makes a law of the numbers behind its name: `uniform:5` is the record "uniform" called with 5.0.
NOISES: Registry[NoiseMaker] = Registry("noise", "descant.noises", _maker)
NOISES.add("fixed", FixedNoise)
NOISES.add("categorical", lambda *sigmas: CategoricalNoise(sigmas))
NOISES.add("uniform", _uniform)
NOISES.add("log-uniform", LogUniformNoise)
NOISES.add("inverse-gamma", InverseGammaNoise)


def parse_noise(spec: str) -> AbstractNoise:
    """The law that a short text means: `0.5` one level, `1,3` either of two, `uniform:5` a law by name and its numbers.

    A law of one's own is `module:name:numbers`.

    >>> parse_noise("1,3").moment(2)
    Array(5., dtype=float64)
    """
    try:
        levels = [float(part) for part in spec.split(",")]
    except ValueError:
        pass
    else:
        _check.not_negative("noise", levels if len(levels) > 1 else levels[0])
        return CategoricalNoise(levels) if len(levels) > 1 else FixedNoise(levels[0])
    expected = (
        f"expected a level such as 0.5, a list of levels such as 1,3, or a law and its numbers such as uniform:5; laws: "
        f"{', '.join(NOISES.names())}, or your own as module:name:numbers"
    )
    if ":" not in spec:
        raise ValueError(f"noise is {spec!r}; {expected}.")
    make, rest = NOISES.split(spec)
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
        law = make(*numbers)
    except TypeError:
        raise ValueError(f"noise is {spec!r}, which has too few or too many numbers; {expected}.") from None
    except ValueError as error:
        raise ValueError(f"noise is {spec!r}: {error}") from None
    if not isinstance(law, AbstractNoise):
        raise ValueError(f"noise is {spec!r}, which makes a {type(law).__name__}; expected an AbstractNoise.")
    return law
