"""Where fits begin: random weights of a sensible size, and networks with a layer added to a trained one."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from .._predictor import AbstractPredictor
from .._unknown import Unknown
from ..attention import (
    LSA,
    Axial,
    Diag,
    FreeDiag,
    Full,
    GDPlusPlusTransformer,
    MergedLTB,
)
from ..estimators import GDPlusPlus
from ..tasks import AbstractTask

# Random omegas spread over this many times the inverse size of the Gram block they multiply.
SPREAD = 0.7
# Random starts beside those that are known to be good.
RANDOM_STARTS = 6
# Prompts that tell the size of labels where no law does.
LOOKED_AT = 256


def gram_sizes(task: AbstractTask) -> tuple[float, float]:
    """Typical size of an eigenvalue of X^T X, and of y^T y: from the laws' moments, or from a few prompts."""
    try:
        regression = task.regression()
        second, tasks = np.asarray(task.query_metric()), regression.prior.moments(task.d).second
        label = float(np.sum(second * tasks)) + float(regression.noise.moment(2)) * regression.labels.moments().second
        return task.n * float(np.trace(second)) / task.d, task.n * max(label, 1e-300)
    except Unknown:
        keys = jax.random.split(jax.random.key(0), LOOKED_AT)
        gram = jax.vmap(lambda key: task.sample(key=key).moments().gram)(keys)
        inputs, labels = jnp.trace(gram[:, :-1, :-1], axis1=1, axis2=2), gram[:, -1, -1]
        return float(jnp.mean(inputs)) / task.d, max(float(jnp.mean(labels)), 1e-300)


def random_start(model: AbstractPredictor, task: AbstractTask, key: PRNGKeyArray) -> Any:
    """Other random weights for the same kind of model, of the size that the task's contexts call for."""
    x, y = gram_sizes(task)
    match model:
        case GDPlusPlusTransformer():
            normal = SPREAD * jax.random.normal(key, (2, *model.w_xx.shape))
            return GDPlusPlusTransformer(-jnp.abs(normal[0]) / (3 * x), -jnp.abs(normal[1]) / x, depth=model.depth)
        case FreeDiag():
            normal = SPREAD * jax.random.normal(key, (4, *model.w_xx.shape))
            return FreeDiag(
                normal[0] / (3 * x), normal[1] / y, -jnp.abs(normal[2]) / x, normal[3] / y, depth=model.depth
            )
        case Diag():
            p_x, p_y, q_x, q_y = SPREAD * jax.random.normal(key, (4, *model.p_x.shape))
            heads = model.heads**0.5
            # q_x in units that make w_xx and w_yx of size 1/x, q_y in units that make w_xy and w_yy of size 1/y.
            return Diag(p_x / 3, p_y, q_x / (x * heads), q_y / (y * heads), depth=model.depth)
        case Axial():
            first, second, third = jax.random.split(key, 3)
            layers, heads = model.p_across.shape
            template = Diag.zeros(layers, heads, model.depth)
            amount = jnp.exp(jax.random.uniform(third, (), minval=jnp.log(0.1), maxval=jnp.log(0.6)))
            return pushed(Axial.from_diag(random_start(template, task, first), model.axes), amount, second)
        case Full():
            layers, heads = model.p.shape[:2]
            first, second = jax.random.split(key)
            template = Diag.zeros(layers, heads, model.depth)
            return jiggled(full_from_diag(random_start(template, task, first), task.d), 0.1, second)
        case LSA() | MergedLTB():
            # A head that reads the labels descends by the gradient; one that reads the inputs learns a single direction
            # of it, and is stuck there. Which of the two it becomes depends on what it reads more of at the start.
            first, second = jax.random.split(key)
            fresh = _rescaled(model, first)
            louder = jnp.exp(jax.random.uniform(second, (), minval=-1.0, maxval=3.0))
            return eqx.tree_at(lambda model: model.v, fresh, fresh.v.at[..., -1].multiply(louder))
    return _rescaled(model, key)


def _rescaled(model: Any, key: PRNGKeyArray) -> Any:
    """Fresh normal numbers in the place of every array, as large as the old ones were."""

    def fresh(leaf, normal):
        size = jnp.sqrt(jnp.mean(leaf**2))
        return jnp.where(size > 0, size, 0.1).astype(leaf.dtype) * normal

    return _with_normals(fresh, model, key)


