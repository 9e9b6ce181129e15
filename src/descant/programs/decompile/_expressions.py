"""What a block writes into a place, as an expression of the language."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..schedule import Head, Reading
from ._constants import multiple, number, selection

Names = Callable[[int], str]


@dataclass(frozen=True)
class Term:
    """A number times a text; `simple` texts need no brackets as a factor."""

    number: float
    text: str
    simple: bool = True

    def scaled(self) -> str:
        """The text times the size of the number."""
        size = abs(self.number)
        return self.text if size == 1 else f"{number(size)} * {self.factor()}"

    def factor(self) -> str:
        """The text as a factor."""
        return self.text if self.simple else f"({self.text})"


def total(terms: list[Term]) -> str:
    """A sum."""
    text = ""
    for term in terms:
        if not text:
            # A minus before a product would be that of its first factor.
            bare = term.number == -1 and not term.simple
            text = ("-" if term.number < 0 else "") + (f"({term.text})" if bare else term.scaled())
        else:
            text += (" - " if term.number < 0 else " + ") + term.scaled()
    return text


def linear(reading: Reading, names: Names) -> list[Term]:
    """A reading, term by term."""
    found = [_place(names(place), right) for place, right in reading.terms]
    if reading.constant is not None:
        found.append(Term(*multiple(reading.constant)))
    return found


def product(head: Head, value: Reading, names: Names) -> Term:
    """A head, with the identity left out where it is understood: f @ h, g.T @ h, f @ g.T, g.T."""
    query, key = (_factor(reading, names) for reading in (head.query, head.key))
    terms = linear(value, names)
    # The number of a head stands before it, where its value is one term that is read as it is.
    alone = len(terms) == 1 and _is_plain(value)
    size = terms[0].number if alone else 1.0
    last = Term(1.0, terms[0].text, terms[0].simple).factor() if alone else _bracketed(terms)
    first_is_eye, key_is_eye = _is_eye(head.query), _is_eye(head.key)
    last_is_eye = alone and value.is_constant and value.shape[0] == value.shape[1]
    if key_is_eye and not first_is_eye and not value.is_constant:
        return Term(size, f"{query} @ {last}", False)
    if key_is_eye:
        return Term(size, f"{query} @ {key}.T @ {last}", False)
    parts = [*([] if first_is_eye else [query]), f"{key}.T", *([] if last_is_eye else [last])]
    return Term(size, " @ ".join(parts), len(parts) == 1)


def _place(name: str, right: np.ndarray) -> Term:
    """A place times a constant on its right."""
    part = selection(right) if right.shape[0] >= right.shape[1] else None
    if part is not None:
        factor, start = part
        square = right.shape[0] == right.shape[1]
        return Term(factor, name if square else f"{name}[:, {start}:{start + right.shape[1]}]")
    size, text = multiple(right)
    text = text if size == 1 else f"({number(size)} * {text})"
    return Term(1.0, f"{name} @ {text}", False)


def _factor(reading: Reading, names: Names) -> str:
    terms = linear(reading, names)
    return _bracketed(terms) if terms else f"zeros({reading.shape[0]}, {reading.shape[1]})"


def _bracketed(terms: list[Term]) -> str:
    if len(terms) == 1 and terms[0].number == 1 and terms[0].simple:
        return terms[0].text
    return f"({total(terms)})"


def _is_plain(reading: Reading) -> bool:
    """Whether a reading of one term is a number times a place, columns of one, or the identity."""
    if reading.is_constant:
        constant = reading.constant
        return constant is not None and constant.shape[0] == constant.shape[1] and selection(constant) is not None
    right = reading.terms[0][1]
    return right.shape[0] >= right.shape[1] and selection(right) is not None


def _is_eye(reading: Reading) -> bool:
    rows, columns = reading.shape
    constant = reading.constant
    return reading.is_constant and constant is not None and rows == columns and np.array_equal(constant, np.eye(rows))
