"""The one list of laws that tests go over: a new law joins with one line."""

import jax
import numpy as np

from descant import (
    CategoricalNoise,
    FixedNoise,
    GaussianInputs,
    GaussianPrior,
    UniformInputs,
    UniformNoise,
)
from descant.tasks import (
    GaussianLabelNoise,
    GaussianMixturePrior,
    GivenInputs,
    InverseGammaNoise,
    LaplaceLabelNoise,
    LaplacePrior,
    LogUniformNoise,
    MappedInputs,
    PoolPrior,
    RademacherInputs,
    SparsePrior,
    SphereInputs,
    StudentTInputs,
    StudentTLabelNoise,
    StudentTPrior,
    independent_moments,
)

D = 3
MEAN = np.array([1.0, -0.5, 0.3])
COV = np.array([[1.0, 0.3, 0.1], [0.3, 0.6, -0.2], [0.1, -0.2, 0.8]])
LOW_RANK = np.outer(MEAN, MEAN)
ONES = np.ones(D)


def exponential(key):
    return jax.random.exponential(key, (D,))


PRIORS = {
    "gaussian": GaussianPrior(MEAN, COV),
    "low-rank": GaussianPrior(MEAN, LOW_RANK),
    "mixture": GaussianMixturePrior([0.3, 0.7], [MEAN, -2 * MEAN], [COV, LOW_RANK]),
    "pool": PoolPrior([[1.0, 0.2, -0.4], [-1.5, 0.3, 0.9], [0.1, 2.0, 0.0], [0.7, -0.6, 0.5]], [0.1, 0.2, 0.3, 0.4]),
    "sparse": SparsePrior(0.3, 1.0, 0.8),
    "student-t-12": StudentTPrior(MEAN, COV, 12),
    "student-t-3.5": StudentTPrior(MEAN, COV, 3.5),
    "laplace": LaplacePrior(0.5, 0.7),
    "sparse-located": SparsePrior(0.3, MEAN, 0.8),
    "laplace-located": LaplacePrior(MEAN, 0.7),
}
INPUTS = {
    "gaussian": GaussianInputs(COV),
    "uniform": UniformInputs(-0.5, 2.0),
    "rademacher": RademacherInputs(1.3),
    "sphere": SphereInputs(),
    "sphere-2": SphereInputs(2.0),
    "student-t-12": StudentTInputs(12),
    "student-t-11.5": StudentTInputs(11.5),
    "mapped-sphere": MappedInputs(SphereInputs(), COV),
    "mapped-gaussian": MappedInputs(GaussianInputs(COV), LOW_RANK + np.eye(D)),
    "given": GivenInputs(exponential, independent_moments(ONES, ONES, 2 * ONES, 9 * ONES)),
}
NOISES = {
    "fixed": FixedNoise(0.7),
    "none": FixedNoise(0.0),
    "uniform": UniformNoise(1.5),
    "categorical": CategoricalNoise([0.3, 1.2], [0.4, 0.6]),
    "log-uniform": LogUniformNoise(0.1, 2.0),
    "inverse-gamma": InverseGammaNoise(10.0, 6.0),
}
LABELS = {
    "gaussian": GaussianLabelNoise(),
    "laplace": LaplaceLabelNoise(),
    "student-t-12": StudentTLabelNoise(12),
    "student-t-3.5": StudentTLabelNoise(3.5),
}
