"""Contexts on which a model is read: drawn from a task once, in NumPy, and shared by all that is fitted."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from .. import _check
from .._unknown import Unknown
from ..tasks import AbstractTask

# Noise levels that are told apart: as many as the law has, or so many groups of a law that has a density.
GROUPS = 3
# Levels with fewer contexts than these say nothing.
LEAST = 16


class Level(NamedTuple):
    """Contexts of one noise level, or of a range of them about `sigma`."""

    sigma: float
    members: np.ndarray


@dataclass(frozen=True)
class Contexts:
    """B contexts of n tokens: `gram` (B, e, e), noise levels `sigma` (B,) where the task has them.

    `metric` (d, d) is E x x^T of queries: what an error of a weight vector costs. `prompts` are there if tokens were
    drawn. The first half is for fitting; shares are measured on the second.
    """

    n: int
    gram: Float[np.ndarray, "B e e"]
    sigma: Float[np.ndarray, " B"] | None
    metric: Float[np.ndarray, "d d"]
    prompts: Any = None

    @classmethod
    def draw(cls, task: AbstractTask, count: int, key: PRNGKeyArray, *, tokens: bool = False) -> "Contexts":
        """`count` contexts of a task, as tokens or only as moments."""
        _check.size("contexts", count, least=2 * LEAST)
        prompts = None
        if tokens:
            prompts = _prompts(task, key, count)
            moments = jax.vmap(lambda prompt: prompt.moments())(prompts)
        else:
            moments = _moments(task, key, count)
        sigma = None if moments.sigma is None else np.asarray(moments.sigma, float)
        return cls(task.n, np.asarray(moments.gram, float), sigma, _metric(task, prompts), prompts)

    @property
    def count(self) -> int:
        """B."""
        return len(self.gram)

    @property
    def d(self) -> int:
        """Input dimension."""
        return self.gram.shape[-1] - 1

    @property
    def s(self) -> Float[np.ndarray, "B d d"]:
        """S = X^T X / n."""
        return self.gram[:, :-1, :-1] / self.n

    @property
    def alpha(self) -> Float[np.ndarray, "B d"]:
        """X^T y / n."""
        return self.gram[:, :-1, -1] / self.n

    @property
    def power(self) -> Float[np.ndarray, " B"]:
        """y^T y / n."""
        return self.gram[:, -1, -1] / self.n

    @property
    def root(self) -> Float[np.ndarray, "d d"]:
        """The root of the metric: |root (w - v)|^2 is the mean square of <w - v, x>."""
        values, vectors = np.linalg.eigh(self.metric)
        return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T

    def levels(self) -> tuple[Level, ...]:
        """Noise levels of the law, or groups about the middle of each; none if there is but one, or none is known."""
        if self.sigma is None:
            return ()
        distinct = np.unique(self.sigma)
        if len(distinct) <= 2 * GROUPS:
            found = [Level(float(each), self.sigma == each) for each in distinct]
        else:
            edges = np.quantile(self.sigma, np.arange(1, GROUPS) / GROUPS)
            group = np.searchsorted(edges, self.sigma)
            found = [Level(float(np.median(self.sigma[group == i])), group == i) for i in range(GROUPS)]
        return tuple(each for each in found if each.members.sum() >= LEAST)

    def chosen(self, members: np.ndarray) -> "Contexts":
        """Some of them."""
        prompts = None if self.prompts is None else jax.tree.map(lambda leaf: leaf[members], self.prompts)
        sigma = None if self.sigma is None else self.sigma[members]
        return Contexts(self.n, self.gram[members], sigma, self.metric, prompts)


# One program for all tasks of a shape: compiling it takes longer than all fits.
@eqx.filter_jit
def _prompts(task: AbstractTask, key: PRNGKeyArray, count: int) -> Any:
    return jax.vmap(lambda key: task.sample(key=key))(jax.random.split(key, count))


@eqx.filter_jit
def _moments(task: AbstractTask, key: PRNGKeyArray, count: int) -> Any:
    return jax.vmap(lambda key: task.sample_moments(key=key))(jax.random.split(key, count))


def _metric(task: AbstractTask, prompts: Any) -> Float[np.ndarray, "d d"]:
    try:
        return np.asarray(task.query_metric(), float)
    except Unknown:
        if prompts is None:
            return np.eye(task.d)
        queries = np.asarray(prompts.x_query, float)
        return queries.T @ queries / len(queries)
