"""Training one layer on its whole risk at once.

For one layer of linear attention every expectation can be done by hand where the moments of the task's laws are known.
Where they are not, or where sampled tokens are wanted, it takes one pass over sampled contexts: the risk is a quadratic
form in a few moments of theirs, and steps on it cost the same however many were drawn.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check, _memory
from .._predictor import AbstractPredictor
from .._trainer import State
from .._unknown import Unknown
from ..attention import MOST_STARTS, RANDOM_STARTS, random_start
from ..tasks import AbstractTask
from ..theory import GramMoments, Problem, affine_risk, known_laws
from ._flat import flatten, parameters, rebuild
from ._objective import natural_objective
from ._sampled_moments import sampled_moments
from ._solver import Solver, able

# Folded into a trainer's key, beyond the numbers of its starts.
SAMPLE_KEY = 2**20
# Contexts that stand for the law of a task whose risk has no closed form: errors of a few thousandths of the risk.
CONTEXTS = 65_536
# A start has arrived where the gradient is so small, in units of the risk of the zero predictor.
GRADIENT = 1e-9


def exact_laws(model: AbstractPredictor, task: AbstractTask) -> Problem | GramMoments:
    """What the model's risk depends on, known exactly; `Unknown` says why if it isn't."""
    laws = known_laws(task, query_masked=model.gram_affine(task.d, task.n).query_masked)
    if isinstance(laws, GramMoments) and laws.unread:
        raise Unknown(laws.unread)
    return laws


def has_population_risk(model: AbstractPredictor, task: AbstractTask) -> bool:
    """Whether the model's risk is a polynomial in its weights that is known, exactly or from one pass over contexts."""
    try:
        if model.gram_affine(task.d, task.n).query_masked:
            # Where the laws' moments are not known, they are sampled from prompts with their hidden w.
            return is_exact(model, task) or natural_objective(model, task) != "query"
        exact_laws(model, task)
    except Unknown:
        return False
    return True


def is_exact(model: AbstractPredictor, task: AbstractTask) -> bool:
    """Whether that risk is known without sampling."""
    try:
        exact_laws(model, task)
    except Unknown:
        return False
    return True


def population_risk(model: Any, problem: Problem | GramMoments, d: int, n: int) -> Float[Array, ""]:
    """The risk, differentiable in the weights; a mean over contexts where the moments were sampled, else exact.

    **Arguments:** `model` has a merged form (`gram_affine`), else `Unknown`; `problem` is what `theory.known_laws` says
    of the task, `d` and `n` are its sizes.
    """
    offset, tensor, query_masked = model.gram_affine(d, n)
    return affine_risk(problem, offset, tensor, query_masked=query_masked)


