"""All that the risk of one layer of linear attention depends on, for any laws of inputs, tasks and noise.

A layer whose query is masked has weights o + `<T, G/n>`, so its risk is a quadratic form in means of products of the
task w and of the entries of G/n. Given w and sigma, tokens are independent, and every such mean is a polynomial in
moments of the laws. With S = E x x^T, Q(A) = E x x^T `<x, A x>`, W = E w w^T, and label noise of the moments s2, s3, s4
(sigma included):

| entries of T | need of the inputs | need of the tasks | need of the noise |
|---|---|---|---|
| offset alone | S | mean, W | nothing |
| X^T X and X^T y: GD, GD-beta, heads that don't read y^T y | S, Q | mean, W | s2 |
| y^T y: LSA in general | S, Q, and the mean if s3 is not 0 | E w `<w, A w>`, E w w^T `<w, A w>` too | s2, s3, s4 |

So GD-beta has an exact risk under Student-t tasks of three degrees of freedom, which have no fourth moment,
and LSA has not.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import _check
from .._arrays import Arrays, Number
from .._unknown import Unknown
from ..tasks import AbstractTask, LinearRegression, VectorMoments

# Products of all pairs of entries of G are held: at 64 dimensions they are 35 MB.
LARGEST_D = 64


class GramMoments(eqx.Module):
    """Means over contexts of products of their task w and of the m = (d+1)(d+2)/2 different entries g of G/n.

    A predictor with the weights o + `<T, G/n>` has an error whose square, in the norm of the inputs, is a
    quadratic form in these means. `unread` says why means of products with y^T y
    are not known (they are NaN then), and is empty if they are.

    >>> from descant.tasks import SphereInputs
    >>> moments = GramMoments.of(LinearRegression(d=2, n=8, inputs=SphereInputs()))
    >>> moments.gg.shape
    (6, 6)
    >>> float(moments.risk(jnp.zeros(2), jnp.zeros((2, 3, 3))))
    2.0
    """

    inputs: Float[Array, "d d"]
    w: Float[Array, " d"]
    ww: Float[Array, "d d"]
    g: Float[Array, " m"]
    wg: Float[Array, "d m"]
    gg: Float[Array, "m m"]
    unread: str = eqx.field(static=True, default="")

    @classmethod
    def of(cls, task: AbstractTask) -> "GramMoments":
        """From the moments of a task's laws, exactly; `Unknown` says which of them is missing."""
        regression = task.regression()
        if regression.d > LARGEST_D:
            raise Unknown(
                f"d is {regression.d}, and moments of other than Gaussian laws are summed up only to d = {LARGEST_D}"
            )
        return _exact(_Laws.of(regression), regression.n)

    @property
    def d(self) -> int:
        """Input dimension."""
        return self.w.shape[0]

    def risk(self, offset: Float[Arrays, " d"], tensor: Float[Arrays, "d e e"]) -> Number:
        """The mean squared error of the predictor with weights offset_l + `<tensor_l, G/n>`, its query masked.

        **Arguments:** `offset` (d,) and `tensor` (d, d+1, d+1); `Unknown` if the tensor reads y^T y, and that is
        `unread`.
        """
        t = packed(tensor)
        g, wg, gg = self.g, self.wg, self.gg
        if self.unread:
            # The last entry is that of y^T y; where nothing reads it, it is not missed.
            reads = _check.concrete(t[:, -1])
            if reads is None or np.any(reads != 0):
                raise Unknown(self.unread)
            t, g, wg, gg = t[:, :-1], g[:-1], wg[:, :-1], gg[:-1, :-1]
        # E (w - p)(w - p)^T for the weights p = o + t g
        mean = t @ g
        across = offset[:, None] * mean[None, :]
        with_task = self.w[:, None] * offset[None, :] + wg @ t.T
        with_itself = offset[:, None] * offset[None, :] + across + across.T + t @ gg @ t.T
        return (self.inputs * (self.ww - with_task - with_task.T + with_itself)).sum()


