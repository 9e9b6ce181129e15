"""Laws of tasks as short texts."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from ... import _check, _memory
from .._law import AbstractPrior
from .._spec import law_registry, parse_law
from ._gaussian import GaussianPrior
from ._laplace import LaplacePrior
from ._mixture import GaussianMixturePrior
from ._pool import PoolPrior
from ._sparse import SparsePrior
from ._student_t import StudentTPrior

# The pool of `pool:16` is the same in every run.
POOL_SEED = 0


def _pool(tasks: float, *, d: int, mean: ArrayLike, scale: float) -> PoolPrior:
    if not tasks.is_integer():
        raise ValueError(f"a pool has a whole number of tasks, not {tasks}.")
    return PoolPrior.drawn(d, int(tasks), key=jax.random.key(POOL_SEED), mean=mean, scale=scale)


def _mixture(centre: float, *, d: int, mean: ArrayLike, scale: float) -> GaussianMixturePrior:
    """Two Gaussians of equal weight, `centre` to either side of the mean in every coordinate."""
    means = jnp.stack([jnp.full(d, mean, dtype=float) + move for move in (centre, -centre)])
    return GaussianMixturePrior([0.5, 0.5], means, jnp.stack([scale**2 * jnp.eye(d)] * 2))


# Priors by name, as `--prior` takes them: `student-t:5` is the record "student-t" called with 5.0.
PRIORS = law_registry("prior", "descant.priors")
PRIORS.add("gaussian", lambda *, d, mean, scale: GaussianPrior.isotropic(d, mean, scale))
PRIORS.add("mixture", _mixture)
PRIORS.add("pool", _pool)
PRIORS.add("sparse", SparsePrior)
PRIORS.add("student-t", lambda df, *, d, mean, scale: StudentTPrior.isotropic(d, df, mean, scale))
PRIORS.add("laplace", LaplacePrior)


def parse_prior(spec: str, d: int, mean: ArrayLike | Sequence[float] = 0.0, scale: float = 1.0) -> AbstractPrior:
    """The law that a short text means, for d coordinates of this location and scale.

    **Arguments:** `mean` is one number for all coordinates, or d of them.

    | text | law |
    |---|---|
    | `gaussian` | N(mean, scale^2 I) |
    | `mixture:2` | the same, moved by 2 or by -2 in all coordinates at once |
    | `pool:16` | 16 tasks drawn from it once, with a fixed seed |
    | `sparse:0.3` | its coordinates, each with probability 0.3, else 0 |
    | `student-t:5` | Student-t of 5 degrees of freedom, `scale` the scale of a coordinate |
    | `laplace` | Laplace coordinates about the mean, of scale `scale` |
    | `module:name:numbers` | one's own, made from the numbers |

    A maker of one's own gets d, mean and scale if it has arguments of these names.

    >>> parse_prior("sparse:0.3", d=5, mean=1.0).mean
    Array(1., dtype=float64)
    """
    _check.size("d", d)
    _check.location("prior mean", mean, d)
    _check.not_negative("prior scale", scale)
    _check.magnitude("prior scale", scale)
    _memory.need(f"a prior in d = {d} dimensions", 4 * d * d, "d")
    mean = mean if np.ndim(mean) == 0 else np.asarray(mean, dtype=float)
    return parse_law(PRIORS, AbstractPrior, spec, d=d, mean=mean, scale=scale)
