"""Laws of prompts: tasks and their parts, sampled as tokens or as moments; and their posteriors."""

from .. import _precision as _precision
from .._unknown import Unknown as Unknown
from ._law import (
    AbstractInputs as AbstractInputs,
    AbstractPrior as AbstractPrior,
    AbstractVectorLaw as AbstractVectorLaw,
    GaussianMixture as GaussianMixture,
    VectorMoments as VectorMoments,
    discrete_moments as discrete_moments,
    elliptical_fourth as elliptical_fourth,
    independent_fourth as independent_fourth,
    independent_moments as independent_moments,
    mapped_moments as mapped_moments,
    mixed_moments as mixed_moments,
    symmetric_moments as symmetric_moments,
)
from ._own import own_task as own_task
from ._posterior import Posterior as Posterior, WeighedRidges as WeighedRidges
from ._prompt import Moments as Moments, Prompt as Prompt
from ._quadrature import peak_panels as peak_panels
from ._regression import LinearRegression as LinearRegression
from ._spectrum import Spectrum as Spectrum
from ._task import AbstractTask as AbstractTask
from .inputs import (
    INPUTS as INPUTS,
    GaussianInputs as GaussianInputs,
    GivenInputs as GivenInputs,
    MappedInputs as MappedInputs,
    RademacherInputs as RademacherInputs,
    SphereInputs as SphereInputs,
    StudentTInputs as StudentTInputs,
    UniformInputs as UniformInputs,
    parse_inputs as parse_inputs,
)
from .labels import (
    LABELS as LABELS,
    AbstractLabelNoise as AbstractLabelNoise,
    GaussianLabelNoise as GaussianLabelNoise,
    LabelMoments as LabelMoments,
    LaplaceLabelNoise as LaplaceLabelNoise,
    StudentTLabelNoise as StudentTLabelNoise,
    parse_labels as parse_labels,
)
from .noise import (
    NOISES as NOISES,
    AbstractNoise as AbstractNoise,
    CategoricalNoise as CategoricalNoise,
    FixedNoise as FixedNoise,
    InverseGammaNoise as InverseGammaNoise,
    LogLikelihood as LogLikelihood,
    LogUniformNoise as LogUniformNoise,
    NoiseNodes as NoiseNodes,
    UniformNoise as UniformNoise,
    one_level as one_level,
    parse_noise as parse_noise,
)
from .priors import (
    PRIORS as PRIORS,
    GaussianMixturePrior as GaussianMixturePrior,
    GaussianPrior as GaussianPrior,
    LaplacePrior as LaplacePrior,
    PoolPrior as PoolPrior,
    SparsePrior as SparsePrior,
    StudentTPrior as StudentTPrior,
    parse_prior as parse_prior,
)
