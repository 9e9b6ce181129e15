"""Noise laws as short texts, for the command line and for tables."""

from ... import _check
from .._spec import law_registry, parse_law
from ._abstract import AbstractNoise
from ._categorical import CategoricalNoise
from ._fixed import FixedNoise
from ._inverse_gamma import InverseGammaNoise
from ._log_uniform import LogUniformNoise
from ._uniform import UniformNoise


def _uniform(high: float) -> AbstractNoise:
    # U(0, 0) is how the papers' tables write "no noise".
    return FixedNoise(0.0) if high == 0 else UniformNoise(high)


# What makes a law of the numbers behind its name: `uniform:5` is the record "uniform" called with 5.0.
NOISES = law_registry("noise", "descant.noises")
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
        _check.magnitude("noise", levels if len(levels) > 1 else levels[0])
        _check.not_negative("noise", levels if len(levels) > 1 else levels[0])
        return CategoricalNoise(levels) if len(levels) > 1 else FixedNoise(levels[0])
    if ":" not in spec:
        raise ValueError(
            f"noise is {spec!r}; expected a level such as 0.5, a list of levels such as 1,3, or a law and its "
            f"numbers such as uniform:5; laws: {', '.join(NOISES.names())}, or your own as module:name:numbers."
        )
    return parse_law(NOISES, AbstractNoise, spec)
