"""FULL trained from dense weights: by Adam on a large pool of contexts, from starts that are neither DIAG nor axial.

Levenberg-Marquardt overfits its small pools with a thousand weights, and stays where it began. Adam doesn't, but its
step is the same for all weights. So it walks in units in which all are of one size: labels are divided by their root
mean square s, Gram matrices by n. With D = diag(1, ..., 1, 1 / s), P becomes sqrt(n) D P D^-1, and Q becomes
sqrt(n) D^-1 Q D^-1; the weight vector that comes out is divided by s.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from ..._trainer import State
from ...attention import Diag, Full
from ...tasks import LinearRegression, Moments
from ...training import at_rest, cosine, descend

BATCH, RATE, CLIP, CHUNK = 512, 1.5e-3, 1.0, 250
# Contexts per piece of the pool; and pieces that are left out of the fit: the starts are ranked on them.
PIECE, HELD_OUT = 512, 8
SIZE, PUSH = 0.1, 0.1


def units(task: LinearRegression) -> Float[np.ndarray, " e"]:
    """The diagonal of D."""
    return np.append(np.ones(task.d), (task.d + float(task.noise.moment(2))) ** -0.5)


def to_units(model: Full, task: LinearRegression) -> Full:
    """The same network, as Adam sees it."""
    scale, root = units(task), task.n**0.5
    p, q = np.asarray(model.p), np.asarray(model.q)
    return Full(jnp.asarray(root * scale[:, None] * p / scale), jnp.asarray(root / scale[:, None] * q / scale))


def from_units(model: Full, task: LinearRegression) -> Full:
    """And back."""
    scale, root = units(task), task.n**0.5
    p, q = np.asarray(model.p, float), np.asarray(model.q, float)
    return Full(jnp.asarray(p / scale[:, None] * scale / root), jnp.asarray(q * scale[:, None] * scale / root))


def random_dense(layers: int, task: LinearRegression, key: PRNGKeyArray) -> Full:
    """Normal numbers in every place; in Adam's units."""
    return Full(*(SIZE * jax.random.normal(key, (2, layers, 1, task.d + 1, task.d + 1))))


def near_diag(model: Diag, task: LinearRegression, key: PRNGKeyArray) -> Full:
    """DIAG, its P and Q made equally large, and normal numbers in every place besides; in Adam's units."""

    def spread(x: Array, y: Array) -> Array:
        return jax.vmap(jax.vmap(lambda x, y: jnp.diag(jnp.append(jnp.full(task.d, x), y))))(x, y)

    dense = to_units(Full(spread(model.p_x, model.p_y), spread(model.q_x, model.q_y)), task)
    p, q = (jnp.sqrt(jnp.sum(each**2, axis=(-2, -1), keepdims=True) / (task.d + 1)) for each in (dense.p, dense.q))
    first, second = PUSH * jnp.sqrt(p * q) * jax.random.normal(key, (2, *dense.p.shape))
    return Full(jnp.sqrt(q / p) * dense.p + first, jnp.sqrt(p / q) * dense.q + second)


