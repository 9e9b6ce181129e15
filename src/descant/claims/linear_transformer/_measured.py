"""Adjusted half-MSE of estimators, and of networks after every layer, over a noise law and at single noise levels."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..._sampling import mean_over_keys
from ...attention import AbstractDiagonal, AbstractLinearTransformer, Full
from ...estimators import AdaRidge, Bayes, ConstRidge, tuned_ridge
from ...tasks import FixedNoise, LinearRegression, Moments
from ._omegas import as_free

# A network explodes on a context if it errs there by more than this many times what predicting zero costs in the mean.
EXPLODES = 10.0
ESTIMATORS = ("const", "ada", "tuned", "bayes")
TUNING_POOL = 8_192

Numbers = list[list[float]]


@dataclass(frozen=True)
class Measured:
    """Means with standard errors; `[network][layer]`, from the first layer to the last, then the estimators.

    `ordinary` is what is left of a mean without the share `exploding` of contexts on which the network explodes.
    """

    names: list[str]
    value: Numbers
    error: Numbers
    ordinary: Numbers
    ordinary_error: Numbers
    exploding: Numbers
    sigmas: list[float]
    profiles: list[Numbers]
    profile_errors: list[Numbers]

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def mean(self, name: str, layer: int | None = None) -> tuple[float, float]:
        """Over all contexts, after the last layer or another (1, 2, ...)."""
        row, column = self._index(name, layer)
        return self.value[row][column], self.error[row][column]

    def ordinary_mean(self, name: str, layer: int | None = None) -> tuple[float, float]:
        """Over the contexts on which the network does not explode."""
        row, column = self._index(name, layer)
        return self.ordinary[row][column], self.ordinary_error[row][column]

    def exploding_share(self, name: str, layer: int | None = None) -> float:
        """The share of the other contexts."""
        row, column = self._index(name, layer)
        return self.exploding[row][column]

    def profile(self, name: str, layer: int | None = None) -> tuple[list[float], list[float]]:
        """Means and standard errors at the noise levels `sigmas`."""
        row, column = self._index(name, layer)
        return [each[row][column] for each in self.profiles], [each[row][column] for each in self.profile_errors]

    def _index(self, name: str, layer: int | None) -> tuple[int, int]:
        return self.names.index(name), -1 if layer is None else layer - 1


def ratio(value: tuple[float, float], base: tuple[float, float]) -> tuple[float, float]:
    """One mean over another, each with its standard error, as if they were independent."""
    found = value[0] / base[0]
    return found, abs(found) * math.hypot(value[1] / value[0], base[1] / base[0])


def levels_of(law: str) -> list[float]:
    """Noise levels of a profile: the paper's figures reach one beyond the law, and for U(0, 5) up to 10."""
    top = float(law.replace(":", ",").split(",")[-1])
    near = [float(level) for level in np.arange(0, top + 1.01, 0.5)]
    return near + ([7.0, 8.0, 9.0, 10.0] if law == "uniform:5" else [])


def measure(
    models: dict[str, Any],
    task: LinearRegression,
    *,
    sigmas: list[float],
    beside: bool,
    samples: int,
    level_samples: int,
    seed: int,
) -> Measured:
    """Measure networks on contexts of the law and at the noise levels `sigmas`; `beside` them, the law's estimators."""
    key = jax.random.key(seed)
    depth = max(model.layers for model in models.values())
    stack = _stack([_padded(model, depth) for model in models.values()])
    estimators = ()
    if beside:
        tuned = tuned_ridge(task, key=jax.random.fold_in(key, 1), pool=TUNING_POOL)
        estimators = (ConstRidge.best(task), AdaRidge.of(task), tuned, Bayes(task))
    means, errors = mean_over_keys(_errors, (stack, estimators, task), key, samples)
    profiles = []
    for sigma in sigmas:
        at_level = LinearRegression(task.d, task.n, task.prior, task.inputs, FixedNoise(sigma))
        profiles.append(mean_over_keys(_errors, (stack, estimators, at_level), key, level_samples))
    lengths = [model.layers for model in models.values()] + [1] * len(estimators)

    def rows(values: np.ndarray) -> Numbers:
        """Layers that are padding are cut off."""
        return [list(map(float, row[:length])) for row, length in zip(values, lengths, strict=True)]

    return Measured(
        names=[*models, *ESTIMATORS[: len(estimators)]],
        value=rows(means[0]),
        error=rows(errors[0]),
        ordinary=rows(means[1]),
        ordinary_error=rows(errors[1]),
        exploding=rows(means[2]),
        sigmas=sigmas,
        profiles=[rows(each[0]) for each, _ in profiles],
        profile_errors=[rows(each[0]) for _, each in profiles],
    )


def weights_after_layers(model: AbstractLinearTransformer, moments: Moments) -> Float[Array, "L d"]:
    """The weight vector that the network would answer with if it ended after layer 1, 2, ... L."""
    gram = moments.gram
    identity = jnp.eye(gram.shape[0], dtype=gram.dtype)

    def layer(carry, parameters):
        gram, tokens = carry
        step = identity + model.update(parameters, gram)
        tokens = step @ tokens
        return (step @ gram @ step.T, tokens), -tokens[-1, :-1]

    return jax.lax.scan(layer, (gram, identity), model.parameters())[1]


def _errors(subject: Any, key: PRNGKeyArray) -> Float[Array, "3 m L"]:
    """Half of the adjusted loss on one context: after every layer; without explosions; and whether there is one."""
    stack, estimators, task = subject
    moments = task.sample_moments(key=key)
    wanted = task.posterior(moments, moments.sigma).mean
    found = jax.vmap(lambda model: weights_after_layers(model, moments))(stack)
    # An estimator has one answer; it stands in the place of every layer.
    beside = [jnp.broadcast_to(each.weights(moments)[None, None, :], (1, *found.shape[1:])) for each in estimators]
    errors = jax.vmap(jax.vmap(task.error_norm))(jnp.concatenate([found, *beside]) - wanted[None, None, :]) / 2
    explodes = ~(errors <= EXPLODES * task.d / 2)  # N(0, I) tasks and inputs: predicting zero costs d
    return jnp.stack([errors, jnp.where(explodes, 0.0, errors), explodes.astype(errors.dtype)])


def _padded(model: AbstractLinearTransformer, depth: int) -> AbstractLinearTransformer:
    """The same network with layers that do nothing at its end; all diagonal ones in the same form."""
    same = as_free(model) if isinstance(model, AbstractDiagonal) else model
    assert isinstance(same, Full) or isinstance(model, AbstractDiagonal)
    missing = depth - model.layers
    return jax.tree.map(lambda leaf: jnp.concatenate([leaf, jnp.zeros((missing, *leaf.shape[1:]))]), same)


def _stack(models: list[Any]) -> Any:
    arrays = [eqx.filter(model, eqx.is_array) for model in models]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays)
