"""The one loop of gradient steps: any loss, any optimiser of Optax, many members in one program."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

Schedule = Callable[[Int[Array, ""], Any], Float[Array, ""]]


def constant(step: Int[Array, ""], dtype: Any) -> Float[Array, ""]:
    """Step sizes as they are given: the schedule that is 1 at every step."""
    del step
    return jnp.ones((), dtype)


def cosine(steps: int) -> Schedule:
    """The schedule that falls from 1 to 0 like a cosine over so many steps, for `descend`.

    >>> round(float(cosine(10)(jnp.asarray(5), float)), 6)
    0.5
    """
    return lambda step, dtype: 0.5 * (1 + jnp.cos((jnp.pi * step / steps).astype(dtype)))


def at_rest(parameters: Any, optimiser: optax.GradientTransformation) -> tuple[Any, Any]:
    """Members beside what the optimiser remembers of them before the first step: what `descend` starts from.

    **Arguments:** `parameters` are arrays, or trees of them, with a first axis over members.
    """
    return parameters, jax.vmap(optimiser.init)(parameters)


def descend(
    loss: Callable[[Any, Any, Any], Float[Array, ""]],
    members: tuple[Any, Any],
    given: Any,
    rates: Float[Array, " members"],
    steps: Int[Array, " steps"],
    *,
    optimiser: optax.GradientTransformation,
    schedule: Schedule = constant,
    draw: Callable[[Int[Array, ""]], Any] = lambda step: None,
    draws_shared: bool = False,
    look: Callable[[Any, Any], Any] | None = None,
) -> tuple[tuple[Any, Any], Any]:
    """Take gradient steps; to be called in a compiled function.

    **Arguments:** `loss(parameters, given, drawn)` is that of one member; `members` come from `at_rest` or from an
    earlier descent; `given` is what else distinguishes members (their tasks, say), stacked, or None; `rates` are their
    step sizes, which `schedule` scales; `steps` the numbers of the steps to take; `draw(step)` is what a step draws,
    stacked, or the same for all if `draws_shared`; `look(parameters, given)` is told of every member before every step;
    `optimiser` turns gradients into directions without a sign of their own (`optax.scale_by_adam()`), the step is minus
    the rate times them.

    **Returns:** the members, and the losses before every step (steps, members),
    with the looks beside them if there are.

    >>> plain = optax.identity()
    >>> start = at_rest(jnp.array([4.0, 8.0]), plain)
    >>> square = lambda parameter, given, drawn: parameter**2
    >>> (ends, _), losses = descend(square, start, None, jnp.array([0.25, 0.25]), jnp.arange(2), optimiser=plain)
    >>> ends, losses
    (Array([1., 2.], dtype=float64), Array([[16., 64.],
           [ 4., 16.]], dtype=float64))
    """

    def one(parameters, memory, given, rate, drawn):
        value, slope = jax.value_and_grad(loss)(parameters, given, drawn)
        told = value if look is None else (value, look(parameters, given))
        moves, memory = optimiser.update(slope, memory)
        moves = jax.tree.map(lambda move: -rate * move, moves)
        return optax.apply_updates(parameters, moves), memory, told

    together = jax.vmap(one, in_axes=(0, 0, 0, 0, None if draws_shared else 0))

    def body(carry, step):
        (parameters, memory), drawn = carry
        scaled = rates * schedule(step, rates.dtype)
        parameters, memory, told = together(parameters, memory, given, scaled, drawn)
        # A step's numbers are drawn in the step before and handed on. Where they are drawn and used in one piece, XLA
        # draws them in the shape in which they are used, (n, d), and takes several times as long.
        return ((parameters, memory), draw(step + 1)), told

    # Optax mixes integer and floating types inside.
    with jax.numpy_dtype_promotion("standard"):
        (members, _), told = jax.lax.scan(body, (members, draw(steps[0])), steps)
    return members, told
