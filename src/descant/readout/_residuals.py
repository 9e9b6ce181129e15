"""Algorithms that are polynomials in S: their answers, and their parameters from step sizes.

From a start, an algorithm that only sees the labels linearly answers w = start + f(S) (alpha - S start) with a function
f of numbers, and r(s) = 1 - s f(s) is its residual polynomial. T steps of gradient descent have r(s) = prod (1 - eta_i
s): any polynomial with r(0) = 1 and real roots is gradient descent with its own step sizes, the roots' inverses, in any
order. Heavy ball's polynomial has real roots, as every three-term recursion with a positive momentum; Chebyshev's has.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

Numbers = Float[np.ndarray, "..."]
# How far numbers may be from those of an algorithm that is read off weights, relative to their size.
EXACT = 1e-9
# The same for the roots of heavy ball's polynomial, at the most.
ROOTS = 1e-5


class HeavyBall(NamedTuple):
    """w' = w + step * (alpha - S w) + momentum * (w - w_before)."""

    step: float
    momentum: float


class Chebyshev(NamedTuple):
    """Chebyshev iteration for eigenvalues between `low` and `high`."""

    low: float
    high: float


def descent(s: Numbers, steps: Numbers) -> Numbers:
    """f of gradient descent with these step sizes, w' = w + eta_i (alpha - S w)."""
    f = np.zeros_like(s)
    for step in steps:
        f = f + step * (1 - s * f)
    return f


def constant_descent(s: Numbers, step: float, count: int) -> Numbers:
    """f of `count` steps of one size, by squaring: counts may be large."""
    f, power, grow = np.zeros_like(s), np.ones_like(s), (step + 0 * s, 1 - step * s)
    with np.errstate(all="ignore"):
        while count:
            if count % 2:
                f, power = f + power * grow[0], power * grow[1]
            grow = (grow[0] * (1 + grow[1]), grow[1] ** 2)
            count //= 2
    return f


def heavy_ball(s: Numbers, step: float, momentum: float, count: int) -> Numbers:
    """f of `count` steps of heavy ball, the first without momentum."""
    before, f = np.zeros_like(s), np.zeros_like(s)
    for _ in range(count):
        before, f = f, f + step * (1 - s * f) + momentum * (f - before)
    return f


def chebyshev(s: Numbers, low: float, high: float, count: int) -> Numbers:
    """f of `count` steps of the Chebyshev iteration for eigenvalues in [low, high]."""
    return descent(s, 1 / chebyshev_roots(low, high, count))


def chebyshev_roots(low: float, high: float, count: int) -> Float[np.ndarray, " k"]:
    """Where the residual polynomial vanishes: the inverse step sizes."""
    angles = (2 * np.arange(1, count + 1) - 1) * np.pi / (2 * count)
    return (high + low) / 2 + (high - low) / 2 * np.cos(angles)


def gd_plus_plus(s: Numbers, steps: Numbers, contractions: Numbers) -> Numbers:
    """f of GD++: f' = f + step m^2 (1 - s f), m' = m - contraction s m^3."""
    f, m = np.zeros_like(s), np.ones_like(s)
    for step, contraction in zip(steps, contractions, strict=True):
        f, m = f + step * m**2 * (1 - s * f), m - contraction * s * m**3
    return f


def heavy_ball_steps(step: float, momentum: float, count: int) -> Float[np.ndarray, " k"]:
    """The step sizes with which gradient descent is heavy ball after `count` steps: a stack can do that."""
    one = np.polynomial.Polynomial([1.0])
    before, now = one, np.polynomial.Polynomial([1.0, -step])
    for _ in range(count - 1):
        before, now = now, np.polynomial.Polynomial([1 + momentum, -step]) * now - momentum * before
    return np.sort(1 / now.roots().real)


def as_chebyshev(steps: Float[np.ndarray, " k"], tolerance: float = EXACT) -> Chebyshev | None:
    """The range of a Chebyshev iteration that gradient descent with these step sizes is; None if it is none.

    Two steps are one for some range, always: from three on this says something.
    """
    count = len(steps)
    if count < 3 or not (np.isfinite(steps).all() and (steps > 0).all()):
        return None
    roots = np.sort(1 / steps)
    cosines = np.sort(np.cos((2 * np.arange(1, count + 1) - 1) * np.pi / (2 * count)))
    middle, half = roots.mean(), roots @ cosines / (cosines @ cosines)
    found = Chebyshev(float(middle - half), float(middle + half))
    close = np.abs(np.sort(chebyshev_roots(*found, count)) - roots).max() <= tolerance * roots.max()
    return found if close and half > tolerance * middle else None


def as_heavy_ball(steps: Float[np.ndarray, " k"], tolerance: float = EXACT) -> HeavyBall | None:
    """Step and momentum of heavy ball, if that is what gradient descent with these step sizes comes to."""
    count = len(steps)
    if count < 3 or not (np.isfinite(steps).all() and (steps > 0).all()):
        return None
    # The leading coefficient of the polynomial is (-step)^T; its slope at zero grows with the momentum.
    step = float(np.exp(np.log(steps).mean()))

    def slope(momentum: float) -> float:
        return float(heavy_ball(np.zeros(1), step, momentum, count)[0]) - float(steps.sum())

    if slope(0.0) > -tolerance * steps.sum():
        return None
    try:
        found: Any = brentq(slope, 0.0, 4.0, xtol=1e-15)
    except ValueError:
        return None
    momentum = float(found)
    again = heavy_ball_steps(step, momentum, count)
    # Roots are less exact than the coefficients that they are of; but any that are alike are nearly heavy ball's.
    close = np.abs(again - np.sort(steps)).max() <= min(1e3 * tolerance, ROOTS) * steps.max()
    return HeavyBall(step, momentum) if close else None
