"""The primitives of extended linear self-attention as single heads, by explicit weights.

These are Properties 1 to 4 of Hagiwara (2025).

Each knows what must be true of H for its result to be exact, and says so: `conditions(h)` reports, calling it checks.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...attention import ELSABlock


@dataclass(frozen=True)
class Part:
    """A rectangle of H: rows from `top`, columns from `left`."""

    top: int
    left: int
    rows: int
    columns: int

    @property
    def row_range(self) -> slice:
        """Its rows."""
        return slice(self.top, self.top + self.rows)

    @property
    def column_range(self) -> slice:
        """Its columns."""
        return slice(self.left, self.left + self.columns)


@dataclass(frozen=True)
class Condition:
    """Something that must be true of H."""

    statement: str
    holds: bool


@dataclass(frozen=True)
class Primitive:
    """A head and the conditions under which it is what its formula says."""

    formula: str
    block: ELSABlock
    asks: tuple[tuple[str, Callable[[np.ndarray], bool]], ...] = ()

    def conditions(self, h: Float[Array, "r c"]) -> list[Condition]:
        """Every condition, and whether this H meets it."""
        array = np.asarray(h)
        return [Condition(statement, bool(holds(array))) for statement, holds in self.asks]

    def __call__(self, h: Float[Array, "r c"]) -> Float[Array, "r c"]:
        """The head's output; a `ValueError` names the conditions that H does not meet."""
        broken = [condition.statement for condition in self.conditions(h) if not condition.holds]
        if broken:
            raise ValueError(f"h does not meet what {self.formula} needs: {'; '.join(broken)}.")
        return self.block(h)


def mask_and_move(
    shape: tuple[int, int], part: Part, down: int, right: int
) -> tuple[Float[Array, "p p"], Float[Array, "q q"]]:
    """W and V of Property 1: W A V is the part of A moved down and right, and zero elsewhere.

    W = sum_r e_{r + down} e_r^T over the part's rows, V = sum_c e_c e_{c + right}^T over its columns.
    """
    p, q = shape
    moved = Part(part.top + down, part.left + right, part.rows, part.columns)
    for name, each in (("part", part), ("the moved part", moved)):
        _inside(name, each, p, q)
    w = jnp.eye(p)[:, part.row_range]
    return jnp.eye(p)[:, moved.row_range] @ w.T, jnp.eye(q)[:, part.column_range] @ jnp.eye(q)[moved.column_range]


def constant(c: Float[Array, "r c"]) -> Primitive:
    """Property 2: B3 B1^T B2 = C, whatever H is."""
    rows, columns = c.shape
    eye = jnp.eye(rows, columns)
    biases = {"b3": eye, "b1": eye, "b2": c} if rows <= columns else {"b3": c, "b1": eye, "b2": eye}
    return Primitive("C", _head(rows, columns, **biases))


def times(right: Float[Array, "c c"], rows: int) -> Primitive:
    """H Q for any Q, by the form that exists for this shape: H W3 B1^T B2 if rows >= columns, else B3 B1^T H W2."""
    columns = right.shape[0]
    eye = jnp.eye(rows, columns)
    weights = {"w3": right, "b1": eye, "b2": eye} if rows >= columns else {"b3": eye, "b1": eye, "w2": right}
    return Primitive("H Q", _head(rows, columns, **weights))


def skip(rows: int, columns: int) -> Primitive:
    """Property 3: H itself."""
    return Primitive("H", times(jnp.eye(columns), rows).block)


def transpose(rows: int, columns: int, a: Part, top: int, left: int) -> Primitive:
    """A^T at (top, left): B3 H^T B2 with placements. No condition: both sides of a transpose can be masked."""
    to = Part(top, left, a.columns, a.rows)
    _inside("a", a, rows, columns)
    _inside("the result", to, rows, columns)
    b3 = jnp.eye(rows)[:, to.row_range] @ jnp.eye(columns)[a.column_range]
    b2 = jnp.eye(rows)[:, a.row_range] @ jnp.eye(columns)[to.column_range]
    return Primitive("A^T", _head(rows, columns, b3=b3, w1=jnp.eye(columns), b2=b2))


