"""Adam on fresh inputs, from random weights: all seeds and step sizes of one kind of network in one program."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, PRNGKeyArray

from ..._random import normals
from ...attention import ELSA, ELSABlock
from ...training import at_rest, cosine, descend
from ._problems import Problem

CLIP, SCALE = 1.0, 0.3
# Inputs that the results are measured on, each with its mirror image.
TESTED = 8192


@dataclass(frozen=True)
class Kind:
    """A kind of network: blocks, heads per block, with or without biases."""

    blocks: int
    heads: int
    bias: bool

    def parameters(self, problem: Problem) -> int:
        """3 c^2 numbers per head, and 3 r c more with biases."""
        size = problem.columns + (problem.rows if self.bias else 0)
        return 3 * self.blocks * self.heads * problem.columns * size

    def start(self, problem: Problem, key: PRNGKeyArray) -> ELSA:
        """Random blocks with a residual."""
        return ELSA(
            [
                ELSABlock.random(problem.rows, problem.columns, self.heads, key=each, bias=self.bias, scale=SCALE)
                for each in jax.random.split(key, self.blocks)
            ]
        )


@dataclass(frozen=True)
class Settings:
    """Steps, inputs per step, step sizes, seeds for each of them, and steps between two points of the curves."""

    steps: int
    batch: int
    rates: tuple[float, ...]
    seeds: int
    every: int


def squared_error(network: ELSA, problem: Problem, numbers: Array) -> Array:
    """Mean squared error of the answer's entries, over a batch of inputs."""

    def one(each):
        h, answer = problem.place(each)
        return jnp.mean((problem.read(network(h)) - answer) ** 2)

    return jnp.mean(jax.vmap(one)(numbers.reshape(-1, problem.numbers)))


def references(problem: Problem, key: PRNGKeyArray) -> tuple[float, float, float]:
    """The loss of predicting zero, and, relative to it, the floor of odd networks and the loss of the network by hand.

    All on the inputs that results are measured on.
    """
    numbers = _tested(problem, key)
    answers = jax.vmap(lambda each: problem.place(each)[1])(numbers)
    half = answers.shape[0] // 2
    zero = float(jnp.mean(answers**2))
    even = (answers[:half] + answers[half:]) / 2
    hand = float(jax.jit(lambda n: squared_error(problem.constructed, problem, n))(numbers))
    return zero, float(jnp.mean(even**2)) / zero, hand / zero


def train(problem: Problem, kind: Kind, settings: Settings, key: PRNGKeyArray, zero: float) -> dict[str, Any]:
    """Losses relative to predicting zero: `final` (rates, seeds), on the same inputs as `references`, and `curve`."""
    starts = [
        _cast(kind.start(problem, jax.random.fold_in(key, seed)), jnp.float32)
        for _ in settings.rates
        for seed in range(settings.seeds)
    ]
    arrays, static = eqx.partition(jax.tree.map(lambda *leaves: jnp.stack(leaves), *starts), eqx.is_inexact_array)
    rates = jnp.repeat(jnp.asarray(settings.rates, jnp.float32), settings.seeds)
    arrays, losses = _run(arrays, static, problem, rates, jax.random.fold_in(key, settings.seeds), settings)
    numbers = _tested(problem, key)
    measure = jax.jit(jax.vmap(lambda a: squared_error(eqx.combine(a, static), problem, numbers)))
    final = np.asarray(measure(_cast(arrays, float))) / zero
    curve = np.asarray(losses, np.float64).reshape(-1, settings.every, len(starts)).mean(axis=1) / zero
    shape = (len(settings.rates), settings.seeds)
    return {"final": final.reshape(shape).tolist(), "curve": curve.reshape(-1, *shape).tolist()}


@eqx.filter_jit
def _run(arrays, static, problem: Problem, rates: Array, key: PRNGKeyArray, settings: Settings):
    optimiser = optax.chain(optax.clip_by_global_norm(CLIP), optax.scale_by_adam())
    (arrays, _), losses = descend(
        lambda arrays, _, numbers: squared_error(eqx.combine(arrays, static), problem, numbers),
        at_rest(arrays, optimiser),
        None,
        rates,
        jnp.arange(settings.steps),
        optimiser=optimiser,
        schedule=cosine(settings.steps),
        draw=lambda step: normals(jax.random.fold_in(key, step), settings.batch * problem.numbers, jnp.float32),
        draws_shared=True,
    )
    return arrays, losses


def _tested(problem: Problem, key: PRNGKeyArray) -> Array:
    """Inputs and, after them, their mirror images."""
    half = jax.random.normal(jax.random.fold_in(key, 10_000), (TESTED, problem.numbers))
    return jnp.concatenate([half, half * problem.mirror[None, :]])


def _cast(tree, dtype):
    return jax.tree.map(lambda leaf: leaf.astype(dtype) if eqx.is_inexact_array(leaf) else leaf, tree)
