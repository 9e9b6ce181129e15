"""Training on the exact risk: for one layer of linear attention every expectation can be done by hand."""

from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.optimize import minimize

from .. import _check
from .._predictor import AbstractPredictor
from ..attention import merged_form
from ..estimators import AttendingGramAffine, GramAffine
from ..tasks import GaussianInputs, LinearRegression
from ..theory import Problem, attending_risk, gram_risk
from ._flat import flatten, rebuild
from ._protocol import State
from ._starts import RANDOM_STARTS, random_start


def has_population_risk(model: AbstractPredictor, task: LinearRegression) -> bool:
    """Whether the model's risk is a polynomial that is known exactly."""
    return isinstance(task.inputs, GaussianInputs) and merged_form(model, task.d, task.n) is not None


def population_risk(model: Any, problem: Problem, d: int, n: int) -> Float[Array, ""]:
    """The exact risk, differentiable in the model's weights."""
    match merged_form(model, d, n):
        case GramAffine(offset=offset, tensor=tensor):
            return gram_risk(problem, offset, tensor)
        case AttendingGramAffine(masked=GramAffine(offset=offset, tensor=tensor)):
            return attending_risk(problem, offset, tensor)
    raise ValueError(f"a {type(model).__name__} is no affine function of the Gram matrix; its exact risk is not known.")


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

    def init(self) -> State:
        """Nothing tried yet."""
        theta = flatten(self._starts[0])
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
            return float(found), flatten(gradient)

        # Labels of any unit: the goal for the gradient is relative to the loss of the zero predictor.
        scale = value(np.zeros_like(state.arrays["best"]))[0] or value(flatten(self._starts[tried]))[0] or 1.0
        # Where v and U both vanish the risk has a saddle that quasi-Newton steps can end in. A trust region with exact
        # products of the Hessian goes down from it.
        end = minimize(
            lambda theta: tuple(part / scale for part in value(theta)),
            flatten(self._starts[tried]),
            jac=True,
            hessp=lambda theta, move: flatten(_curve(self._model(theta), self._model(move), *sizes)) / scale,
            method="trust-ncg",
            options={"gtol": 1e-9, "maxiter": 2000},
        )
        loss = float(end.fun * scale)
        info = {"tried": tried + 1, "loss": min(loss, state.info["loss"])}
        best = np.asarray(end.x) if loss < state.info["loss"] else state.arrays["best"]
        row = {
            "start": tried + 1,
            "loss": loss,
            "best": info["loss"],
            "iterations": int(end.nit),
            "progress": (tried + 1) / len(self._starts),
        }
        return State({"best": best}, info), [row]

    def model(self, state: State) -> Any:
        """The best so far."""
        return self._model(state.arrays["best"])

    def _model(self, theta: np.ndarray) -> Any:
        return rebuild(self._starts[0], theta)


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