def product_ab(rows: int, columns: int, a: Part, b: Part, left: int) -> Primitive:
    """A B in the rows of A, from column `left`: H P H Q. The left factor's rows can't be masked."""
    _matching("columns of a", a.columns, "rows of b", b.rows)
    _inside("the result", Part(a.top, left, a.rows, b.columns), rows, columns)
    slots = jnp.eye(columns)[:, : a.columns]
    b1 = jnp.eye(rows)[:, b.row_range] @ slots.T
    w2 = _columns(columns, b, left)
    return Primitive("A B", _head(rows, columns, w3=_columns(columns, a, 0), b1=b1, w2=w2), (_alone("A", a),))


def product_atb(rows: int, columns: int, a: Part, b: Part, top: int, left: int) -> Primitive:
    """A^T B at (top, left), Property 4: P (H^T H) Q by mask-and-move on H^T H."""
    _inside("the result", Part(top, left, a.columns, b.columns), rows, columns)
    b3 = jnp.eye(rows)[:, top : top + a.columns] @ jnp.eye(columns)[: a.columns]
    block = _head(rows, columns, b3=b3, w1=_columns(columns, a, 0), w2=_columns(columns, b, left))
    return Primitive("A^T B", block, (_shared("A", a, "B", b),))


def product_abt(rows: int, columns: int, a: Part, b: Part, left: int) -> Primitive:
    """A B^T in the rows of A, from column `left`: H P H^T Q."""
    _matching("columns of a", a.columns, "columns of b", b.columns)
    _inside("the result", Part(a.top, left, a.rows, b.rows), rows, columns)
    b2 = jnp.eye(rows)[:, b.row_range] @ jnp.eye(columns)[left : left + b.rows]
    block = _head(rows, columns, w3=_columns(columns, a, 0), w1=_columns(columns, b, 0), b2=b2)
    return Primitive("A B^T", block, (_alone("A", a),))


def product_abtc(rows: int, columns: int, a: Part, b: Part, c: Part, left: int) -> Primitive:
    """A B^T C in the rows of A, from column `left`: plain linear self-attention, H P H^T H Q."""
    _matching("columns of a", a.columns, "columns of b", b.columns)
    _inside("the result", Part(a.top, left, a.rows, c.columns), rows, columns)
    weights = {"w3": _columns(columns, a, 0), "w1": _columns(columns, b, 0), "w2": _columns(columns, c, left)}
    return Primitive("A B^T C", _head(rows, columns, **weights), (_alone("A", a), _shared("B", b, "C", c)))


def _alone(name: str, part: Part) -> tuple[str, Callable[[np.ndarray], bool]]:
    def holds(h: np.ndarray) -> bool:
        outside = np.ones(h.shape[0], dtype=bool)
        outside[part.row_range] = False
        return not h[outside][:, part.column_range].any()

    return f"the columns of {name} are zero outside of its rows", holds


def _shared(first: str, a: Part, second: str, b: Part) -> tuple[str, Callable[[np.ndarray], bool]]:
    def holds(h: np.ndarray) -> bool:
        both = np.asarray(h[:, a.column_range].any(axis=1) & h[:, b.column_range].any(axis=1))
        both[a.row_range] = False
        return (a.top, a.rows) == (b.top, b.rows) and not both.any()

    return f"{first} and {second} have the same rows, and no other row is non-zero in the columns of both", holds


def _columns(columns: int, part: Part, to: int) -> Array:
    """0-1 weights that move a part's columns."""
    return jnp.eye(columns)[:, part.column_range] @ jnp.eye(columns)[to : to + part.columns]


def _head(rows: int, columns: int, **weights: Array) -> ELSABlock:
    shapes = {"w": (columns, columns), "b": (rows, columns)}
    names = ("w1", "w2", "w3", "b1", "b2", "b3")
    w1, w2, w3, b1, b2, b3 = (weights.get(name, jnp.zeros(shapes[name[0]]))[None] for name in names)
    return ELSABlock(w1, w2, w3, b1, b2, b3)


def _inside(name: str, part: Part, rows: int, columns: int) -> None:
    fits = min(part.top, part.left) >= 0 and part.top + part.rows <= rows and part.left + part.columns <= columns
    if not fits:
        raise ValueError(f"{name} is {part}; expected a part of an H of {rows} x {columns}.")


def _matching(first: str, one: int, second: str, other: int) -> None:
    if one != other:
        raise ValueError(f"the {first} are {one}, the {second} {other}; expected the same number.")
