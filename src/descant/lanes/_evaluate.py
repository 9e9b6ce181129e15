"""A function of one context, evaluated on many: every value that depends on the context gets a last axis, the lanes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal
from jaxtyping import Array


class Value(NamedTuple):
    """An intermediate result: `array` has a last axis over contexts if it is `laned`, else all contexts share it.

    `turned` is the value that it is the transpose of, if it is one: products read it the other way round instead of
    moving it in memory.
    """

    array: Any
    laned: bool
    turned: "Value | None" = None

    @property
    def rank(self) -> int:
        """How many axes it has for one context."""
        return jnp.ndim(self.array) - self.laned

    @property
    def wide(self) -> Array:
        """The array with a last axis in any case, 1 long if it is shared."""
        return self.array if self.laned else self.array[..., None]

    def spread(self, lanes: int) -> Array:
        """The array with all lanes."""
        return self.array if self.laned else jnp.broadcast_to(self.wide, (*self.array.shape, lanes))


# What a rule makes of an equation: its results, or None if this one is not for it.
Rule = Callable[[JaxprEqn, Sequence[Value], int], "list[Value] | None"]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Say how primitives of these names are evaluated on lanes."""

    def add(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return add


def dtype_of(atom: Any) -> Any:
    """The type of the numbers that a variable of a program stands for."""
    return atom.aval.dtype


def evaluate(program: ClosedJaxpr, arguments: Sequence[Value], lanes: int) -> list[Value]:
    """The results of a program of one context on `lanes` contexts."""
    jaxpr = program.jaxpr
    known = dict(zip(jaxpr.constvars, (Value(const, False) for const in program.consts), strict=True))
    known |= dict(zip(jaxpr.invars, arguments, strict=True))

    def read(atom: Any) -> Value:
        return Value(jnp.asarray(atom.val, dtype_of(atom)), False) if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        inputs = [read(atom) for atom in equation.invars]
        known |= dict(zip(equation.outvars, _results(equation, inputs, lanes), strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _results(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    if not any(value.laned for value in inputs):
        return [Value(array, False) for array in bound(equation, [value.array for value in inputs])]
    own = RULES.get(equation.primitive.name)
    results = None if own is None else own(equation, inputs, lanes)
    return mapped(equation, inputs) if results is None else results


def mapped(equation: JaxprEqn, inputs: Sequence[Value]) -> list[Value]:
    """What JAX's own `vmap` makes of an equation: right for all of them, and fast for some."""
    axes = tuple(-1 if value.laned else None for value in inputs)
    arrays = jax.vmap(lambda *arrays: bound(equation, arrays), axes, -1)(*(value.array for value in inputs))
    return [Value(array, True) for array in arrays]


def bound(equation: JaxprEqn, arrays: Sequence[Any]) -> list[Any]:
    """The results of an equation on arrays, as if it had been written on them."""
    found = equation.primitive.bind(*arrays, **equation.primitive.get_bind_params(equation.params))
    return list(found) if equation.primitive.multiple_results else [found]