def packed(tensor: Float[Array | np.ndarray, "d e e"]) -> Float[Array | np.ndarray, "d m"]:
    """What meets the different entries of a symmetric matrix in each of a batch of matrices: t with `<T, G>` = t g.

    **Arguments:** `tensor` (d, d+1, d+1), in NumPy or JAX.

    **Returns:** t (d, m) with m = (d+1)(d+2)/2, in the order of `numpy.triu_indices`; that of y^T y is last.
    """
    rows, columns = np.triu_indices(tensor.shape[1])
    both = tensor + tensor.swapaxes(1, 2)
    return both[:, rows, columns] * np.where(rows == columns, 0.5, 1.0)[None]


def _first_steps(
    moments: GramMoments, start: Float[Arrays, " d"]
) -> tuple[Float[np.ndarray, "d d"], Float[np.ndarray, "d d"]]:
    """E (w - start) h^T and E h h^T for the negative gradient h = X^T (y - X start) / n; y^T y is not read."""
    d = moments.d
    origin = np.asarray(start)
    reads = np.eye(d, d + 1)[:, :, None] * np.append(-origin, 1.0)
    p = np.asarray(packed(reads)[:, :-1])
    g, wg, gg = (np.asarray(part) for part in (moments.g[:-1], moments.wg[:, :-1], moments.gg[:-1, :-1]))
    return (wg - np.outer(origin, g)) @ p.T, p @ gg @ p.T


def gamma_from_moments(moments: GramMoments, start: Float[Arrays, " d"]) -> Float[Array, "d d"]:
    """The best Gamma of GD-beta from `start`, under any laws: a regression of w - start on the negative gradient.

    The same as `optimal_gamma` for Gaussian laws.

    **Arguments:** `start` (d,). **Returns:** Gamma (d, d).
    """
    cross, square = _first_steps(moments, start)
    return jnp.asarray(cross @ np.linalg.pinv(square, hermitian=True))


def step_from_moments(moments: GramMoments, start: Float[Arrays, " d"]) -> Float[Array, ""]:
    """The best step size of one step of gradient descent from `start` (d,), under any laws."""
    cross, square = _first_steps(moments, start)
    metric = np.asarray(moments.inputs)
    bottom = np.sum(metric * square)
    return jnp.asarray(np.sum(metric * cross) / bottom if bottom > 0 else 0.0)


class _Laws(NamedTuple):
    """The moments of a task's laws, and which of those that y^T y takes are missing."""

    x: VectorMoments
    w: VectorMoments
    noise2: float
    noise3: float
    noise4: float
    # E sigma^4 (E eta^2)^2: what two labels of a prompt share.
    shared4: float
    unread: str

    @classmethod
    def of(cls, task: LinearRegression) -> "_Laws":
        x, w, labels = task.inputs.moments(task.d), task.prior.moments(task.d), task.labels.moments()
        if x.fourth is None:
            raise Unknown(f"the fourth moment of {type(task.inputs).__name__} is not finite or not known")
        noise2 = float(task.noise.moment(2)) * labels.second
        try:
            if w.third is None or w.fourth is None:
                raise Unknown(f"the fourth moment of {type(task.prior).__name__} is not finite or not known")
            if labels.fourth is None or labels.third is None:
                raise Unknown(f"the fourth moment of {type(task.labels).__name__} is not finite or not known")
            sigma4 = float(task.noise.moment(4))
            noise3 = float(task.noise.moment(3)) * labels.third if labels.third else 0.0
        except Unknown as missing:
            return cls(x, w, noise2, 0.0, 0.0, 0.0, str(missing))
        return cls(x, w, noise2, noise3, sigma4 * labels.fourth, sigma4 * labels.second**2, "")


