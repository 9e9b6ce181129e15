"""Gradient descent on the context's squared loss, (1 / 2n) sum_i (`<w, x_i>` - y_i)^2."""

from collections.abc import Callable
from operator import matmul
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import _check
from .._arrays import Arrays, namespace, settled
from .._predictor import AbstractLinearPredictor, Merged
from .._unknown import Unknown
from ..tasks import Moments


def negative_gradient(moments: Moments, w: Float[Array, " d"]) -> Float[Array, " d"]:
    """-grad of (1 / 2n) |Xw - y|^2."""
    return (moments.xy - moments.xx @ w) / moments.n


class GD(AbstractLinearPredictor):
    """k steps of gradient descent from `start`: w <- w - step grad, one step size per step.

    Equals one-step GD(0) of the initial-guess paper for k = 1 and start = 0, and GD(w0) for start = w0.

    **Arguments:** `start` (d,) is w0, `steps` (k,) are the step sizes, for the gradient of |Xw - y|^2 / 2n.

    >>> from descant import Prompt
    >>> prompt = Prompt(x=jnp.eye(2), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2))
    >>> float(GD(start=jnp.zeros(2), steps=[1.0])(prompt))
    1.5
    """

    start: Float[Array, " d"]
    steps: Float[Array, " k"]

    def __init__(self, start, steps):
        """`steps` are the k step sizes."""
        self.start = jnp.asarray(start, dtype=float)
        self.steps = jnp.asarray(steps, dtype=float)

    def __check_init__(self):
        if self.start.ndim != 1 or self.steps.ndim != 1:
            raise ValueError(
                f"start and steps have shapes {self.start.shape} and {self.steps.shape}; "
                "expected a vector of d numbers and a list of k step sizes."
            )
        _check.finite("start", self.start)
        _check.finite("steps", self.steps)

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The iterate after the last step."""
        _check.inputs(self.start.shape[0], moments.d)

        def step(w, size):
            return w + size * negative_gradient(moments, w), None

        return jax.lax.scan(step, self.start, self.steps)[0]

    def gram_affine(self, d: int, n: int) -> Merged:
        """A single step."""
        del n
        _check.inputs(self.start.shape[0], d)
        if self.steps.shape != (1,):
            raise Unknown(f"{self.steps.shape[0]} steps of gradient descent are not affine in the Gram matrix")
        return _merged_step(settled(self.start), settled(self.steps)[0] * np.eye(d))


class PreconditionedGD(AbstractLinearPredictor):
    """One step from zero with a matrix for a step size: w = Gamma X^T y / n. Called GD-0 in the LTB paper.

    **Arguments:** `gamma` (d, d).
    """

    gamma: Float[Array, "d d"]

    def __init__(self, gamma):
        self.gamma = jnp.asarray(gamma, dtype=float)

    def __check_init__(self):
        _check_square("gamma", self.gamma)

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """Gamma X^T y / n."""
        _check.inputs(self.gamma.shape[0], moments.d)
        return self.gamma @ moments.xy / moments.n

    def gram_affine(self, d: int, n: int) -> Merged:
        """A step from zero."""
        del n
        _check.inputs(self.gamma.shape[0], d)
        return _merged_step(np.zeros(d), settled(self.gamma))


class GDBeta(AbstractLinearPredictor):
    """One preconditioned step from a learnt start: w = beta - Gamma X^T (X beta - y) / n.

    GD-beta of Zhang, Wu and Bartlett (2024), equation of their section 5; also one-step GD from w0 = beta of the
    initial-guess paper. It is the best predictor that is affine in the context's Gram matrix.

    **Arguments:** `beta` (d,) and `gamma` (d, d); `descant.best("gd-beta", task)` has those of least risk.

    >>> from descant import Prompt
    >>> prompt = Prompt(x=jnp.eye(2), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2))
    >>> float(GDBeta(beta=jnp.ones(2), gamma=jnp.eye(2))(prompt))
    2.5
    """

    beta: Float[Array, " d"]
    gamma: Float[Array, "d d"]

    def __init__(self, beta, gamma):
        self.beta = jnp.asarray(beta, dtype=float)
        self.gamma = jnp.asarray(gamma, dtype=float)

    def __check_init__(self):
        _check_square("gamma", self.gamma)
        _check.shape("beta", self.beta, self.gamma.shape[:1], f"gamma has shape {self.gamma.shape}")
        _check.finite("beta", self.beta)

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """beta plus the preconditioned step."""
        _check.inputs(self.beta.shape[0], moments.d)
        return self.beta + self.gamma @ negative_gradient(moments, self.beta)

    def gram_affine(self, d: int, n: int) -> Merged:
        """A step from beta."""
        del n
        _check.inputs(self.beta.shape[0], d)
        return _merged_step(settled(self.beta), settled(self.gamma))


def gd_plus_plus_layer(
    w: Float[Arrays, "*m d"],
    m: Float[Arrays, "*M d"],
    step,
    contraction,
    xx: Float[Arrays, "*M d"],
    xy: Float[Arrays, "*m d"] | float,
    times: Callable[..., Any],
) -> tuple[Float[Arrays, "*m d"], Float[Arrays, "*M d"]]:
    """One layer of GD++: w <- w + step M^2 (X^T y - X^T X w), M <- M - contraction M X^T X M^2.

    M is a polynomial in X^T X, so the X_l^T X_l of the layer's own inputs M x_i is M X^T X M. `times` is the product of
    matrices, or that of numbers where all is written in the eigenbasis of X^T X.

    **Arguments:** `w` (d,) and `m` (d, d) are the weight vector and M before the layer, `xx` (d, d) and `xy` (d,) the
    moments of the original tokens; with `times=operator.mul` all of them are (d,), and M begins as ones.

    **Returns:** w and M after the layer.
    """
    return (
        w + step * times(m, times(m, xy - times(xx, w))),
        m - contraction * times(times(times(m, xx), m), m),
    )


class GDPlusPlus(AbstractLinearPredictor):
    """GD++ with k layers: every layer takes a gradient step and preconditions the inputs for the next.

    With X^T X and X^T y of the original tokens and M = I, w = 0 at the start, layer l does

        w <- w + step_l M (X^T y - X^T X w), x_i <- (I - contraction_l X_l^T X_l) x_i, where x_i of layer l is M x_i.

    This is the GD++ linear transformer of von Oswald et al. with w_xx = -contraction_l and w_yx = -step_l: sums over
    the context, not means. It is w = f(X^T X) X^T y with a polynomial f, hence linear in the labels.

    **Arguments:** `steps` (k,) and `contractions` (k,), one of each per layer. `preconditioned` makes those of a
    theorem.

    >>> from descant import Prompt
    >>> prompt = Prompt(x=jnp.diag(jnp.array([1.0, 2.0])), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2))
    >>> round(float(GDPlusPlus.preconditioned(4, smallest=1.0, largest=4.0)(prompt)), 4)
    2.0
    """

    steps: Float[Array, " k"]
    contractions: Float[Array, " k"]

    def __init__(self, steps, contractions):
        self.steps = jnp.asarray(steps, dtype=float)
        self.contractions = jnp.asarray(contractions, dtype=float)

    def __check_init__(self):
        if self.steps.ndim != 1:
            raise ValueError(f"steps has shape {self.steps.shape}; expected a list of k numbers.")
        _check.shape("contractions", self.contractions, self.steps.shape, "each layer has one of each")
        _check.finite("steps", self.steps)
        _check.finite("contractions", self.contractions)

    @classmethod
    def preconditioned(cls, layers: int, smallest: float, largest: float) -> "GDPlusPlus":
        """The network of Theorem 5.1 for eigenvalues of X^T X in [smallest, largest]: precondition, then one step.

        Every layer but the last maps an eigenvalue e to e (1 - e / (3 top))^2, where top is the largest eigenvalue that
        layer can meet; the map rises up to top, so the next top is (4/9) of it. The last layer takes the best single
        step for the range that is left.

        **Arguments:** `layers` is k, the step included; 0 < smallest <= largest.
        """
        _check.size("layers", layers)
        if not 0 < smallest <= largest:
            raise ValueError(f"smallest is {smallest}, largest is {largest}; expected 0 < smallest <= largest.")
        contractions = []
        for _ in range(layers - 1):
            contraction = 1 / (3 * largest)
            contractions.append(contraction)
            smallest, largest = smallest * (1 - contraction * smallest) ** 2, 4 / 9 * largest
        return cls([0.0] * (layers - 1) + [2 / (smallest + largest)], [*contractions, 0.0])

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The weight vector after the last layer."""

        def layer(carry, sizes):
            return gd_plus_plus_layer(*carry, *sizes, xx=moments.xx, xy=moments.xy, times=matmul), None

        start = (jnp.zeros_like(moments.xy), jnp.eye(moments.d, dtype=moments.gram.dtype))
        return jax.lax.scan(layer, start, (self.steps, self.contractions))[0][0]


def _merged_step(start: Float[Arrays, " d"], gamma: Float[Arrays, "d d"]) -> Merged:
    """start + Gamma (X^T y - X^T X start) / n: the label's row of G, and its inputs' block seen from the start."""
    xp = namespace(start, gamma)
    reads = xp.append(-start, xp.ones(1))
    tensor = xp.pad(gamma, ((0, 0), (0, 1)))[:, :, None] * reads[None, None, :]
    return Merged(start, tensor)


def _check_square(name: str, matrix: Float[Array, "..."]) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} has shape {matrix.shape}; expected a square matrix.")
    _check.finite(name, matrix)