def jiggled(model: Any, amount: float, key: PRNGKeyArray) -> Any:
    """The same weights plus normal numbers, `amount` times the root mean square of each array."""
    return _with_normals(lambda leaf, normal: leaf + amount * jnp.sqrt(jnp.mean(leaf**2)) * normal, model, key)


def pushed(model: Axial, amount: Any, key: PRNGKeyArray) -> Axial:
    """The same weights with normal numbers on the blocks of the axes, `amount` times each block's own size."""

    def push(blocks, normal):
        size = jnp.sqrt(jnp.sum(blocks**2, axis=(-2, -1), keepdims=True) / blocks.shape[-1])
        return blocks + amount * size * normal

    first, second = jax.random.normal(key, (2, *model.p_along.shape), model.p_along.dtype)
    blocks = push(model.p_along, first), push(model.q_along, second)
    return eqx.tree_at(lambda model: (model.p_along, model.q_along), model, blocks)


def _with_normals(change: Callable, model: Any, key: PRNGKeyArray) -> Any:
    """Every array of a model changed by `change(array, normal numbers of its shape)`."""
    arrays, static = eqx.partition(model, eqx.is_inexact_array)
    leaves, structure = jax.tree.flatten(arrays)
    keys = [jax.random.fold_in(key, index) for index in range(len(leaves))]
    changed = [
        change(leaf, jax.random.normal(each, leaf.shape, leaf.dtype)) for leaf, each in zip(leaves, keys, strict=True)
    ]
    return eqx.combine(jax.tree.unflatten(structure, changed), static)


def full_from_diag(model: Diag, d: int) -> Full:
    """DIAG as FULL with the same heads (`as_full` would spend two heads on any omegas)."""
    label = jnp.arange(d + 1) == d
    spread = jax.vmap(jax.vmap(lambda inputs, labels: jnp.diag(jnp.where(label, labels, inputs))))
    return Full(spread(model.p_x, model.p_y), spread(model.q_x, model.q_y), depth=model.depth)


def diag_from_gd(model: GDPlusPlusTransformer, like: Diag, task: AbstractTask) -> Diag:
    """GD++ as DIAG with the heads of `like`: the first head does it all, the others and q_y start at next to nothing."""
    x, y = gram_sizes(task)
    # p and q share the omegas' size evenly in units of w_yx, so that both can move.
    unit = jnp.maximum(jnp.abs(model.w_yx) * x, 1e-2)
    rest = jnp.zeros_like(like.p_x)
    return Diag(
        rest.at[:, 0].set(model.w_xx * x / unit) + 1e-3,
        rest.at[:, 0].set(model.w_yx * x / unit),
        rest.at[:, 0].set(unit / x),
        rest + 1e-3 / y,
        depth=like.depth,
    )


def free_from_gd(model: GDPlusPlusTransformer, like: FreeDiag, task: AbstractTask) -> FreeDiag:
    """GD++ as DIAG with free omegas."""
    del task
    nothing = jnp.zeros_like(like.w_xy)
    return FreeDiag(model.w_xx, nothing, model.w_yx, nothing, depth=like.depth)


def with_layer(model: Any, position: int, layer: Any) -> Any:
    """A copy with one more layer, its parameters those of the one-layer model `layer`."""
    return jax.tree.map(lambda leaf, new: jnp.concatenate([leaf[:position], new, leaf[position:]]), model, layer)


def deepened(model: Any, task: AbstractTask, key: PRNGKeyArray) -> list[Any]:
    """Networks with one more layer that begin where `model` stands: a weak random layer at each place."""
    single = jax.tree.map(lambda leaf: leaf[:1], model)
    starts = []
    for position in range(model.layers + 1):
        layer = random_start(single, task, jax.random.fold_in(key, position))
        starts.append(with_layer(model, position, jax.tree.map(lambda leaf: 0.3 * leaf, layer)))
    return starts


def preconditioner_start(layers: int, task: AbstractTask) -> GDPlusPlusTransformer:
    """Theorem 5.1's network for the bulk of the eigenvalues of X^T X: precondition, then one step."""
    second = np.linalg.eigvalsh(np.asarray(task.query_metric()))
    ratio = (task.d / task.n) ** 0.5
    low, high = task.n * second.min() * max(1 - ratio, 0.1) ** 2, task.n * second.max() * (1 + ratio) ** 2
    gd = GDPlusPlus.preconditioned(layers, max(low, 1e-3 * high), high)
    return GDPlusPlusTransformer(-gd.contractions, -gd.steps)
