"""Adam on fresh inputs, from random weights: all seeds of one kind of network in one program."""

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
from .. import worst_share
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
    """Steps, inputs per step, the step size, networks trained, and steps between two points of the curves."""

    steps: int
    batch: int
    rate: float
    seeds: int
    every: int


def squared_errors(network: ELSA, problem: Problem, numbers: Array) -> Array:
    """Squared errors of the answer's entries, their mean for each of the inputs."""

    def one(each):
        h, answer = problem.place(each)
        return jnp.mean((problem.read(network(h)) - answer) ** 2)

    return jax.vmap(one)(numbers.reshape(-1, problem.numbers))


@dataclass(frozen=True)
class References:
    """The loss of predicting zero; relative to it, the floor of odd networks and the loss of the network by hand."""

    zero: float
    floor: float
    hand: float


def references(problem: Problem, key: PRNGKeyArray) -> References:
    """On the inputs that results are measured on."""
    numbers = _tested(problem, key)
    zero = float(np.mean(_answers(problem, numbers) ** 2))
    hand = float(jax.jit(lambda n: jnp.mean(squared_errors(problem.constructed, problem, n)))(numbers))
    return References(zero, even_share(problem, key), hand / zero)


def even_share(problem: Problem, key: PRNGKeyArray) -> float:
    """The share of the answers' mean square that is even in H: no network without biases has any of it."""
    answers = _answers(problem, _tested(problem, key))
    first, mirrored = np.split(answers, 2)
    return float(np.mean(((first + mirrored) / 2) ** 2) / np.mean(answers**2))


def _answers(problem: Problem, numbers: Array) -> np.ndarray:
    return np.asarray(jax.jit(jax.vmap(lambda each: problem.place(each)[1]))(numbers))


def train(
    problem: Problem, kind: Kind, settings: Settings, key: PRNGKeyArray, scales: tuple[float, ...] = ()
) -> dict[str, Any]:
    """Losses of all seeds relative to predicting zero, on the same inputs as `references`, and what else they say.

    `final` is per seed, `worst` the share of it that the ten worst inputs carry, `scaled` the losses at other scales of
    the inputs (one list per scale), `curve` those during training.
    """
    starts = [_cast(kind.start(problem, jax.random.fold_in(key, seed)), jnp.float32) for seed in range(settings.seeds)]
    arrays, static = eqx.partition(jax.tree.map(lambda *leaves: jnp.stack(leaves), *starts), eqx.is_inexact_array)
    rates = jnp.full(settings.seeds, settings.rate, jnp.float32)
    arrays, losses = _run(
        arrays, static, problem, rates, jax.random.fold_in(key, settings.seeds), settings.steps, settings.batch
    )
    trained, numbers = _cast(arrays, float), _tested(problem, key)

    def measure(factor: float) -> np.ndarray:
        changed = numbers.at[:, : problem.inputs_end].multiply(factor)
        return np.asarray(_measured(trained, static, problem, changed))

    final = measure(1.0)
    curve = np.asarray(losses, np.float64).reshape(-1, settings.every, settings.seeds).mean(axis=1)
    return {
        "final": final.mean(axis=1).tolist(),
        "worst": [worst_share(each) for each in final],
        "scaled": [measure(factor).mean(axis=1).tolist() for factor in scales],
        "curve": curve.tolist(),
    }


@eqx.filter_jit
def _measured(trained, static, problem: Problem, numbers: Array) -> Array:
    """Squared errors of all networks on all inputs, relative to predicting zero."""
    zero = jnp.mean(jax.vmap(lambda each: problem.place(each)[1])(numbers) ** 2)
    return jax.lax.map(lambda each: squared_errors(eqx.combine(each, static), problem, numbers), trained) / zero


@eqx.filter_jit
def _run(arrays, static, problem: Problem, rates: Array, key: PRNGKeyArray, steps: int, batch: int):
    optimiser = optax.chain(optax.clip_by_global_norm(CLIP), optax.scale_by_adam())
    (arrays, _), losses = descend(
        lambda arrays, _, numbers: jnp.mean(squared_errors(eqx.combine(arrays, static), problem, numbers)),
        at_rest(arrays, optimiser),
        None,
        rates,
        jnp.arange(steps),
        optimiser=optimiser,
        schedule=cosine(steps),
        draw=lambda step: normals(jax.random.fold_in(key, step), batch * problem.numbers, jnp.float32),
        draws_shared=True,
    )
    return arrays, losses


def _tested(problem: Problem, key: PRNGKeyArray) -> Array:
    """Inputs and, after them, their mirror images."""
    half = jax.random.normal(jax.random.fold_in(key, 10_000), (TESTED, problem.numbers))
    return jnp.concatenate([half, half * problem.mirror[None, :]])


def _cast(tree, dtype):
    return jax.tree.map(lambda leaf: leaf.astype(dtype) if eqx.is_inexact_array(leaf) else leaf, tree)
