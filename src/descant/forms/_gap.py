"""Multi-head LSA with enough heads: its gap to one-step gradient descent, and when enough is d rather than d + 1.

With k heads or more than the inputs have directions, LSA computes any linear function of the Gram matrix. The best
affine one is GD-beta; LSA lacks only its constant, the prior mean mu. So it puts mu p(G) for mu, where p is the
projection of the constant 1 on the span of G's entries, and loses |mu|^2 times the squared distance of 1 from that
span.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .._arrays import Arrays, Number
from ._gd_beta import gd_beta_minimum, whitened_gamma
from ._gram import fourth_moment
from ._problem import AbstractProblem, Whitened


class ConstantImitation(NamedTuple):
    """p(G) = `<inputs_part, X^T X / n>` + label_part |y - X mu|^2 / n, the best imitation of 1, and its distance."""

    inputs_part: Float[np.ndarray, "k k"]
    label_part: float
    distance: float


def imitate_constant(white: Whitened) -> ConstantImitation:
    """Project the constant 1 on the entries of the Gram matrix (whitened inputs, labels y - `<mu, x>`).

    tr(X^T X / n) alone leaves the squared distance 2 / (k n + 2). With noise, the labels' squares help a little: less
    their regression on X^T X they have the mean E sigma^2 and the variance V.
    """
    k, n, noise2 = white.k, white.n, white.noise2
    if k == 0:
        return ConstantImitation(np.zeros((0, 0)), 0.0, 1.0)
    variance = label_square_variance(white)
    alone = 2 / (k * n + 2)
    label_part = noise2 * alone / (noise2**2 * alone + variance) if noise2 > 0 else 0.0
    inputs_part = (1 - label_part * noise2) / (k + 2 / n) * np.eye(k) - label_part * white.cov
    distance = 1 / (1 + k * n / 2 + (noise2**2 / variance if noise2 > 0 else 0.0))
    return ConstantImitation(inputs_part, label_part, distance)


def label_square_variance(white: Whitened) -> float:
    """V = E Var(|y - X mu|^2 / n given X) = (2/n) E (|u|^2 + sigma^2)^2 + 2 (1 - 1/n) tr Psi^2 + Var sigma^2.

    For a fixed noise level this is the notes' 2 kappa^2 / n + 2 (1 + 1/n) tr Psi^2.
    """
    squares = float((white.cov**2).sum())
    fourth = float(fourth_moment(white.cov, white.noise2, white.noise4))
    return 2 / white.n * fourth + 2 * (1 - 1 / white.n) * squares + white.noise4 - white.noise2**2


def saturated_tensor(white: Whitened) -> Float[np.ndarray, "k s s"]:
    """Merged weights of the best query-masked LSA with any number of heads, centred and whitened."""
    imitation = imitate_constant(white)
    tensor = np.zeros((white.k, white.k + 1, white.k + 1))
    tensor[:, :-1, :-1] = white.mean[:, None, None] * imitation.inputs_part
    tensor[:, -1, -1] = white.mean * imitation.label_part
    tensor[:, :-1, -1] = tensor[:, -1, :-1] = whitened_gamma(white.cov, white.n, white.noise2) / 2
    return tensor


def saturated_gap(problem: AbstractProblem, start: Float[Arrays, " d"] | None = None) -> Number:
    """Risk of the best LSA with d + 1 or more heads, less that of the best GD-beta; 0 only if the guess is right.

    The gap is |mu - w0|^2 in the Lambda norm times 1 / (1 + k n / 2 + (E sigma^2)^2 / V), where k is the rank of
    Lambda; 2 |mu|^2 / (d n + 2) without noise.

    **Arguments:** `start` (d,) is w0 of a fixed initial guess `<w0, x_query>` (0 if left out).

    >>> from descant.theory import Problem
    >>> float(saturated_gap(Problem(np.ones(2), np.eye(2), np.eye(2), 7, sigma=0.0)))
    0.25
    """
    shift = problem.mean if start is None else problem.mean - start
    return problem.size(shift) * imitate_constant(Whitened.of(problem)).distance


def saturated_risk(problem: AbstractProblem) -> Number:
    """Risk of the best LSA with d + 1 or more heads, query masked and guess 0: `gd_beta_minimum` plus `saturated_gap`.

    >>> from descant.theory import Problem
    >>> round(float(saturated_risk(Problem(np.ones(2), np.eye(2), np.eye(2), 7, sigma=0.0))), 4)
    0.85
    """
    return gd_beta_minimum(problem) + saturated_gap(problem)


def heads_needed(problem: AbstractProblem) -> int:
    """How many heads surely reach `saturated_risk`: 1 without a prior mean, else d or d + 1; with d + 1, d don't.

    d heads can realise the optimum iff its d symmetric matrices vanish on one common line. In centred, whitened
    coordinates with p's parts (B, q) that asks for a root s of b s^2 - s + q = 0, b = mu^T Gamma^-1 B Gamma^-1 mu, that
    is 4 b q <= 1 (or B indefinite, or mu = 0). Without noise q = 0, and d heads always do.
    d is the rank of Lambda here.

    >>> from descant.theory import Problem
    >>> heads_needed(Problem(np.ones(2), np.eye(2), np.eye(2), 7, sigma=0.0))
    2
    """
    white = Whitened.of(problem)
    imitation = imitate_constant(white)
    q = imitation.label_part
    if not np.any(white.mean):
        return min(1, white.k)
    if q == 0.0:
        return white.k
    if np.linalg.eigvalsh(imitation.inputs_part).min() <= 0:
        return white.k
    gamma = whitened_gamma(white.cov, white.n, white.noise2)
    solution, *_ = np.linalg.lstsq(gamma, white.mean, rcond=1e-12)
    if not np.allclose(gamma @ solution, white.mean, rtol=1e-9, atol=1e-12 * np.abs(white.mean).max()):
        return white.k + 1
    return white.k if 4 * q * (solution @ imitation.inputs_part @ solution) <= 1 else white.k + 1
