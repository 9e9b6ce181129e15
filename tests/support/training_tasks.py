"""Tasks that several tests train on."""

from descant import (
    CategoricalNoise,
    FixedNoise,
    GaussianInputs,
    GaussianPrior,
    LinearRegression,
    UniformNoise,
)
from tests.support.problems import random_covariance, random_task

TASK = LinearRegression(3, 8, GaussianPrior.isotropic(3, mean=0.5), noise=CategoricalNoise([0.3, 1.5]))


def six_tasks():
    aniso = GaussianInputs(random_covariance(4, 3))
    mean = GaussianPrior.isotropic(4, mean=1.0)
    return {
        "plain": LinearRegression(4, 6),
        "noise": LinearRegression(4, 6, noise=FixedNoise(0.8)),
        "mean": LinearRegression(4, 6, mean),
        "anisotropic": LinearRegression(4, 6, inputs=aniso),
        "mean and noise": LinearRegression(4, 6, mean, noise=UniformNoise(2.0)),
        "all": random_task(0, 4, 6),
    }