class PopulationTrainer:
    """Newton steps in a trust region on the whole risk, from the given weights and from random ones.

    The risk is exact where the moments of the task's laws are known and `contexts` is None: no data, no noise.
    Otherwise it is the mean over so many sampled contexts (`CONTEXTS` by default).

    **Arguments:** `model` gives the kind and a first start, beside `random_starts` random ones. `Unknown` if its risk
    is no such form. `train(model, task, solver="population")` makes one and drives it.
    """

    def __init__(
        self,
        model: AbstractPredictor,
        task: AbstractTask,
        *,
        key: PRNGKeyArray,
        random_starts: int = RANDOM_STARTS,
        contexts: int | None = None,
    ):
        _can(model, task)
        _check.size("random_starts", random_starts, least=0, most=MOST_STARTS)
        _memory.need(f"{random_starts} random starts", random_starts * parameters(model), "them")
        self.starts = [model] + [
            random_start(model, task, jax.random.fold_in(key, index)) for index in range(random_starts)
        ]
        self._task = task
        self.laws = self._known(model, contexts, jax.random.fold_in(key, SAMPLE_KEY))

    def _known(self, model: AbstractPredictor, contexts: int | None, key: PRNGKeyArray) -> Problem | GramMoments:
        if contexts is None:
            try:
                return exact_laws(model, self._task)
            except Unknown:
                contexts = CONTEXTS
        return sampled_moments(self._task, contexts, key=key)

    def init(self) -> State:
        """Nothing tried yet."""
        theta = flatten(self.starts[0])
        return State({"best": theta}, {"tried": 0, "loss": float("inf")})

    def finished(self, state: State) -> bool:
        """After the last start."""
        return state.info["tried"] == len(self.starts)

    def advance(self, state: State) -> tuple[State, list[dict[str, Any]]]:
        """One start, followed to its minimum."""
        tried = state.info["tried"]
        settings = self.starts[0], self.laws, self._task.d, self._task.n

        def value(theta):
            found, gradient = _value_and_gradient(jnp.asarray(theta), *settings)
            return float(found), np.asarray(gradient)

        # Labels of any unit: the goal for the gradient is relative to the loss of the zero predictor.
        scale = value(np.zeros_like(state.arrays["best"]))[0] or value(flatten(self.starts[tried]))[0] or 1.0
        # Where v and U both vanish the risk has a saddle that quasi-Newton steps can end in. A trust region with exact
        # products of the Hessian goes down from it.
        end = scipy.optimize.minimize(
            lambda theta: tuple(part / scale for part in value(theta)),
            flatten(self.starts[tried]),
            jac=True,
            hessp=lambda theta, move: np.asarray(_curve(jnp.asarray(theta), jnp.asarray(move), *settings)) / scale,
            method="trust-ncg",
            options={"gtol": GRADIENT, "maxiter": 2000},
        )
        loss = float(end.fun * scale)
        if end.success:
            stopped = f"gradient below {GRADIENT:g} of the zero predictor's risk"
        else:
            gradient = np.linalg.norm(end.jac)
            stopped = f"not converged: {end.message} The gradient is {gradient:.1e} of the zero predictor's risk"
        better = loss < state.info["loss"]
        info = {"tried": tried + 1, "loss": min(loss, state.info["loss"])}
        # What is said at the end is why the best start stopped.
        info["stopped"] = stopped if better else state.info.get("stopped", stopped)
        best = np.asarray(end.x) if better else state.arrays["best"]
        row = {
            "start": tried + 1,
            "loss": loss,
            "best": info["loss"],
            "iterations": int(end.nit),
            "stopped": stopped,
            "progress": (tried + 1) / len(self.starts),
        }
        return State({"best": best}, info), [row]

    def model(self, state: State) -> Any:
        """The best so far."""
        return rebuild(self.starts[0], state.arrays["best"])


# Models are taken apart inside the compiled programs: outside, it would take longer than the risk itself.
@eqx.filter_jit
def _value_and_gradient(theta: Float[Array, " p"], template: Any, problem: Problem | GramMoments, d: int, n: int):
    return jax.value_and_grad(lambda theta: population_risk(rebuild(template, theta), problem, d, n))(theta)


@eqx.filter_jit
def _curve(
    theta: Float[Array, " p"],
    move: Float[Array, " p"],
    template: Any,
    problem: Problem | GramMoments,
    d: int,
    n: int,
):
    """The Hessian times a move."""
    gradient = jax.grad(lambda theta: population_risk(rebuild(template, theta), problem, d, n))
    return jax.jvp(gradient, (theta,), (move,))[1]


def _can(model: AbstractPredictor, task: AbstractTask) -> None:
    if not has_population_risk(model, task):
        raise Unknown(f"the exact risk of this {type(model).__name__} on this task is not known; use solver lm or adam")


def _why(model: AbstractPredictor, task: AbstractTask, objective: str) -> str | None:
    if objective != "auto" or not able(SOLVER, model, task):
        return None
    how = "is known exactly" if is_exact(model, task) else "is a quadratic form in moments of sampled contexts"
    return f"one layer: its risk {how}, and is minimised itself"


def _make(model: AbstractPredictor, task: AbstractTask, *, objective: str, key: PRNGKeyArray, **settings: Any):
    del objective
    return PopulationTrainer(model, task, key=key, **settings)


def _together(*arguments: Any, **named: Any):
    from ._population_together import population_together  # noqa: PLC0415  # which knows this module

    return population_together(*arguments, **named)


def _objective(model: AbstractPredictor, task: AbstractTask, objective: str) -> str:
    """All expectations are done by hand: the objectives, which differ in how many are, have become one."""
    del model, task
    if objective != "auto":
        raise ValueError(
            f"objective is {objective!r}, but the solver population minimises the risk itself, in which every "
            "expectation is done by hand; leave the objective out, or use the solver lm or adam."
        )
    return "risk"


SOLVER = Solver(
    name="population",
    sentence="Newton steps on the whole risk of one layer",
    make=_make,
    flags={"seeds": "random_starts"},
    can=_can,
    suits=_why,
    objective=_objective,
    together=_together,
)
