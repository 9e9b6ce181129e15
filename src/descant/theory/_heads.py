"""The best LSA with a given number of heads.

H heads realise merged weights T = (T_1, ..., T_d) iff every T_l is sym(V Y_l) for one common H-dimensional subspace V
of R^(d+1), the span of the v_h. For a given subspace the best T is a linear least-squares problem, solved exactly; what
is left is a smooth function on the Grassmannian, with H (d + 1 - H) unknowns, which quasi-Newton steps from several
deterministic starts and a final Newton step minimise. This is alternating least squares with the inner half done
exactly and the outer half done at second order: plain alternation crawls where d heads nearly suffice.

Everything here is in whitened coordinates, in NumPy: centred ones (see `_gram`) where the closed forms of Gaussian laws
give the quadratic form, plain ones where it comes from other laws' moments (`GramMoments`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg
from threadpoolctl import threadpool_limits

from .. import _check
from .._unknown import Unknown
from ._gap import saturated_tensor
from ._gram import first_moment, query_cubic, second_moment, symmetrise_cubic, task_moment
from ._gram_moments import GramMoments
from ._problem import Problem, Whitened, whitening

# Starts that must end in the same lowest risk before it is believed to be the minimum, and when to stop all the same.
AGREEING = 3
FEWEST_STARTS = 24
MOST_STARTS = 60
SEED = 20240222
# Eigenvalues of a normal matrix below this fraction of its largest are directions the data can't see.
NORMAL_TOLERANCE = 1e-13
GRADIENT_GOAL = 1e-10
# With an attending query the heads' matrices are coupled; up to so many unknowns they are solved for all at once.
DENSE_UNKNOWNS = 64
NEWTON_STEPS = 3


class HeadSolution(NamedTuple):
    """The best LSA of a class, in the coordinates of the tokens, and its exact risk.

    Head h has value vector `v[h]` and query map `u[h]` (its d columns that meet x_query); `offset` is the trained
    guess, or what a linear MLP adds, and 0 where the class has neither. `gradient` is the largest entry of the risk's
    gradient that was left, for labels of unit size.
    """

    risk: float
    offset: np.ndarray
    v: np.ndarray
    u: np.ndarray
    gradient: float

    @property
    def tensor(self) -> np.ndarray:
        """Merged weights (d, d+1, d+1)."""
        return np.einsum("hi,hjl->lij", self.v, self.u)


class _Quadratic(ABC):
    """The risk `<T, N T>` - 2 `<T, target>` + constant of merged weights T (k, k+1, k+1), labels divided by `unit`."""

    query_masked: bool
    unit: float
    target: Float[np.ndarray, "k s s"]
    constant: float
    # Take tokens (x, y) to whitened ones, and weight vectors back.
    from_tokens: Float[np.ndarray, "s e"]
    back: Float[np.ndarray, "d k"]

    @abstractmethod
    def masked_normal(self, t: np.ndarray) -> np.ndarray:
        """N without the query's own token, for a batch of symmetric matrices: it acts on each of them alone."""

    @abstractmethod
    def normal(self, t: np.ndarray) -> np.ndarray:
        """N T for all k matrices of T; the query's own token couples them."""

    @abstractmethod
    def saturated(self) -> np.ndarray:
        """The best T of all: of as many heads as anybody likes."""

    @abstractmethod
    def offset(self, t: np.ndarray) -> np.ndarray:
        """What a free offset adds to the best T of its class; 0 where there is none."""

    @property
    def k(self) -> int:
        return self.target.shape[0]

    def unrestricted(self) -> np.ndarray:
        """The best T of all, by least squares over all symmetric matrices."""
        frame = np.eye(self.k + 1)
        return self.solve(_subspace_basis(frame, frame[:, :0]))

    def value(self, t: np.ndarray) -> float:
        return float(np.sum(t * (self.normal(t) - 2 * self.target)) + self.constant)

    def solve(self, basis: np.ndarray) -> np.ndarray:
        """The best T whose matrices lie in the span of `basis` (p, k+1, k+1)."""
        flat = basis.reshape(basis.shape[0], -1)
        gram = flat @ self.masked_normal(basis).reshape(flat.shape).T
        inverse = np.linalg.pinv((gram + gram.T) / 2, rcond=NORMAL_TOLERANCE, hermitian=True)
        right = self.target.reshape(self.k, -1) @ flat.T
        coordinates = right @ inverse
        if not self.query_masked:
            small = right.size <= DENSE_UNKNOWNS
            coordinates = (
                self._solve_dense(flat, right) if small else self._solve_coupled(flat, inverse, right, coordinates)
            )
        return (coordinates @ flat).reshape(self.target.shape)

    @cached_property
    def _dense_normal(self) -> np.ndarray:
        """N written out, (k, (k+1)^2, k, (k+1)^2)."""
        shape = self.target.shape
        columns = [self.normal(unit.reshape(shape)).ravel() for unit in np.eye(self.target.size)]
        return np.array(columns).reshape(shape[0], -1, shape[0], shape[1] * shape[2])

    def _solve_dense(self, flat: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The coupled problem written out: for few unknowns faster than iterating."""
        normal = np.tensordot(self._dense_normal @ flat.T, flat, axes=(1, 1)).transpose(0, 3, 1, 2)
        matrix = normal.reshape(right.size, right.size)
        inverse = np.linalg.pinv((matrix + matrix.T) / 2, rcond=NORMAL_TOLERANCE, hermitian=True)
        return (inverse @ right.ravel()).reshape(right.shape)

    def _solve_coupled(self, flat, inverse, right, start) -> np.ndarray:
        """Conjugate gradients; the masked problem's inverse is the preconditioner, so a dozen steps do."""

        def apply(c: np.ndarray) -> np.ndarray:
            t = (c.reshape(right.shape) @ flat).reshape(self.target.shape)
            return (self.normal(t).reshape(right.shape[0], -1) @ flat.T).ravel()

        def precondition(c: np.ndarray) -> np.ndarray:
            return (c.reshape(right.shape) @ inverse).ravel()

        size = (right.size, right.size)
        solution, failed = cg(
            LinearOperator(size, apply, dtype=float),  # pyright: ignore[reportCallIssue]
            right.ravel(),
            x0=start.ravel(),
            rtol=1e-14,
            maxiter=500,
            M=LinearOperator(size, precondition, dtype=float),  # pyright: ignore[reportCallIssue]
        )
        # rtol asks for the last digit; not quite reaching it is fine, stalling far from it is not.
        if failed and np.linalg.norm(apply(solution) - right.ravel()) > 1e-9 * np.linalg.norm(right):
            raise RuntimeError("conjugate gradients did not converge: the problem is too ill-conditioned.")
        return solution.reshape(right.shape)


class _FromMoments(_Quadratic):
    """The form of any laws, from their moments, the query masked."""

    def __init__(self, moments: GramMoments, free_offset: bool):
        self.query_masked, self.free_offset = True, free_offset
        forth, self.back = whitening(np.asarray(moments.inputs))
        d, k = self.back.shape
        self.unit = float(np.sqrt(moments.g[-1])) or 1.0
        self.from_tokens = np.zeros((k + 1, d + 1))
        self.from_tokens[:k, :d], self.from_tokens[k, d] = forth, 1 / self.unit
        # All symmetric matrices by their entries: those of whitened G/n from those of G/n.
        rows, columns = np.triu_indices(d + 1)
        self._places = np.triu_indices(k + 1)
        pairs = np.einsum("ip,jp->ijp", self.from_tokens[:, rows], self.from_tokens[:, columns])
        pairs = pairs + np.where(rows == columns, 0.0, np.swapaxes(pairs, 0, 1))
        change = pairs[self._places]
        to_white = np.linalg.pinv(self.back) / self.unit
        self._mean_g, self._mean_w = change @ np.asarray(moments.g), to_white @ np.asarray(moments.w)
        gg = change @ np.asarray(moments.gg) @ change.T
        wg = to_white @ np.asarray(moments.wg) @ change.T
        ww = to_white @ np.asarray(moments.ww) @ to_white.T
        if free_offset:
            gg = gg - np.outer(self._mean_g, self._mean_g)
            wg = wg - np.outer(self._mean_w, self._mean_g)
            ww = ww - np.outer(self._mean_w, self._mean_w)
        self._gg, self.target, self.constant = gg, self._spread(wg), float(np.trace(ww))

    def _spread(self, entries: np.ndarray) -> np.ndarray:
        """The symmetric matrices with these entries."""
        size = self.from_tokens.shape[0]
        full = np.zeros((*entries.shape[:-1], size, size))
        full[..., self._places[0], self._places[1]] = entries
        full[..., self._places[1], self._places[0]] = entries
        return full

    def _packed(self, t: np.ndarray) -> np.ndarray:
        rows, columns = self._places
        return (t + np.swapaxes(t, -1, -2))[..., rows, columns] * np.where(rows == columns, 0.5, 1.0)

    def masked_normal(self, t: np.ndarray) -> np.ndarray:
        return self._spread(self._packed(t) @ self._gg)

    def normal(self, t: np.ndarray) -> np.ndarray:
        return self.masked_normal(t)

    def saturated(self) -> np.ndarray:
        return self.unrestricted()

    def offset(self, t: np.ndarray) -> np.ndarray:
        return self._mean_w - self._packed(t) @ self._mean_g if self.free_offset else np.zeros(self.k)


class _Gaussian(_Quadratic):
    """The form of Gaussian laws in closed form, for a masked and for an attending query."""

    def __init__(self, white: Whitened, query_masked: bool, free_offset: bool):
        # Labels of unit size: tolerances then mean the same for every problem.
        self.unit = white.label_size() or 1.0
        white = white.in_units(self.unit)
        self.from_tokens, self.back = white.from_tokens, white.back
        self.from_tokens[-1, -1] = 1 / self.unit
        self.white, self.query_masked, self.free_offset = white, query_masked, free_offset
        self.expected = first_moment(white.cov, np.float64(white.noise2))
        self.token = np.vstack([np.eye(white.k), -white.mean])
        # What the weights must supply on average: the prior mean, unless a free offset supplies it.
        self.missing = np.zeros(white.k) if free_offset else white.mean
        self.target = task_moment(white.cov) + self.missing[:, None, None] * self.expected
        if not query_masked and not free_offset:
            self.target = self.target + 3 * self._cubic_adjoint(self._trace_adjoint(white.mean))
        self.constant = np.trace(white.cov) + self.missing @ self.missing

    def masked_normal(self, t: np.ndarray) -> np.ndarray:
        """N without the query's own token, for a batch of symmetric matrices: it acts on each of them alone."""
        white = self.white
        out = second_moment(t, white.cov, white.n, white.noise2, white.noise4)
        if self.free_offset:
            out = out - np.sum(t * self.expected, axis=(-2, -1))[..., None, None] * self.expected
        return out

    def normal(self, t: np.ndarray) -> np.ndarray:
        """N T for all k matrices of T; the query's own token couples them."""
        out = self.masked_normal(t)
        if self.query_masked:
            return out
        cubic = query_cubic(t, self.white.mean, self.white.n)
        out = out + 6 * self._cubic_adjoint(cubic)
        # A free offset also cancels the query's own mean contribution, and only |K|^2 stays.
        if self.free_offset:
            return out
        traces = np.einsum("iil->l", cubic)
        bias = np.sum(t * self.expected, axis=(1, 2))
        out = out + 3 * traces[:, None, None] * self.expected
        return out + self._cubic_adjoint(self._trace_adjoint(3 * bias + 9 * traces))

    def _cubic_adjoint(self, cubic: np.ndarray) -> np.ndarray:
        return self.token @ cubic @ self.token.T / self.white.n

    def _trace_adjoint(self, vector: np.ndarray) -> np.ndarray:
        return symmetrise_cubic(np.einsum("ij,l->ijl", np.eye(vector.shape[0]), vector))

    def saturated(self) -> np.ndarray:
        if self.query_masked and not self.free_offset:
            return saturated_tensor(self.white)
        return self.unrestricted()

    def offset(self, t: np.ndarray) -> np.ndarray:
        white = self.white
        if not self.free_offset:
            return np.zeros(white.k)
        offset = white.mean - np.sum(t * self.expected, axis=(1, 2))
        return offset if self.query_masked else offset - 3 * np.einsum("iil->l", query_cubic(t, white.mean, white.n))


def _subspace_basis(frame: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """A basis of the symmetric matrices that H heads with values in span(frame) reach: (p, k+1, k+1)."""
    full = np.hstack([frame, rest])
    rows, columns = np.triu_indices(full.shape[1])
    used = rows < frame.shape[1]
    products = np.einsum("ip,jp->pij", full[:, rows[used]], full[:, columns[used]])
    return (products + products.swapaxes(1, 2)) / 2


def _query_maps(t: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """U_h with T_l = sym(sum_h v_h u_hl^T) for the orthonormal values v_h in `frame`: (H, k+1, k)."""
    inner = frame.T @ t
    # T = F F^T T + T F F^T - F F^T T F F^T for such T: the product of two frame directions must not count twice.
    halves = 2 * inner - (inner @ frame) @ frame.T
    return halves.transpose(1, 2, 0)


class _Descent:
    """The risk as a function of the subspace, in the chart span(frame + rest Z) around a frame."""

    def __init__(self, quadratic: _Quadratic, frame: np.ndarray):
        self.quadratic = quadratic
        full = np.linalg.qr(frame, mode="complete").Q
        heads = frame.shape[1]
        self.frame, self.rest = full[:, :heads], full[:, heads:]

    def at(self, z: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Value, gradient in Z, orthonormal frame, and the best T."""
        raw = self.frame + self.rest @ z.reshape(self.rest.shape[1], -1)
        full, triangle = np.linalg.qr(raw, mode="complete")
        heads = raw.shape[1]
        frame, rest = full[:, :heads], full[:, heads:]
        t = self.quadratic.solve(_subspace_basis(frame, rest))
        residual = self.quadratic.normal(t) - self.quadratic.target
        # The best T is stationary given the frame, so the frame's gradient is the partial one.
        by_frame = 2 * np.einsum("lij,hjl->ih", residual, _query_maps(t, frame))
        by_raw = np.linalg.solve(triangle[:heads], by_frame.T).T
        return self.quadratic.value(t), (self.rest.T @ by_raw).ravel(), frame, t

    def here(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """The same at the frame itself."""
        return self.at(np.zeros(self.rest.shape[1] * self.frame.shape[1]))

    def minimise(self) -> tuple[float, np.ndarray]:
        """Quasi-Newton from the frame; the value and the frame it ends in."""
        start = np.zeros(self.rest.shape[1] * self.frame.shape[1])
        found = minimize(
            lambda z: self.at(z)[:2], start, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 300}
        )
        return float(found.fun), self.at(found.x)[2]

    def newton(self) -> np.ndarray:
        """One Newton step from the frame, its Hessian by central differences of the exact gradient."""
        size = self.rest.shape[1] * self.frame.shape[1]
        step = 1e-5
        columns = [(self.at(step * e)[1] - self.at(-step * e)[1]) / (2 * step) for e in np.eye(size)]
        hessian = np.array(columns)
        gradient = self.here()[1]
        # Minima come in orbits of the problem's symmetry: along them the Hessian vanishes and the step must too.
        return self.at(-np.linalg.pinv((hessian + hessian.T) / 2, rcond=1e-7, hermitian=True) @ gradient)[2]


def _starts(t: np.ndarray, heads: int) -> Iterator[np.ndarray]:
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


def _lowest(quadratic: _Quadratic, heads: int) -> np.ndarray:
    """The best frame of as many descents as it takes for the lowest risk to come up AGREEING times."""
    ends: list[tuple[float, np.ndarray]] = []
    for start in _starts(quadratic.saturated(), heads):
        ends.append(_Descent(quadratic, start).minimise())
        lowest = min(value for value, _ in ends)
        agreeing = sum(value <= lowest + 1e-7 * abs(lowest) for value, _ in ends)
        if len(ends) >= FEWEST_STARTS and agreeing >= AGREEING:
            break
    return min(ends, key=lambda end: end[0])[1]


def best_heads(
    problem: Problem | GramMoments, heads: int, *, query_masked: bool = True, free_offset: bool = False
) -> HeadSolution:
    """The LSA with `heads` heads of least risk, over all weights; deterministic.

    With `free_offset`, a trainable linear guess (or a linear MLP) is part of the class. `query_masked=False` puts the
    query token (x_query, 0) among the keys and values; that takes a `Problem`, with Gaussian laws.

    >>> import jax.numpy as jnp
    >>> problem = Problem(jnp.ones(5), jnp.eye(5), jnp.eye(5), 5, sigma=0.0)
    >>> round(best_heads(problem, 1).risk, 4)
    4.5566
    """
    _check.size("heads", heads)
    # On matrices this small a second thread of BLAS only waits: for itself, or for the other process on the core.
    with threadpool_limits(1, user_api="blas"):
        if isinstance(problem, Problem):
            return _best_heads(_Gaussian(Whitened.of(problem), query_masked, free_offset), heads)
        if not query_masked:
            raise Unknown(
                "a query that attends takes sixth moments of the inputs, which are known for Gaussian ones only"
            )
        if problem.unread:
            raise Unknown(problem.unread)
        return _best_heads(_FromMoments(problem, free_offset), heads)


def _best_heads(quadratic: _Quadratic, heads: int) -> HeadSolution:
    size = quadratic.k + 1
    if heads >= size:
        return _solution(quadratic, quadratic.saturated(), np.eye(size), heads, 0.0)
    descent = _Descent(quadratic, _lowest(quadratic, heads))
    for _ in range(NEWTON_STEPS):
        if np.abs(descent.here()[1]).max() < GRADIENT_GOAL:
            break
        descent = _Descent(quadratic, descent.newton())
    _, gradient, frame, t = descent.here()
    return _solution(quadratic, t, frame, heads, float(np.abs(gradient).max()))


def _solution(quadratic: _Quadratic, t: np.ndarray, frame: np.ndarray, heads: int, gradient: float) -> HeadSolution:
    """Back to the coordinates of the tokens, and to labels as they are."""
    unit, from_tokens = quadratic.unit, quadratic.from_tokens
    v = frame.T @ from_tokens
    u = unit * np.einsum("ij,hjl,dl->hid", from_tokens.T, _query_maps(t, frame), quadratic.back)
    spare = ((0, heads - v.shape[0]), (0, 0))
    offset = unit * quadratic.back @ quadratic.offset(t)
    return HeadSolution(unit**2 * quadratic.value(t), offset, np.pad(v, spare), np.pad(u, (*spare, (0, 0))), gradient)
