"""The words of `--explain` against the algebra: every formula, read again and computed, is what its block does."""

import re
from dataclasses import replace

import numpy as np
import pytest

from descant.programs import Program, _describe, compile_program
from descant.programs._compile import choose
from descant.programs.fuzz import general
from descant.programs.schedule import Block, Head, Place, Reading, Schedule, Write
from descant.programs.weights import lay_out, link

WORDS = {"ᵀ": ".T", " · ": " @ ", "·": "@", "−": "-"}


class Identity:
    """I, of whatever size is needed."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return other + np.eye(len(other))

    def __rsub__(self, other):
        return other - np.eye(len(other))

    def __rmul__(self, number):
        return Multiple(number)


class Multiple(Identity):
    def __init__(self, number):
        self.number = number

    def __radd__(self, other):
        return other + self.number * np.eye(len(other))

    def __rsub__(self, other):
        return other - self.number * np.eye(len(other))


def computed(formula: str, names: dict[str, np.ndarray]) -> np.ndarray:
    """What a formula says, as a person would read it."""
    for sign, python in WORDS.items():
        formula = formula.replace(sign, python)
    formula = re.sub(r"(\d(?:[\d.]|e[+-]?\d)*) (?=[pcI(])", r"\1 * ", formula)
    return eval(formula, {**names, "I": Identity()})


def after(schedule, block, text, before, constants):
    """The places after a block, from its words."""
    found = {}
    for head in text:
        for part in head.formula.split("; "):
            if part.startswith("keep "):
                found |= {name: before[name] for name in part.removeprefix("keep ").split(", ")}
                continue
            name, sign, formula = re.fullmatch(r"(\S+) (←|\+=) (.*)", part).groups()
            formula, _, share = formula.partition(", part ")
            value = computed(formula, {**before, **constants}) if not share or share.startswith("1 ") else 0.0
            value = np.eye(len(before[name])) if isinstance(value, Identity) else value  # I and nothing else
            # A block has no residual: what stands first in a place replaces what it held, the rest is added.
            assert (sign == "+=") == (name in found)
            found[name] = found[name] + value if sign == "+=" else value
    return found


def step(schedule, block, before):
    """The places after a block, from the schedule."""

    def read(reading):
        value = np.zeros(reading.shape) if reading.constant is None else reading.constant
        return value + sum((before[schedule.places[place].name] @ right for place, right in reading.terms), 0.0)

    found = {schedule.places[place].name: before[schedule.places[place].name] for place in block.kept}
    found |= {schedule.places[place].name: np.zeros(schedule.places[place].shape) for place in block.writes}
    for write in block.carry:
        found[schedule.places[write.place].name] += read(write.reading)
    for head in block.heads:
        for write in head.values:
            product = read(head.query) @ read(head.key).T @ read(write.reading)
            found[schedule.places[write.place].name] = found[schedule.places[write.place].name] + product
    return found


def compared(traced, monkeypatch) -> int:
    """Blocks whose words were computed and found right."""
    best = choose(traced)
    constants: dict[str, np.ndarray] = {}

    def constant(array):
        if array.shape[0] == array.shape[1] and np.array_equal(array, np.eye(len(array))):
            return 1.0, "I"
        constants[f"c{len(constants)}"] = array
        return 1.0, f"c{len(constants) - 1}"

    def factor(right):
        number, rest = original(right)
        return (number, rest) if not rest else (1.0, f"·{constant(right)[1]}")

    # Letters that a parser can read in place of names such as Xᵀ X; but a name may end with ᵀ, as that of a transpose.
    original = _describe._factor
    monkeypatch.setattr(_describe, "_factor", factor)
    monkeypatch.setattr(_describe, "_constant", constant)
    places = tuple(replace(place, name=f"p{place.number}") for place in best.schedule.places)
    schedule = replace(best.schedule, places=places)
    random = np.random.default_rng(0)
    blocks = 0
    for block in schedule.blocks():
        assert isinstance(block, Block)
        before = {place.name: random.standard_normal(place.shape) for place in places}
        text = _describe._Describer(schedule).block(block, best.layout)
        expected, found = step(schedule, block, before), after(schedule, block, text, before, constants)
        assert set(expected) == set(found)
        for name, value in expected.items():
            scale = max(1.0, float(np.abs(value).max()))
            np.testing.assert_allclose(found[name], value, atol=2e-3 * scale, rtol=0)
        blocks += 1
    monkeypatch.undo()
    return blocks


@pytest.mark.parametrize(
    "body",
    [
        "return A @ hstack([B.T, A])[:, 0:3]",
        "return X @ (A @ constant([[1, 2, 0], [0, 1, 0], [3, 0, 1]])).T @ A",
        "return A @ (2 * B + constant([[1, 2, 0], [0, 1, 0], [3, 0, 1]])).T @ A, A[0:2, :] @ B[0:2, :].T @ A[0:2, :]",
        "return (A + eye(d)) @ (B - 0.5 * eye(d)).T @ A",
    ],
)
def test_formulas_are_what_blocks_do(body, monkeypatch):
    text = f'def p(X: "n d", A: "d d", B: "d d"):\n    {body}\n'
    assert compared(Program.from_text(text).trace(n=4, d=3), monkeypatch) > 0


def test_formulas_of_random_programs_are_what_blocks_do(monkeypatch):
    blocks = 0
    for number in range(40):
        written = general(number)
        if "unread" not in written.text:
            blocks += compared(Program.from_text(written.text).trace(written.settings), monkeypatch)
    assert blocks > 60


def test_a_product_has_its_factors_the_right_way_round():
    """The key is transposed as a whole: not only the last factor of what it reads."""
    for key, shown in (("X", "Xᵀ"), ("Xᵀ", "X"), ("X·C", "(X·C)ᵀ"), ("Xᵀ·C", "(Xᵀ·C)ᵀ"), ("Xᵀ y", "(Xᵀ y)ᵀ"),
                       ("−X", "(−X)ᵀ"), ("2 X", "(2 X)ᵀ"), ("C", "Cᵀ"), ("I", "")):  # fmt: skip
        assert _describe._product("A", key, "I") == f"A · {shown}".removesuffix(" · ")
    assert _describe._product("X·C", "I", "A·C") == "(X·C) · (A·C)"
    assert _describe._product("I", "I", "I") == "I"


def test_a_head_that_is_split_says_so():
    """A sum over more columns than H has is made by several heads; each does a part of it."""
    places = (Place(0, "A", (2, 3)), Place(1, "W", (2, 3)))
    wide = Reading((2, 5), ((0, np.ones((3, 5))),))
    head = Head(wide, wide, (Write(1, Reading((2, 3), ((0, np.eye(3)),))),))
    schedule = Schedule(places, {"A": 0}, (("W", 1),), (Block((head,), (), (1,)),))
    layout = lay_out(schedule)
    texts = _describe._Describer(schedule).block(head_block(schedule), layout)
    assert layout.columns == 3 and len(texts) == len(link(schedule, layout)[0]["w1"]) == 2
    signs = {1: "←", 2: "+="}
    assert [text.formula for text in texts] == [f"W {signs[k]} (A·C) · (A·C)ᵀ · A, part {k} of 2" for k in signs]


def head_block(schedule):
    return next(schedule.blocks())


def test_zeros_are_said():
    text = 'def p(X: "n d"):\n    return X, zeros(2, 2), zeros(1, 3)\n'
    assert compile_program(Program.from_text(text), n=2, d=2).explain().count(" ← 0") == 2
    alone = compile_program(Program.from_text('def p(X: "n d"):\n    return zeros(2, 2)\n'), n=2, d=2)
    assert alone.explain().count("(0) ← 0") == 1 and "head 1: reads nothing" in alone.explain()
