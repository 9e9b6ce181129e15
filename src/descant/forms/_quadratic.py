"""The risk of LSA as a quadratic form in its merged weights: what the search for the best heads minimises.

In whitened coordinates, in NumPy: centred ones (see `_gram`) here, where the closed forms of Gaussian laws give the
form; plain ones where it comes from other laws' moments (`theory.GramMoments`).
"""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
import scipy
from jaxtyping import Float

from ._gap import saturated_tensor
from ._gram import first_moment, query_cubic, second_moment, symmetrise_cubic, task_moment
from ._problem import Whitened

# Eigenvalues of a normal matrix below this fraction of its largest are directions the data can't see.
NORMAL_TOLERANCE = 1e-13
# With an attending query the heads' matrices are coupled; up to so many unknowns they are solved for all at once.
DENSE_UNKNOWNS = 64

# The k symmetric matrices of merged weights T, which whitened tokens of s = k + 1 entries meet.
Tensor = Float[np.ndarray, "k s s"]
# Any p symmetric matrices that such tokens meet.
Matrices = Float[np.ndarray, "p s s"]


def subspace_basis(frame: Float[np.ndarray, "s H"], rest: Float[np.ndarray, "s r"]) -> Matrices:
    """A basis of the symmetric matrices that H heads with values in span(frame) reach."""
    full = np.hstack([frame, rest])
    rows, columns = np.triu_indices(full.shape[1])
    used = rows < frame.shape[1]
    products = np.einsum("ip,jp->pij", full[:, rows[used]], full[:, columns[used]])
    return (products + products.swapaxes(1, 2)) / 2


class AbstractForm(ABC):
    """The risk `<T, N T>` - 2 `<T, target>` + constant of merged weights T (k, k+1, k+1), labels divided by `unit`."""

    query_masked: bool
    unit: float
    target: Tensor
    constant: float
    # Take tokens (x, y) to whitened ones, and weight vectors back.
    from_tokens: Float[np.ndarray, "s e"]
    back: Float[np.ndarray, "d k"]

    @abstractmethod
    def masked_normal(self, t: Matrices) -> Matrices:
        """N without the query's own token, for a batch of symmetric matrices: it acts on each of them alone."""

    @abstractmethod
    def normal(self, t: Tensor) -> Tensor:
        """N T for all k matrices of T; the query's own token couples them."""

    @abstractmethod
    def saturated(self) -> Tensor:
        """The best T of all: of as many heads as anybody likes."""

    @abstractmethod
    def offset(self, t: Tensor) -> Float[np.ndarray, " k"]:
        """What a free offset adds to the best T of its class; 0 where there is none."""

    @property
    def k(self) -> int:
        return self.target.shape[0]

    def unrestricted(self) -> Tensor:
        """The best T of all, by least squares over all symmetric matrices."""
        frame = np.eye(self.k + 1)
        return self.solve(subspace_basis(frame, frame[:, :0]))

    def value(self, t: Tensor) -> float:
        return float(np.sum(t * (self.normal(t) - 2 * self.target)) + self.constant)

    def solve(self, basis: Matrices) -> Tensor:
        """The best T whose matrices lie in the span of `basis`."""
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
    def _dense_normal(self) -> Float[np.ndarray, "k q k q"]:
        """N written out, q = (k + 1)^2."""
        shape = self.target.shape
        columns = [self.normal(unit.reshape(shape)).ravel() for unit in np.eye(self.target.size)]
        return np.array(columns).reshape(shape[0], -1, shape[0], shape[1] * shape[2])

    def _solve_dense(self, flat: Float[np.ndarray, "p q"], right: Float[np.ndarray, "k p"]) -> Float[np.ndarray, "k p"]:
        """The coupled problem written out: for few unknowns faster than iterating."""
        normal = np.tensordot(self._dense_normal @ flat.T, flat, axes=(1, 1)).transpose(0, 3, 1, 2)
        matrix = normal.reshape(right.size, right.size)
        inverse = np.linalg.pinv((matrix + matrix.T) / 2, rcond=NORMAL_TOLERANCE, hermitian=True)
        return (inverse @ right.ravel()).reshape(right.shape)

    def _solve_coupled(
        self,
        flat: Float[np.ndarray, "p q"],
        inverse: Float[np.ndarray, "p p"],
        right: Float[np.ndarray, "k p"],
        start: Float[np.ndarray, "k p"],
    ) -> Float[np.ndarray, "k p"]:
        """Conjugate gradients; the masked problem's inverse is the preconditioner, so a dozen steps do."""
        operator = scipy.sparse.linalg.LinearOperator

        def apply(c: Float[np.ndarray, " kp"]) -> Float[np.ndarray, " kp"]:
            t = (c.reshape(right.shape) @ flat).reshape(self.target.shape)
            return (self.normal(t).reshape(right.shape[0], -1) @ flat.T).ravel()

        def precondition(c: Float[np.ndarray, " kp"]) -> Float[np.ndarray, " kp"]:
            return (c.reshape(right.shape) @ inverse).ravel()

        size = (right.size, right.size)
        solution, failed = scipy.sparse.linalg.cg(
            operator(size, apply, dtype=float),
            right.ravel(),
            x0=start.ravel(),
            rtol=1e-14,
            maxiter=500,
            M=operator(size, precondition, dtype=float),
        )
        # rtol asks for the last digit; not quite reaching it is fine, stalling far from it is not.
        if failed and np.linalg.norm(apply(solution) - right.ravel()) > 1e-9 * np.linalg.norm(right):
            raise RuntimeError("conjugate gradients did not converge: the problem is too ill-conditioned.")
        return solution.reshape(right.shape)


class GaussianForm(AbstractForm):
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

    def masked_normal(self, t: Matrices) -> Matrices:
        """N without the query's own token, for a batch of symmetric matrices: it acts on each of them alone."""
        white = self.white
        out = second_moment(t, white.cov, white.n, white.noise2, white.noise4)
        if self.free_offset:
            out = out - np.sum(t * self.expected, axis=(-2, -1))[..., None, None] * self.expected
        return out

    def normal(self, t: Tensor) -> Tensor:
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

    def _cubic_adjoint(self, cubic: Float[np.ndarray, "k k k"]) -> Tensor:
        return self.token @ cubic @ self.token.T / self.white.n

    def _trace_adjoint(self, vector: Float[np.ndarray, " k"]) -> Float[np.ndarray, "k k k"]:
        return symmetrise_cubic(np.einsum("ij,l->ijl", np.eye(vector.shape[0]), vector))

    def saturated(self) -> Tensor:
        if self.query_masked and not self.free_offset:
            return saturated_tensor(self.white)
        return self.unrestricted()

    def offset(self, t: Tensor) -> Float[np.ndarray, " k"]:
        white = self.white
        if not self.free_offset:
            return np.zeros(white.k)
        offset = white.mean - np.sum(t * self.expected, axis=(1, 2))
        return offset if self.query_masked else offset - 3 * np.einsum("iil->l", query_cubic(t, white.mean, white.n))
