"""Laws of the noise level: one standard deviation per prompt, one law in a file."""

from ._abstract import (
    AbstractNoise as AbstractNoise,
    LogLikelihood as LogLikelihood,
    NoiseNodes as NoiseNodes,
    one_level as one_level,
)
from ._categorical import CategoricalNoise as CategoricalNoise
from ._fixed import FixedNoise as FixedNoise
from ._inverse_gamma import InverseGammaNoise as InverseGammaNoise
from ._log_uniform import LogUniformNoise as LogUniformNoise
from ._spec import NOISES as NOISES, parse_noise as parse_noise
from ._uniform import UniformNoise as UniformNoise
