"""Tasks with noise laws of different kinds, made alike so that one compiled program serves them all."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .._unknown import Unknown
from ..tasks import AbstractNoise, AbstractTask, LinearRegression, LogLikelihood, NoiseNodes


class OneOfNoise(AbstractNoise):
    """One of several laws, marked by a 1 among 0s: tasks that mark different ones have the same structure."""

    laws: tuple[AbstractNoise, ...]
    marks: Float[Array, " k"]

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """As the marked law draws it."""
        return self.marks @ jnp.stack([law.sample(key=key) for law in self.laws])

    @property
    def placed(self) -> bool:
        """If all laws are."""
        return all(law.placed for law in self.laws)

    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """As the marked law places it."""
        return self.marks @ jnp.stack([law.place(normal) for law in self.laws])

    def moment(self, power: int) -> Float[Array, ""]:
        """That of the marked law."""
        return self.marks @ jnp.stack([law.moment(power) for law in self.laws])

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """Not for mixtures: laws are integrated over in different ways."""
        raise Unknown(
            "the posterior objective can't be shared by noise laws of different kinds; use adjusted, weights or query, "
            "or train the laws of each kind apart."
        )


def alike(tasks: Sequence[AbstractTask]) -> list[AbstractTask]:
    """The same tasks; if they are regressions whose noise laws differ in kind or shape, of one common structure."""
    regressions = [task for task in tasks if isinstance(task, LinearRegression)]
    return list(tasks) if len(regressions) < len(tasks) else list(_alike(regressions))


def _alike(tasks: Sequence[LinearRegression]) -> list[LinearRegression]:
    shapes = [_shape(task.noise) for task in tasks]
    kinds = list(dict.fromkeys(shapes))
    if len(kinds) == 1:
        return list(tasks)
    # Any law of a kind stands in for it where another kind is marked.
    stand_ins = [tasks[shapes.index(kind)].noise for kind in kinds]

    def wrapped(task: LinearRegression, shape) -> LinearRegression:
        laws = tuple(task.noise if kind == shape else law for kind, law in zip(kinds, stand_ins, strict=True))
        marks = jnp.asarray([float(kind == shape) for kind in kinds])
        return eqx.tree_at(lambda task: task.noise, task, OneOfNoise(laws, marks))

    return [wrapped(task, shape) for task, shape in zip(tasks, shapes, strict=True)]


def _shape(law: AbstractNoise):
    return jax.tree.structure(law), tuple(leaf.shape for leaf in jax.tree.leaves(law))
