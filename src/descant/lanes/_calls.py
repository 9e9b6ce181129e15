"""How programs inside programs are evaluated on lanes: calls, derivatives of one's own, loops."""

import itertools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, JaxprEqn

from ._evaluate import Value, bound, evaluate, rule


def _inner(equation: JaxprEqn) -> ClosedJaxpr:
    """The one program that an equation holds."""
    found = next(equation.params[name] for name in ("jaxpr", "call_jaxpr") if name in equation.params)
    return found if isinstance(found, ClosedJaxpr) else ClosedJaxpr(found, ())


@rule("jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint")
def _call(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    # Checkpoints, too: what is kept for the way back is as small as a context.
    return evaluate(_inner(equation), inputs, lanes)


@rule("custom_jvp_call", "custom_vjp_call")
def _own_derivative(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value] | None:
    """The same function on lanes, with the derivative that it says it has."""
    if not all(jnp.issubdtype(jnp.result_type(value.array), jnp.inexact) for value in inputs):
        return None
    program, flags = _inner(equation), [value.laned for value in inputs]
    count = len(inputs)

    def one(*arrays):
        return bound(equation, arrays)

    def on_lanes(function, arrays, laned):
        """A function of one context, arrays in and out; results that all contexts share are handed out so."""
        shapes = [jax.ShapeDtypeStruct(array.shape[:-1] if own else array.shape, array.dtype)
                  for array, own in zip(arrays, laned, strict=True)]  # fmt: skip
        values = [Value(array, own) for array, own in zip(arrays, laned, strict=True)]
        return evaluate(jax.make_jaxpr(function)(*shapes), values, lanes)

    def primal(*arrays):
        values = [Value(array, own) for array, own in zip(arrays, flags, strict=True)]
        return [value.spread(lanes) for value in evaluate(program, values, lanes)]

    if equation.primitive.name == "custom_jvp_call":
        call = jax.custom_jvp(primal)

        @call.defjvp
        def _(primals, tangents):
            both = on_lanes(
                lambda *arrays: [*itertools.chain(*jax.jvp(one, arrays[:count], arrays[count:]))],
                (*primals, *tangents),
                [*flags, *flags],
            )
            half = len(both) // 2
            arrays = [value.spread(lanes) for value in both]
            return arrays[:half], arrays[half:]

    else:
        call = jax.custom_vjp(primal)

        def back(arrays, slopes):
            slopes_of = lambda *parts: jax.vjp(one, *parts[:count])[1](list(parts[count:]))  # noqa: E731
            found = on_lanes(slopes_of, (*arrays, *slopes), [*flags, *[True] * len(slopes)])
            # Lanes add up in a factor that they share.
            return tuple(
                value.spread(lanes) if own else value.spread(lanes).sum(-1)
                for value, own in zip(found, flags, strict=True)
            )

        call.defvjp(lambda *arrays: (primal(*arrays), arrays), back)
    return [Value(array, True) for array in call(*(value.array for value in inputs))]


@rule("scan")
def _scan(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    program, length = equation.params["jaxpr"], equation.params["length"]
    constants, carried = equation.params["num_consts"], equation.params["num_carry"]
    consts, carry, rows = inputs[:constants], list(inputs[constants:][:carried]), inputs[constants + carried :]
    # What depends on the context after some step does so after all of them.
    flags = [value.laned for value in carry]
    kinds: list[bool] = []

    def body(carry, rows):
        values = [
            *consts,
            *(Value(array, own) for array, own in zip(carry, flags, strict=True)),
            *(Value(array, own.laned) for array, own in zip(rows, rows_in, strict=True)),
        ]
        results = evaluate(program, values, lanes)
        kinds[:] = [value.laned for value in results]
        ends = [
            value.spread(lanes) if own else value.array for value, own in zip(results[:carried], flags, strict=True)
        ]
        return ends, [value.array for value in results[carried:]]

    rows_in = list(rows)
    while True:
        starts = [value.spread(lanes) if own else value.array for value, own in zip(carry, flags, strict=True)]
        one_row = [jax.ShapeDtypeStruct(value.array.shape[1:], value.array.dtype) for value in rows_in]
        jax.eval_shape(body, starts, one_row)
        grown = [own or kind for own, kind in zip(flags, kinds[:carried], strict=True)]
        if grown == flags:
            break
        flags = grown
    ends, outs = jax.lax.scan(
        body, starts, [value.array for value in rows_in], length, equation.params["reverse"], equation.params["unroll"]
    )
    return [Value(array, own) for array, own in zip([*ends, *outs], [*flags, *kinds[carried:]], strict=True)]