class DenseTrainer:
    """Trains FULL networks of some depths, one after the other, and keeps the better of the starts of each.

    **Arguments:** `starts(name)` gives the weights in Adam's units from which the network `name` starts; `pieces` is
    the size of the pool; a seed stands for pool, batches and what else is drawn.
    """

    def __init__(
        self,
        task: LinearRegression,
        starts: dict[str, Callable[[], list[Full]]],
        *,
        seed: int,
        steps: int,
        pieces: int,
    ):
        self.task, self.starts, self.steps = task, starts, steps
        self._names, self._pieces, self._seed = list(starts), pieces, seed
        self._pool: tuple[Any, Any] | None = None

    def init(self) -> State:
        """The first network's starts."""
        return self._begin({})

    def finished(self, state: State) -> bool:
        """After the last network."""
        return len(self.found(state)) == len(self._names)

    def advance(self, state: State) -> tuple[State, list[dict[str, Any]]]:
        """A chunk of steps, and after the last one the next network."""
        done = self.found(state)
        name, step = self._names[len(done)], state.info["step"]
        shape = at_rest(_stack(self.starts[name]()), _adam())
        carry = jax.tree.unflatten(
            jax.tree.structure(shape), [jnp.asarray(state.arrays[f"leaf/{i}"]) for i in range(state.info["leaves"])]
        )
        pool, held_out = self._contexts()
        carry, losses = _run(carry, pool, jax.random.key(self._seed + 3), jnp.asarray(step), self.steps)
        step += CHUNK
        progress = (len(done) + step / self.steps) / len(self._names)
        row = {"level": name, "step": step, "loss": 2 * float(jnp.min(jnp.mean(losses, axis=0))), "progress": progress}
        kept = {key: array for key, array in state.arrays.items() if key.startswith("found/")}
        if step < self.steps:
            return _packed(carry, step, kept), [row]
        arrays = jax.vmap(lambda model: _loss(model, held_out, slice(None)))(carry[0])
        best = jax.tree.map(lambda leaf: leaf[int(np.nanargmin(arrays))], carry[0])
        model = from_units(best, self.task)
        found = {**kept, f"found/{name}/p": np.asarray(model.p), f"found/{name}/q": np.asarray(model.q)}
        return self._begin(found), [row]

    def model(self, state: State) -> Full:
        """The last network that is done."""
        return self.found(state)[self._names[-1]]

    def found(self, state: State) -> dict[str, Full]:
        """All networks that are done."""
        arrays = state.arrays
        return {
            name: Full(jnp.asarray(arrays[f"found/{name}/p"]), jnp.asarray(arrays[f"found/{name}/q"]))
            for name in self._names
            if f"found/{name}/p" in arrays
        }

    def _begin(self, found: dict[str, np.ndarray]) -> State:
        count = len(found) // 2
        if count == len(self._names):
            return State(found, {"step": 0, "leaves": 0, "stopped": f"step limit of {self.steps}"})
        return _packed(at_rest(_stack(self.starts[self._names[count]]()), _adam()), 0, found)

    def _contexts(self) -> tuple[Any, Any]:
        """Gram matrices and wanted weight vectors in Adam's units: the pool, and what is held out."""
        if self._pool is None:
            task, scale = self.task, units(self.task)
            both = jnp.asarray(np.outer(scale, scale) / task.n)

            @jax.jit
            @jax.vmap
            def context(key):
                moments = task.sample_moments(key=key)
                return moments.gram * both, task.posterior(moments).mean * scale[-1]

            keys = jax.random.split(jax.random.key(self._seed + 7), (self._pieces + HELD_OUT) * PIECE)
            drawn = [context(each) for each in jnp.split(keys, self._pieces + HELD_OUT)]
            size = self._pieces * PIECE
            gram, wanted = (jnp.concatenate(each) for each in zip(*drawn, strict=True))
            whole = gram.astype(jnp.float32), wanted.astype(jnp.float32)
            self._pool = tuple(each[:size] for each in whole), tuple(each[size:] for each in whole)
        return self._pool


def _packed(carry: Any, step: int, found: dict[str, np.ndarray]) -> State:
    leaves = jax.tree.leaves(carry)
    arrays = {f"leaf/{index}": np.asarray(leaf) for index, leaf in enumerate(leaves)}
    return State({**found, **arrays}, {"step": step, "leaves": len(leaves)})


def _stack(models: list[Full]) -> Full:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves).astype(jnp.float32), *models)


def _adam() -> optax.GradientTransformation:
    # Outputs are polynomials of high degree: a batch whose gradient overflows is passed over.
    steps = optax.chain(optax.clip_by_global_norm(CLIP), optax.scale_by_adam(b2=0.99))
    return optax.apply_if_finite(steps, max_consecutive_errors=10_000)


def _loss(model: Full, pool: tuple[Array, Array], index: Any) -> Float[Array, ""]:
    gram, wanted = (each[index] for each in pool)
    found = jax.vmap(lambda each: model.weights(Moments(each, 0)))(gram)
    return jnp.mean(jnp.sum((found - wanted) ** 2, axis=1))


@eqx.filter_jit
def _run(carry: Any, pool: tuple[Array, Array], key: PRNGKeyArray, start: Array, steps: int) -> tuple[Any, Array]:
    count, members = pool[1].shape[0], jax.tree.leaves(carry[0])[0].shape[0]
    return descend(
        lambda model, _, index: _loss(model, pool, index),
        carry,
        None,
        jnp.full(members, RATE, jnp.float32),
        start + jnp.arange(CHUNK),
        optimiser=_adam(),
        schedule=cosine(steps),
        draw=lambda step: jax.random.randint(jax.random.fold_in(key, step), (BATCH,), 0, count),
        draws_shared=True,
    )
