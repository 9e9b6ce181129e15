"""The best LSA with a given number of heads.

H heads realise merged weights T = (T_1, ..., T_d) iff every T_l is sym(V Y_l) for one common H-dimensional subspace V
of R^(d+1), the span of the v_h. For a given subspace the best T is a linear least-squares problem, solved exactly; what
is left is a smooth function on the Grassmannian, with H (d + 1 - H) unknowns, which quasi-Newton steps from several
deterministic starts and a final Newton step minimise. This is alternating least squares with the inner half done
exactly and the outer half done at second order: plain alternation crawls where d heads nearly suffice.

The quadratic form of the inner problem is in `_quadratic`, in whitened coordinates. On isotropic problems
the best values are known up to one number, and there is no search: see `_isotropic`.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are used: all together they take longer than a closed form
from jaxtyping import Float
from threadpoolctl import ThreadpoolController

from .. import _check, _memory
from .._watching import TRIED, watching
from ._isotropic import best_values
from ._problem import AbstractProblem, Whitened
from ._quadratic import AbstractForm, GaussianForm, Tensor, subspace_basis

# Starts that must end in the same lowest risk before it is believed to be the minimum, and when to stop all the same.
AGREEING = 3
FEWEST_STARTS = 24
MOST_STARTS = 60
SEED = 20240222
GRADIENT_GOAL = 1e-10
NEWTON_STEPS = 3

# The values v_h of whitened tokens as columns; only their span counts.
Frame = Float[np.ndarray, "s H"]


class HeadSolution(NamedTuple):
    """The best LSA of a class, in the coordinates of the tokens, and its exact risk.

    Head h has value vector `v[h]` and query map `u[h]` (its d columns that meet x_query); `offset` is the trained
    guess, or what a linear MLP adds, and 0 where the class has neither. `gradient` is the largest entry of the risk's
    gradient that was left, for labels of unit size.
    """

    risk: float
    offset: Float[np.ndarray, " d"]
    v: Float[np.ndarray, "H e"]
    u: Float[np.ndarray, "H e d"]
    gradient: float

    @property
    def tensor(self) -> Float[np.ndarray, "d e e"]:
        """Merged weights (d, d+1, d+1)."""
        return np.einsum("hi,hjl->lij", self.v, self.u)


def _query_maps(t: Tensor, frame: Frame) -> Float[np.ndarray, "H s k"]:
    """U_h with T_l = sym(sum_h v_h u_hl^T) for the orthonormal values v_h in `frame`."""
    inner = frame.T @ t
    # T = F F^T T + T F F^T - F F^T T F F^T for such T: the product of two frame directions must not count twice.
    halves = 2 * inner - (inner @ frame) @ frame.T
    return halves.transpose(1, 2, 0)


class _Descent:
    """The risk as a function of the subspace, in the chart span(frame + rest Z) around a frame."""

    def __init__(self, form: AbstractForm, frame: Frame):
        self.form = form
        full = np.linalg.qr(frame, mode="complete").Q
        heads = frame.shape[1]
        self.frame, self.rest = full[:, :heads], full[:, heads:]

    def at(self, z: Float[np.ndarray, " z"]) -> tuple[float, Float[np.ndarray, " z"], Frame, Tensor]:
        """Value, gradient in Z, orthonormal frame, and the best T."""
        raw = self.frame + self.rest @ z.reshape(self.rest.shape[1], -1)
        full, triangle = np.linalg.qr(raw, mode="complete")
        heads = raw.shape[1]
        frame, rest = full[:, :heads], full[:, heads:]
        t = self.form.solve(subspace_basis(frame, rest))
        residual = self.form.normal(t) - self.form.target
        # The best T is stationary given the frame, so the frame's gradient is the partial one.
        by_frame = 2 * np.einsum("lij,hjl->ih", residual, _query_maps(t, frame))
        by_raw = np.linalg.solve(triangle[:heads], by_frame.T).T
        return self.form.value(t), (self.rest.T @ by_raw).ravel(), frame, t

    def here(self) -> tuple[float, Float[np.ndarray, " z"], Frame, Tensor]:
        """The same at the frame itself."""
        return self.at(np.zeros(self.rest.shape[1] * self.frame.shape[1]))

    def minimise(self) -> tuple[float, Frame]:
        """Quasi-Newton from the frame; the value and the frame it ends in."""
        start = np.zeros(self.rest.shape[1] * self.frame.shape[1])
        found = scipy.optimize.minimize(
            lambda z: self.at(z)[:2], start, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 300}
        )
        return float(found.fun), self.at(found.x)[2]

    def newton(self) -> Frame:
        """One Newton step from the frame, its Hessian by central differences of the exact gradient."""
        size = self.rest.shape[1] * self.frame.shape[1]
        step = 1e-5
        columns = [(self.at(step * e)[1] - self.at(-step * e)[1]) / (2 * step) for e in np.eye(size)]
        hessian = np.array(columns)
        gradient = self.here()[1]
        # Minima come in orbits of the problem's symmetry: along them the Hessian vanishes and the step must too.
        return self.at(-np.linalg.pinv((hessian + hessian.T) / 2, rcond=1e-7, hermitian=True) @ gradient)[2]


def _starts(t: Tensor, heads: int) -> Iterator[Frame]:
    """Frames to start from: the leading directions of `t`, the optimum of many heads, then random ones."""
    size = t.shape[1]
    leading = np.linalg.svd(t.transpose(1, 0, 2).reshape(size, -1))[0][:, :heads]
    random = np.random.default_rng(SEED)
    yield leading + 1e-3 * random.standard_normal(leading.shape)
    for _ in range(MOST_STARTS - 1):
        # How much the values read of labels against inputs sets the basin, so it varies over starts.
        frame = random.standard_normal((size, heads))
        frame[-1] *= np.exp(random.uniform(-3.0, 3.0))
        yield frame


def _lowest(form: AbstractForm, heads: int) -> Frame:
    """The best frame of as many descents as it takes for the lowest risk to come up AGREEING times."""
    ends: list[tuple[float, Frame]] = []
    told = watching.get()
    for start in _starts(form.saturated(), heads):
        ends.append(_Descent(form, start).minimise())
        # Most searches end with the fewest starts.
        told(min(len(ends) / FEWEST_STARTS, 0.99), TRIED)
        lowest = min(value for value, _ in ends)
        agreeing = sum(value <= lowest + 1e-7 * abs(lowest) for value, _ in ends)
        if len(ends) >= FEWEST_STARTS and agreeing >= AGREEING:
            break
    told(1.0, TRIED)
    return min(ends, key=lambda end: end[0])[1]


def best_gaussian_heads(
    problem: AbstractProblem, heads: int, *, query_masked: bool = True, free_offset: bool = False
) -> HeadSolution:
    """The LSA with `heads` heads of least risk under Gaussian laws, see `theory.best_heads`."""
    white = Whitened.of(problem)
    searched = free_offset or not query_masked or heads > white.k
    start = None if searched else best_values(white, heads)
    return best_of_form(GaussianForm(white, query_masked, free_offset), heads, start)


def best_of_form(form: AbstractForm, heads: int, start: np.ndarray | None = None) -> HeadSolution:
    """The `heads` heads at which a quadratic form is least; `start` is their frame where it is known already."""
    _check.size("heads", heads)
    size = form.k + 1
    d = form.back.shape[0]
    _memory.need(f"the search for the best heads in d = {d} dimensions", 6 * (form.k * size) ** 2, "d")
    # On matrices this small a second thread of BLAS only waits: for itself, or for the other process on the core.
    with _blas().limit(limits=1, user_api="blas"):
        if heads >= size:
            return _solution(form, form.saturated(), np.eye(size), heads, 0.0)
        descent = _Descent(form, _lowest(form, heads) if start is None else start)
        _, gradient, frame, t = descent.here()
        for _ in range(NEWTON_STEPS):
            if np.abs(gradient).max() < GRADIENT_GOAL:
                break
            descent = _Descent(form, descent.newton())
            _, gradient, frame, t = descent.here()
        return _solution(form, t, frame, heads, float(np.abs(gradient).max()))


@cache
def _blas() -> ThreadpoolController:
    """NumPy's BLAS; looking for it takes as long as a closed form."""
    return ThreadpoolController()


def _solution(form: AbstractForm, t: Tensor, frame: Frame, heads: int, gradient: float) -> HeadSolution:
    """Back to the coordinates of the tokens, and to labels as they are."""
    unit, from_tokens = form.unit, form.from_tokens
    v = frame.T @ from_tokens
    u = unit * np.einsum("ij,hjl,dl->hid", from_tokens.T, _query_maps(t, frame), form.back)
    spare = ((0, heads - v.shape[0]), (0, 0))
    offset = unit * form.back @ form.offset(t)
    return HeadSolution(unit**2 * form.value(t), offset, np.pad(v, spare), np.pad(u, (*spare, (0, 0))), gradient)
