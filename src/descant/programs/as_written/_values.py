"""What one block can compute: a reading of H, plus products of up to three readings, the middle one transposed."""

from dataclasses import dataclass

import numpy as np

from ..language import Instruction, ProgramError
from ..schedule import Reading

SUM = "a sum of products can't be a factor in the same block"
LONG = "a product of so many factors, or transposed so, is more than one head"
NAME_IT = "give a part of it a name in a line before: every line is one block, and a head is f @ g.T @ h"


@dataclass(frozen=True)
class Factor:
    """A reading of H in a product, or its transpose."""

    reading: Reading
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.reading.shape
        return (columns, rows) if self.transposed else (rows, columns)


@dataclass(frozen=True)
class Product:
    """Factors in order, times a number."""

    factors: tuple[Factor, ...]
    number: float = 1.0


@dataclass(frozen=True)
class Value:
    """A matrix expression: what is read of H as it is, and products."""

    linear: Reading
    products: tuple[Product, ...] = ()

    @property
    def constant(self) -> np.ndarray | None:
        """The matrix, if it reads nothing at all."""
        if self.products or not self.linear.is_constant:
            return None
        return np.zeros(self.linear.shape) if self.linear.constant is None else self.linear.constant


def of_place(place: int, shape: tuple[int, int]) -> Value:
    """A place as it is."""
    return Value(Reading(shape, ((place, np.eye(shape[1])),)))


def apply(instruction: Instruction, operands: list[Value]) -> Value:
    """An instruction of the language on such values."""
    match instruction.op:
        case "constant":
            return Value(Reading.of_constant(instruction.attribute.array))
        case "add":
            return _sum(operands[0], operands[1], 1.0)
        case "subtract":
            return _sum(operands[0], operands[1], -1.0)
        case "scale":
            return _scaled(operands[0], instruction.attribute)
        case "transpose":
            return _transposed(operands[0])
        case "multiply":
            return _times(operands[0], operands[1])
        case "slice":
            top, bottom, left, right = instruction.attribute
            rows, columns = operands[0].linear.shape
            return _between(np.eye(rows)[top:bottom], operands[0], np.eye(columns)[:, left:right])
        case "hstack" | "vstack":
            return _stacked(instruction, operands)
    raise ProgramError(f"{instruction.op} can't be taken as it is written", "compile it without --as-written")


def three(product: Product) -> tuple[Reading, Reading, Reading]:
    """Query, key and value of the one head that a product is."""
    factors = product.factors
    flags = tuple(factor.transposed for factor in factors)
    if flags == (False, False):
        factors = (factors[0], Factor(_eye(factors[1].shape[0]), True), factors[1])
    elif flags in ((True, False), (True,)):
        factors = (Factor(_eye(factors[0].shape[0])), *factors)
    if len(factors) == 2:
        factors = (*factors, Factor(_eye(factors[1].shape[1])))
    if [factor.transposed for factor in factors] != [False, True, False]:
        raise ProgramError(LONG, NAME_IT)
    query, key, value = (factor.reading for factor in factors)
    return query, key, value if product.number == 1.0 else value.times(product.number)


def _eye(size: int) -> Reading:
    return Reading.of_constant(np.eye(size))


def _sum(left: Value, right: Value, sign: float) -> Value:
    right = right if sign == 1.0 else _scaled(right, sign)
    return Value(left.linear + right.linear, left.products + right.products)


def _scaled(value: Value, number: float) -> Value:
    products = tuple(Product(each.factors, each.number * number) for each in value.products)
    return Value(value.linear.times(number), products)


def _transposed(value: Value) -> Value:
    rows, columns = value.linear.shape
    products = [Product(tuple(Factor(f.reading, not f.transposed) for f in reversed(p.factors)), p.number)
                for p in value.products]  # fmt: skip
    if _reads(value.linear):
        products.insert(0, Product((Factor(value.linear, True),)))
    return Value(Reading((columns, rows)), tuple(products))


def _times(left: Value, right: Value) -> Value:
    constant = right.constant
    if constant is not None:
        return _between(None, left, constant)
    first, second = _monomial(left), _monomial(right)
    product = Product(first.factors + second.factors, first.number * second.number)
    return Value(Reading((left.linear.shape[0], right.linear.shape[1])), (product,))


def _monomial(value: Value) -> Product:
    """A value as one product; a sum is one if it is read as it is."""
    if len(value.products) == 0:
        return Product((Factor(value.linear),))
    first, *others = value.products
    if others or _reads(value.linear):
        raise ProgramError(SUM, NAME_IT)
    return first


def _between(left: np.ndarray | None, value: Value, right: np.ndarray) -> Value:
    """left @ value @ right, for constants."""
    linear = value.linear.times(right)
    products = []
    for each in value.products:
        *others, last = each.factors
        ending = (last, Factor(Reading.of_constant(right))) if last.transposed else (Factor(last.reading.times(right)),)
        still = last.transposed and _is_eye(right)
        products.append(Product((*others, last) if still else (*others, *ending), each.number))
    if left is None or _is_eye(left):
        return Value(linear, tuple(products))
    if linear.is_constant:
        constant = np.zeros(linear.shape) if linear.constant is None else linear.constant
        moved = Reading.of_constant(left @ constant)
    else:
        moved = Reading((left.shape[0], right.shape[1]))
        products.insert(0, Product((Factor(linear),)))
    before = Factor(Reading.of_constant(left))
    return Value(moved, tuple(Product((before, *each.factors), each.number) for each in products))


def _stacked(instruction: Instruction, operands: list[Value]) -> Value:
    axis = 1 if instruction.op == "hstack" else 0
    eye, start = np.eye(instruction.shape[axis]), 0
    total = Value(Reading(instruction.shape))
    for operand in operands:
        size = operand.linear.shape[axis]
        selection, start = eye[start : start + size], start + size
        if axis == 1:
            total = _sum(total, _between(None, operand, selection), 1.0)
        else:
            total = _sum(total, _between(selection.T, operand, np.eye(instruction.shape[1])), 1.0)
    return total


def _is_eye(array: np.ndarray) -> bool:
    return array.shape[0] == array.shape[1] and np.array_equal(array, np.eye(array.shape[0]))


def _reads(reading: Reading) -> bool:
    return bool(reading.terms) or (reading.constant is not None and bool(reading.constant.any()))
