"""Laws of prompts: prior, inputs, noise, context length; sampled as tokens or as moments; and their posteriors."""

from .. import _precision as _precision
from ._inputs import (
    AbstractInputs as AbstractInputs,
    GaussianInputs as GaussianInputs,
    UniformInputs as UniformInputs,
)
from ._noise import (
    AbstractNoise as AbstractNoise,
    CategoricalNoise as CategoricalNoise,
    FixedNoise as FixedNoise,
    LogLikelihood as LogLikelihood,
    NoiseNodes as NoiseNodes,
    UniformNoise as UniformNoise,
    parse_noise as parse_noise,
)
from ._posterior import Posterior as Posterior
from ._prior import GaussianPrior as GaussianPrior
from ._prompt import Moments as Moments, Prompt as Prompt
from ._regression import LinearRegression as LinearRegression
from ._spectrum import Spectrum as Spectrum
