"""Training by Adam on fresh contexts, many members at once, each chunk of steps one compiled scan."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Key, PRNGKeyArray

from .. import _check, _memory
from .._predictor import AbstractPredictor
from .._trainer import State, to_end
from ..tasks import AbstractTask
from ._alike import alike
from ._descent import at_rest, constant, cosine, descend
from ._devices import Device, as_mesh, by_batch, by_members, check_parts, parted
from ._flat import parameters
from ._objective import batch_loss, check_objective, draw, made_of_numbers, natural_objective
from ._solver import Solver

SCHEDULES = ("constant", "cosine")
LR = 1e-3
# One key for all members, or a key for each.
Keys = PRNGKeyArray | Key[Array, " members"]
# Members that train together where many trainings are asked for: always as many, so that there is one program.
MEMBERS = 8


class AdamTrainer:
    """Adam on one or more members of the same shapes, in one program: other seeds, other tasks, other step sizes.

    **Arguments:** `models` and `tasks` are one or a list of the same length (shapes must agree), `lr` one number or one
    per member; `clip` bounds the norm of the gradient; `schedule` is `constant` or `cosine` (to zero over `steps`);
    `chunk` steps run between two looks from outside. Step i of member m uses the key fold_in(fold_in(key, m), i): it
    doesn't matter where a training was interrupted. With a key for each member, they draw what they would draw alone.
    Members must have the same kinds of parts; noise laws may differ in kind, but not for the posterior objective.
    `devices` are those that work together, a list or how many: each trains some of the members if these can be dealt
    out evenly, else a part of every batch, and then losses differ from those of one device by rounding alone.

    `train(model, task, solver="adam", steps=1000)` makes one and drives it; made by hand, `to_end` drives
    it, and `members(state)` has all of them where `model(state)` is the best.
    """

    def __init__(
        self,
        models: AbstractPredictor | Sequence[AbstractPredictor],
        tasks: AbstractTask | Sequence[AbstractTask],
        *,
        objective: str = "query",
        key: Keys,
        steps: int = 5000,
        batch: int = 2048,
        lr: float | Sequence[float] = LR,
        schedule: str = "constant",
        clip: float = 1.0,
        dtype=jnp.float32,
        chunk: int = 50,
        devices: int | Sequence[Device] | None = None,
    ):
        members = [models] if isinstance(models, AbstractPredictor) else list(models)
        laws = [tasks] * len(members) if isinstance(tasks, AbstractTask) else list(tasks)
        rates = list(lr) if isinstance(lr, Sequence) else [lr] * len(members)
        if not members or not len(members) == len(laws) == len(rates):
            raise ValueError(
                f"there are {len(members)} models, {len(laws)} tasks and {len(rates)} step sizes; expected one of each "
                "per member, or one for all."
            )
        check_objective(objective, members[0], laws[0])
        _check.one_of("schedule", schedule, SCHEDULES)
        for name, value in (("steps", steps), ("batch", batch), ("chunk", chunk)):
            _check.size(name, value)
        if not clip > 0:
            raise ValueError(f"clip is {clip}; expected a positive bound on the norm of the gradient.")
        for rate in rates:
            if not (np.isfinite(rate) and rate > 0):
                raise ValueError(f"lr is {rate}; expected a positive step size.")
        self._mesh = as_mesh(devices)
        if self._mesh is not None:
            check_parts(self._mesh, len(members), batch, made_of_numbers(objective, laws[0]))
        self.objective, self.steps, self.batch, self.schedule, self.clip = (
            objective,
            steps,
            batch,
            schedule,
            float(clip),
        )
        size = sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(members[0], eqx.is_inexact_array)))
        # Moments are drawn as they are, of contexts of any length, unless their law knows no other way than tokens.
        tokens = laws[0].n if objective == "query" or laws[0].moments_take_tokens else 0
        context = laws[0].d * (laws[0].d + tokens)
        # Weights, their slopes, two memories of Adam's; contexts, and what the way back needs of each.
        _memory.need(
            f"{len(members)} members with a batch of {batch} contexts of d = {laws[0].d} and n = {laws[0].n}",
            len(members) * (4 * size + 4 * batch * context),
            "batch, seeds, n or d",
            bytes_each=np.dtype(dtype).itemsize,
        )
        self.chunk, self._key = chunk, key
        self._templates = members
        self._models = _stack([_cast(model, dtype) for model in members])
        self._tasks = _stack([_cast(task, dtype) for task in alike(laws)])
        self._rates = jnp.asarray(rates, dtype)
        arrays, self._static = eqx.partition(self._models, eqx.is_inexact_array)
        self._start = at_rest(arrays, _adam(self.clip))

    def init(self) -> State:
        """The models as they were given."""
        return self._pack(self._start, 0, [float("inf")] * len(self._templates))

    def finished(self, state: State) -> bool:
        """After the last step."""
        return state.info["step"] >= self.steps

    def advance(self, state: State) -> tuple[State, list[dict[str, Any]]]:
        """A chunk of steps."""
        step = state.info["step"]
        count = min(self.chunk, self.steps - step)
        carry, losses = _run(
            self._unpack(state),
            self._static,
            self._tasks,
            self._rates,
            self._key,
            jnp.asarray(step),
            _Settings(self.objective, self.batch, self.schedule, self.steps, self.clip, count, self._mesh),
        )
        means = [float(loss) for loss in np.asarray(losses, np.float64).mean(axis=0)]
        row = {
            "step": step + count,
            "loss": min(means, key=lambda loss: (np.isnan(loss), loss)),
            "progress": (step + count) / self.steps,
        }
        if len(means) > 1:
            row |= {f"loss_{member}": loss for member, loss in enumerate(means)}
        return self._pack(carry, step + count, means), [row]

    def model(self, state: State) -> Any:
        """The member that did best in the last chunk; in the precision it was given in."""
        losses = [np.inf if np.isnan(loss) else loss for loss in state.info["losses"]]
        return self.members(state)[int(np.argmin(losses))]

    def members(self, state: State) -> list[Any]:
        """All members, in the precision they were given in."""
        arrays, _ = self._unpack(state)
        found = []
        for index, template in enumerate(self._templates):
            own = eqx.combine(jax.tree.map(lambda leaf, index=index: leaf[index], arrays), self._static)
            like = eqx.filter(template, eqx.is_inexact_array)
            typed = jax.tree.map(lambda leaf, old: leaf.astype(old.dtype), eqx.filter(own, eqx.is_inexact_array), like)
            found.append(eqx.combine(typed, template))
        return found

    def _pack(self, carry: Any, step: int, losses: list[float]) -> State:
        leaves = jax.tree.leaves(carry)
        info: dict[str, Any] = {"step": step, "losses": losses}
        if step >= self.steps:
            info["stopped"] = f"step limit of {self.steps}"
        return State({f"leaf/{index}": np.asarray(leaf) for index, leaf in enumerate(leaves)}, info)

    def _unpack(self, state: State) -> Any:
        structure = jax.tree.structure(self._start)
        return jax.tree.unflatten(structure, [jnp.asarray(leaf) for leaf in state.arrays.values()])


class _Settings(eqx.Module):
    objective: str = eqx.field(static=True)
    batch: int = eqx.field(static=True)
    schedule: str = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    clip: float = eqx.field(static=True)
    count: int = eqx.field(static=True)
    mesh: Mesh | None = eqx.field(static=True)


def _adam(clip: float) -> optax.GradientTransformation:
    # Outputs are polynomials of high degree: a batch whose gradient overflows is passed over, not followed into NaN.
    return optax.apply_if_finite(
        optax.chain(optax.clip_by_global_norm(clip), optax.scale_by_adam()), max_consecutive_errors=1000
    )


@eqx.filter_jit
def _run(
    carry: Any, static: Any, tasks: Any, rates: Array, key: Keys, start: Array, settings: _Settings
) -> tuple[Any, Array]:
    """`count` steps of all members; the losses are (count, members)."""
    members = rates.shape[0]
    if key.ndim:
        roots = jax.vmap(lambda own: jax.random.fold_in(own, 0))(key)
    else:
        roots = jax.vmap(lambda index: jax.random.fold_in(key, index))(jnp.arange(members))

    mesh = settings.mesh
    if mesh is not None and members % mesh.size == 0:
        arrays, rest = eqx.partition(tasks, eqx.is_array)

        def own(carry, arrays, rates, roots):
            return _steps(carry, static, eqx.combine(arrays, rest), rates, roots, start, settings, None)

        return by_members(own, mesh, 4)(carry, arrays, rates, roots)
    return _steps(carry, static, tasks, rates, roots, start, settings, mesh)


def _steps(
    carry: Any,
    static: Any,
    tasks: Any,
    rates: Array,
    roots: Keys,
    start: Array,
    settings: _Settings,
    mesh: Mesh | None,
) -> tuple[Any, Array]:
    """Steps of members, each batch parted over the devices of a mesh if there is one."""
    batch = settings.batch // (mesh.size if mesh else 1)
    arrays, rest = eqx.partition(tasks, eqx.is_array)

    def draws(step):
        keys = jax.vmap(lambda root: jax.random.fold_in(root, step))(roots)
        drawn = jax.vmap(lambda task, key: draw(settings.objective, task, settings.batch, key))(tasks, keys)
        return parted(drawn, mesh) if mesh else drawn

    def loss(own, law, drawn):
        return batch_loss(settings.objective, eqx.combine(own, static), eqx.combine(law, rest), drawn, batch)

    return descend(
        by_batch(loss, mesh) if mesh else loss,
        carry,
        arrays,
        rates,
        start + jnp.arange(settings.count),
        optimiser=_adam(settings.clip),
        schedule=cosine(settings.steps) if settings.schedule == "cosine" else constant,
        draw=draws,
    )


def _cast(tree: Any, dtype) -> Any:
    return jax.tree.map(lambda leaf: leaf.astype(dtype) if eqx.is_inexact_array(leaf) else leaf, tree)


def _stack(trees: list[Any]) -> Any:
    arrays = [eqx.filter(tree, eqx.is_inexact_array) for tree in trees]
    shapes = {jax.tree.structure(each) for each in arrays}
    if len(shapes) > 1 or any(
        jax.tree.map(jnp.shape, each) != jax.tree.map(jnp.shape, arrays[0]) for each in arrays[1:]
    ):
        raise ValueError("the members differ in kind or in shape; one compiled program needs them alike.")
    return eqx.combine(jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays), trees[0])


def _why(model: AbstractPredictor, task: AbstractTask, objective: str) -> str:
    if not model.linear:
        return "not linear in the query: Adam on fresh prompts"
    if objective == "query":
        return "the query objective: Adam on fresh contexts"
    if natural_objective(model, task) == "query":
        return "the task's labels are not linear in the inputs: Adam on fresh prompts"
    return f"{parameters(model)} parameters are too many for least squares: Adam on fresh contexts"


def _together(
    models: Sequence[AbstractPredictor],
    tasks: Sequence[AbstractTask],
    *,
    objective: str,
    keys: Sequence[PRNGKeyArray],
    settings: Sequence[dict[str, Any]],
) -> list[tuple[Any, str]]:
    """Members of one trainer, always as many: the last stands in for those that are missing."""
    found = []
    for start in range(0, len(models), MEMBERS):
        some = [min(index, len(models) - 1) for index in range(start, start + MEMBERS)]
        rates = [settings[index].get("lr", LR) for index in some]
        trainer = AdamTrainer(
            [models[index] for index in some],
            [tasks[index] for index in some],
            objective=objective,
            key=jnp.stack([keys[index] for index in some]),
            **{**settings[0], "lr": rates},
        )
        state = to_end(trainer)
        found += [(member, state.info["stopped"]) for member in trainer.members(state)]
    return found[: len(models)]


SOLVER = Solver(
    name="adam",
    sentence="Adam on fresh contexts, many members at once",
    make=AdamTrainer,
    flags={"steps": "steps", "batch": "batch", "lr": "lr"},
    many=True,
    suits=_why,
    together=_together,
)