def _exact(laws: _Laws, n: int) -> GramMoments:
    x, w, s2 = laws.x, laws.w, laws.noise2
    d = w.mean.shape[0]
    size = d + 1
    assert x.fourth is not None
    rows, columns = np.triu_indices(size)
    # The symmetric matrices T that pick out the entries of g: 1 in one place of the upper triangle,
    # halved off the diagonal.
    units = np.zeros((rows.size, size, size))
    units[np.arange(rows.size), rows, columns] += 0.5
    units[np.arange(rows.size), columns, rows] += 0.5
    b, v, q = units[:, :d, :d], units[:, :d, d], units[:, d, d]
    spread = x.second @ w.mean
    signal = float(np.sum(x.second * w.second))
    # What y^T y takes beyond second moments of the task.
    cubic, quartic, joint_cubic, joint_quartic = _higher(laws)
    by_tasks = x.fourth(w.second)

    # One token: E e e^T <T, e e^T>, with <T, e e^T> = x^T A x + 2 eps (v + q w)^T x + q eps^2,
    # A = B + v w^T + w v^T + q w w^T.
    across = v[:, :, None] * w.mean
    seen = x.fourth(b + across + np.swapaxes(across, 1, 2) + q[:, None, None] * w.second)
    one_xx = seen + (q * s2)[:, None, None] * x.second
    one_xy = x.fourth(b) @ w.mean + 2 * v @ by_tasks + q[:, None] * joint_cubic
    one_xy = one_xy + s2 * (2 * v @ x.second + 3 * q[:, None] * spread) + q[:, None] * laws.noise3 * x.mean
    inputs_read = np.sum(b * x.second, axis=(1, 2))
    one_yy = np.sum(b * by_tasks, axis=(1, 2)) + 2 * v @ joint_cubic + q * joint_quartic
    one_yy = one_yy + s2 * (inputs_read + 6 * v @ spread + 6 * q * signal) + q * laws.noise4
    one_yy = one_yy + laws.noise3 * (4 * q * (w.mean @ x.mean) + 2 * v @ x.mean)

    # Two tokens of one prompt: the means given w and sigma, multiplied.
    reading = inputs_read + 2 * v @ spread + q * (signal + s2)
    two_xx = reading[:, None, None] * x.second
    two_xy = inputs_read[:, None] * spread + 2 * (v @ x.second) @ w.second @ x.second
    two_xy = two_xy + q[:, None] * (cubic @ x.second + s2 * spread)
    two_yy = inputs_read * (signal + s2) + 2 * (v @ x.second) @ (cubic + s2 * w.mean)
    two_yy = two_yy + q * (quartic + 2 * s2 * signal + laws.shared4)

    share = 1 / n
    moved = np.empty((rows.size, size, size))
    moved[:, :d, :d] = share * one_xx + (1 - share) * two_xx
    moved[:, :d, d] = moved[:, d, :d] = share * one_xy + (1 - share) * two_xy
    moved[:, d, d] = share * one_yy + (1 - share) * two_yy

    first = np.empty((size, size))
    first[:d, :d], first[d, d] = x.second, signal + s2
    first[:d, d] = first[d, :d] = spread
    with_task = np.empty((d, size, size))
    with_task[:, :d, :d] = w.mean[:, None, None] * x.second
    with_task[:, :d, d] = with_task[:, d, :d] = w.second @ x.second
    with_task[:, d, d] = cubic + s2 * w.mean
    g, wg, gg = first[rows, columns], with_task[:, rows, columns], moved[:, rows, columns]
    if laws.unread:
        # The last entry is that of y^T y.
        wg[:, -1] = gg[:, -1] = gg[-1] = np.nan
    numbers = (x.second, w.mean, w.second, g, wg, gg)
    return GramMoments(*map(jnp.asarray, numbers), unread=laws.unread)


def _higher(laws: _Laws) -> tuple[Float[np.ndarray, " d"], float, Float[np.ndarray, " d"], float]:
    """E w `<w, S w>`, E `<w, S w>`^2, E Q(w w^T) w and E `<w, Q(w w^T) w>`; 0 where y^T y can't be read."""
    x, w = laws.x, laws.w
    d = w.mean.shape[0]
    if laws.unread:
        return np.zeros(d), 0.0, np.zeros(d), 0.0
    assert x.fourth is not None and w.third is not None and w.fourth is not None
    units = np.eye(d * d).reshape(d * d, d, d)
    units = (units + np.swapaxes(units, 1, 2)) / 2
    inputs = x.fourth(units)
    # The symmetric tensors E x x x x and E w w w (w), contracted:
    # sums over the pairs of coordinates that the units stand for.
    joint_cubic = np.einsum("pij,pj->i", inputs, w.third(units))
    joint_quartic = float(np.sum(inputs * w.fourth(units)))
    return w.third(x.second), float(np.sum(x.second * w.fourth(x.second))), joint_cubic, joint_quartic
