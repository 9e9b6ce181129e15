"""Newton steps in a trust region as a loop of equal turns, so that many descents share a program under `vmap`.

A turn takes one product of the Hessian, whichever step of its own a descent is at. Nested loops, of steps and of
conjugate gradients within them, would under `vmap` all wait for the slowest, in every step.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

# As in SciPy's trust-ncg: the first radius, the largest, and from which share of the promised decrease a step is taken.
FIRST_RADIUS, LARGEST_RADIUS, TAKEN = 1.0, 1000.0, 0.15
# A step this small, against the weights, is below rounding.
SMALLEST = 1e-15
MOST_STEPS = 2000
# A descent is under way, or its gradient is as small as asked, or rounding hides what is left, or it took too long.
GOING, ARRIVED, STALLED, TOO_LONG = 0, 1, 2, 3

Vector = Float[Array, " p"]
Function = Callable[[Vector], Float[Array, ""]]


class Descent(NamedTuple):
    """Where a descent is, and how far it is with the next move: `bent` is the Hessian times it."""

    theta: Vector
    value: Float[Array, ""]
    slope: Vector
    radius: Float[Array, ""]
    state: Int[Array, ""]
    steps: Int[Array, ""]
    move: Vector
    bent: Vector
    residual: Vector
    direction: Vector
    products: Int[Array, ""]


def begin(function: Function, theta: Vector, goal: float) -> Descent:
    """A descent at its start."""
    value, slope = jax.value_and_grad(function)(theta)
    none, radius, zero = jnp.zeros((), int), jnp.asarray(FIRST_RADIUS, theta.dtype), jnp.zeros_like(theta)
    state = jnp.where(jnp.linalg.norm(slope) < goal, ARRIVED, GOING)
    return Descent(theta, value, slope, radius, state, none, zero, zero, slope, -slope, none)


def go_on(function: Function, here: Descent, goal: float, turns: int) -> Descent:
    """Some turns of a descent, until its gradient is below `goal`; to be called in a compiled function.

    Conjugate gradients with exact products of the Hessian (Steihaug), which also leave saddles.

    >>> start = jnp.array([0.0, 1.0])
    >>> function = lambda theta: ((theta[0] - 3) ** 2 - 1) ** 2 + theta[1] ** 2
    >>> end = go_on(function, begin(function, start, 1e-9), 1e-9, 100)
    >>> bool(jnp.allclose(end.theta, jnp.array([2.0, 0.0]))), int(end.state) == ARRIVED
    (True, True)
    """

    def turn(carry: tuple[Int[Array, ""], Descent]) -> tuple[Int[Array, ""], Descent]:
        count, here = carry
        return count + 1, _after(function, *_moved(function, here), goal)

    def on(carry: tuple[Int[Array, ""], Descent]) -> Bool[Array, ""]:
        return (carry[1].state == GOING) & (carry[0] < turns)

    return jax.lax.while_loop(on, turn, (jnp.zeros((), int), here))[1]


def _moved(function: Function, here: Descent) -> tuple[Descent, Bool[Array, ""], Bool[Array, ""]]:
    """One more direction in the next move; whether the move is done with that, and whether it ends on the edge."""
    turned = jax.jvp(jax.grad(function), (here.theta,), (here.direction,))[1]
    bending, square = here.direction @ turned, here.residual @ here.residual
    # Downhill without end, or beyond the radius: go to the edge, forwards.
    onward = here.move + square / bending * here.direction
    at_edge = (bending <= 0) | (jnp.linalg.norm(onward) >= here.radius)
    length = jnp.where(at_edge, _to_edge(here.move, here.direction, here.radius), square / bending)
    residual = here.residual + length * turned
    found = here._replace(
        move=here.move + length * here.direction,
        bent=here.bent + length * turned,
        residual=residual,
        direction=-residual + (residual @ residual) / square * here.direction,
        products=here.products + 1,
    )
    size = jnp.linalg.norm(here.slope)
    small = jnp.linalg.norm(residual) < jnp.minimum(0.5, jnp.sqrt(size)) * size
    return found, at_edge | small | (found.products >= 2 * here.theta.shape[0]), at_edge


def _after(function: Function, here: Descent, done: Bool[Array, ""], at_edge: Bool[Array, ""], goal: float) -> Descent:
    """The same with its move taken, or refused for a shorter one, if the move is done."""
    promised = -(here.slope @ here.move + 0.5 * here.move @ here.bent)
    value, slope = jax.value_and_grad(function)(here.theta + here.move)
    kept = (here.value - value) / promised
    wider = jnp.where(at_edge, jnp.minimum(2 * here.radius, LARGEST_RADIUS), here.radius)
    radius = jnp.where(kept > 0.75, wider, jnp.where(kept >= 0.25, here.radius, here.radius / 4))
    taken = kept > TAKEN
    theta = jnp.where(taken, here.theta + here.move, here.theta)
    value, slope = jnp.where(taken, value, here.value), jnp.where(taken, slope, here.slope)
    lost = ~(promised > 0) | (radius < SMALLEST * (1 + jnp.linalg.norm(theta)))
    state = jnp.where(here.steps + 1 >= MOST_STEPS, TOO_LONG, GOING)
    state = jnp.where(jnp.linalg.norm(slope) < goal, ARRIVED, jnp.where(lost, STALLED, state))
    zero, none = jnp.zeros_like(theta), jnp.zeros((), int)
    found = Descent(theta, value, slope, radius, state, here.steps + 1, zero, zero, slope, -slope, none)
    return jax.tree.map(lambda new, old: jnp.where(done, new, old), found, here)


def _to_edge(move: Vector, direction: Vector, radius: Float[Array, ""]) -> Float[Array, ""]:
    """How far along a direction the radius is: the positive root of |move + t direction| = radius."""
    a, b, c = direction @ direction, 2 * move @ direction, move @ move - radius**2
    return (-b + jnp.sqrt(jnp.maximum(b * b - 4 * a * c, 0.0))) / (2 * a)
