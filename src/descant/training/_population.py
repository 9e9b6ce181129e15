"""Training on the exact risk: for one layer of linear attention every expectation can be done by hand."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.optimize import minimize

from .. import _check
from .._predictor import AbstractPredictor
from ..attention import LSA, LTB, AbstractLinearTransformer, MergedLTB, NoGuess
from ..estimators import AttendingGramAffine
from ..tasks import GaussianInputs, LinearRegression
from ..theory import Problem, attending_risk, gram_risk
from ._protocol import State
from ._starts import RANDOM_STARTS, random_start


def has_population_risk(model: AbstractPredictor, task: LinearRegression) -> bool:
    """Whether the model's risk is a polynomial that is known exactly."""
    if not isinstance(task.inputs, GaussianInputs):
        return False
    match model:
        case LSA():
            return model.linear or isinstance(model.guess, NoGuess)
        case LTB() | MergedLTB():
            return True
        case AbstractLinearTransformer():
            return model.layers == 1
    return False


def population_risk(model: Any, problem: Problem, d: int, n: int) -> Float[Array, ""]:
    """The exact risk, differentiable in the model's weights."""
    merged = model.gram_affine(d, n)
    if isinstance(merged, AttendingGramAffine):
        return attending_risk(problem, merged.masked.offset, merged.masked.tensor)
    return gram_risk(problem, merged.offset, merged.tensor)


class PopulationTrainer:
    """Newton steps in a trust region on the exact risk, from the given weights and from random ones; no data, no noise."""

    def __init__(
        self, model: AbstractPredictor, task: LinearRegression, *, key: PRNGKeyArray, random_starts: int = RANDOM_STARTS
    ):
        if not has_population_risk(model, task):
            raise ValueError(
                f"the exact risk of this {type(model).__name__} on this task is not known; use solver lm or adam."
            )
        _check.size("random_starts", random_starts, least=0)
        self._starts = [model] + [
            random_start(model, task, jax.random.fold_in(key, index)) for index in range(random_starts)
        ]
        self._problem, self._task = Problem.of(task), task
        arrays, self._static = eqx.partition(model, eqx.is_array)
        self._unravel = ravel_pytree(arrays)[1]

    def init(self) -> State:
        """Nothing tried yet."""
        theta = _flatten(self._starts[0])
        return State({"best": theta}, {"tried": 0, "loss": float("inf")})

    def finished(self, state: State) -> bool:
        """After the last start."""
        return state.info["tried"] == len(self._starts)

    def advance(self, state: State) -> tuple[State, list[dict[str, Any]]]:
        """One start, followed to its minimum."""
        tried = state.info["tried"]

        sizes = self._problem, self._task.d, self._task.n

        def value(theta):
            found, gradient = _value_and_gradient(self._model(theta), *sizes)
            return float(found), _flatten(gradient)

        # Labels of any unit: the goal for the gradient is relative to the loss of the zero predictor.
        scale = value(np.zeros_like(state.arrays["best"]))[0] or value(_flatten(self._starts[tried]))[0] or 1.0
        # Where v and U both vanish the risk has a saddle that quasi-Newton steps can end in. A trust region with exact
        # products of the Hessian goes down from it.
        end = minimize(
            lambda theta: tuple(part / scale for part in value(theta)),
            _flatten(self._starts[tried]),
            jac=True,
            hessp=lambda theta, move: _flatten(_curve(self._model(theta), self._model(move), *sizes)) / scale,
            method="trust-ncg",
            options={"gtol": 1e-9, "maxiter": 2000},
        )
        loss = float(end.fun * scale)
        info = {"tried": tried + 1, "loss": min(loss, state.info["loss"])}
        best = np.asarray(end.x) if loss < state.info["loss"] else state.arrays["best"]
        row = {"start": tried + 1, "loss": loss, "best": info["loss"], "iterations": int(end.nit)}
        return State({"best": best}, info), [row]

    def model(self, state: State) -> Any:
        """The best so far."""
        return self._model(state.arrays["best"])

    def _model(self, theta: np.ndarray) -> Any:
        return eqx.combine(self._unravel(jnp.asarray(theta)), self._static)


@eqx.filter_jit
def _value_and_gradient(model: Any, problem: Problem, d: int, n: int):
    return eqx.filter_value_and_grad(population_risk)(model, problem, d, n)


@eqx.filter_jit
def _curve(model: Any, move: Any, problem: Problem, d: int, n: int):
    """The Hessian times a move."""
    arrays, static = eqx.partition(model, eqx.is_inexact_array)

    def gradient(arrays):
        return jax.grad(lambda arrays: population_risk(eqx.combine(arrays, static), problem, d, n))(arrays)

    return jax.jvp(gradient, (arrays,), (eqx.filter(move, eqx.is_inexact_array),))[1]


def _flatten(model: Any) -> np.ndarray:
    return np.asarray(ravel_pytree(eqx.filter(model, eqx.is_array))[0])
