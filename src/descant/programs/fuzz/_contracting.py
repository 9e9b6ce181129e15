"""Programs whose loops contract, for many iterations: rounding dies out in them, and must do so in a network.

Inputs have spectral norm one at the most. Of every value two bounds are known: its norm, and how much further apart two
runs may be in it than they were at the beginning of the iteration (its Lipschitz constant). They follow the text: sums
add both, a product multiplies norms and has the product rule for the other. What a loop carries is multiplied by a
number that brings both below one, so the iteration stays in the unit ball and contracts, however odd its formula is.
"""

from dataclasses import dataclass
from random import Random

import numpy as np

from ._draft import INPUTS, Draft, Shape, gaussian
from ._written import Written

CONTRACTION = 0.95
# Loops whose coefficients depend on the index are written out, iteration by iteration: a long one is a large network.
LONGEST_INDEXED = 12


@dataclass(frozen=True)
class Bounded:
    """Text of a value with the bounds of its norm and of its Lipschitz constant."""

    text: str
    norm: float
    slope: float


def contracting(number: int, steps: int) -> Written:
    """The program of a seed; its longest loops run `steps` times."""
    return _Writer(number, steps).program()


class _Writer:
    def __init__(self, number: int, steps: int):
        self.number, self.random = number, Random(number)
        shortened = self.random.choice([0.02, 0.1, 0.5, 1, 1])
        self.draft = Draft(self.random, steps=max(1, round(shortened * steps)))
        self.bounds: dict[str, tuple[float, float]] = {}
        # Carried values that stay bounded for reasons of their own, and are not read by others.
        self.alone: set[str] = set()
        self.indexed = False

    def program(self) -> Written:
        random, draft = self.random, self.draft
        for name in INPUTS[: random.randint(2, 5)]:
            draft.add_input(name)
        states = self._states()
        inputs = {name: self._array(shape) for name, shape in draft.inputs.items()}
        self.indexed = random.random() < 0.1
        if self.indexed:
            draft.scalars["T"] = min(draft.steps, LONGEST_INDEXED)
        inverse = self._inverse_start() if random.random() < 0.1 else None
        self.alone = {name for name in states if random.random() < 0.3 and self._can_descend(name)}
        with draft.loop("T", range(2)):
            for name in states:
                self.bounds[name] = (np.inf if name in self.alone else 1.0, 1.0)
            for _ in range(random.randint(0, 2)):
                self._temporary()
            if random.random() < 0.2:
                self._inner(random.choice(states))
            for name in states:
                if name == states[0] or random.random() < 0.8:
                    self._update(name)
            if inverse:
                draft.write("{0} = 2 * {0} - {0} @ {1} @ {0}".format(*inverse))
        returned = [random.choice(states) if random.random() < 0.7 else self._output() for _ in range(2)]
        returned = [states[0], *returned][: random.randint(1, 3)] + ([inverse[0]] if inverse else [])
        return draft.finished(returned, inputs, "contracting", self.number)

    def _states(self) -> list[str]:
        """What the loop carries: inputs, or matrices made before it; shapes that others have, or have transposed."""
        draft, names = self.draft, []
        for index in range(self.random.choice([1, 1, 2, 2, 3])):
            name = f"W{index}"
            rows, columns = self.random.choice(list(draft.shapes.values()))
            shape = (rows, columns) if self.random.random() < 0.5 else (columns, rows)
            if self.random.random() < 0.3:
                draft.add_input(name, (str(shape[0]), str(shape[1])), optional=True)
            else:
                draft.write(f"{name} = {self._start(shape)}")
                draft.shapes[name] = shape
            names.append(name)
        return names

    def _start(self, shape: Shape) -> str:
        draft, same = self.draft, self.draft.named(lambda its: its == shape)
        if same and self.random.random() < 0.5:
            return self.random.choice(same)
        if shape[0] == shape[1] and self.random.random() < 0.5:
            return f"0.5 * eye({draft.size(shape[0])})"
        return f"zeros({draft.size(shape[0])}, {draft.size(shape[1])})"

    def _array(self, shape: Shape) -> np.ndarray:
        array = gaussian(self.random, shape)
        return self.random.choice([1.0, 1.0, 0.7]) * array / np.linalg.norm(array, 2)

    # Statements

    def _temporary(self) -> None:
        rows, columns = self.random.choice(list(self.draft.shapes.values()))
        shape = (rows, columns) if self.random.random() < 0.5 else (columns, rows)
        name = self.draft.fresh("p")
        self._bind(name, shape, self._value(shape, 2))

    def _update(self, name: str) -> None:
        shape = self.draft.shapes[name]
        alone = name in self.alone
        self._bind(name, shape, self._descent(name, shape) if alone else self._tamed(self._value(shape, 3)))

    def _inverse_start(self) -> tuple[str, str]:
        """Newton-Schulz for the inverse of a matrix whose eigenvalues are between a half and one."""
        name = self.random.choice(list(self.draft.inputs))
        size = self.draft.size(self.draft.inputs[name][1])
        self.draft.write(f"S = 0.5 * eye({size}) + 0.5 * {name}.T @ {name}")
        self.draft.write(f"V = eye({size})")
        return "V", "S"

    def _inner(self, name: str) -> None:
        """A loop in the loop."""
        count = self.random.randint(1, 4)
        with self.draft.loop(str(count), range(count)):
            self._update(name)
        # After one run it is what the update says, after more it is no worse.
        self.bounds[name] = (max(self.bounds[name][0], 1.0), 1.0)

    def _bind(self, name: str, shape: Shape, value: Bounded) -> None:
        self.draft.write(f"{name} = {value.text}")
        self.draft.shapes[name] = shape
        self.bounds[name] = (value.norm, value.slope)

    def _can_descend(self, name: str) -> bool:
        rows, columns = self.draft.shapes[name]
        return bool(self._constants(rows) and self._constants(columns))

    def _descent(self, name: str, shape: Shape) -> Bounded:
        """Gradient descent on |B - L W R|^2: does not expand for any step up to one, if L and R have norm one."""
        (left, height), (right, width) = (self.random.choice(self._constants(size)) for size in shape)
        target = self._tamed(self._value((height, width), 1), 1.0).text
        step = self.random.choice([0.3, 0.5, 0.9])
        if self.random.random() < 0.5:
            text = f"{name} + {step} * {left}.T @ ({target} - {left} @ {name} @ {right}.T) @ {right}"
        else:
            text = f"({name}.T + {step} * {right}.T @ (({target}).T - {right} @ {name}.T @ {left}.T) @ {left}).T"
        return Bounded(text, np.inf, 1.0)

    def _constants(self, columns: int) -> list[tuple[str, int]]:
        """Inputs with so many columns, as they are or transposed, that no loop changes; and their rows."""
        found = []
        for name in INPUTS:
            rows, width = self.draft.inputs.get(name, (0, 0))
            found += [(name, rows)] * (width == columns) + [(f"{name}.T", width)] * (rows == columns)
        return found

    def _output(self) -> str:
        name = self.random.choice(list(self.draft.shapes))
        return self._value(self.draft.shapes[name], 2).text

    # Values

    def _tamed(self, value: Bounded, slope: float = CONTRACTION) -> Bounded:
        """A multiple in the unit ball that contracts."""
        factor = min(1.0, 1 / value.norm if value.norm else 1.0, slope / value.slope if value.slope else 1.0)
        if factor == 1.0:
            return value
        number = float(f"{0.99 * factor:.3g}")
        return Bounded(f"{number} * ({value.text})", number * value.norm, number * value.slope)

    def _value(self, shape: Shape, depth: int) -> Bounded:
        random = self.random
        if depth <= 0 or random.random() < 0.15:
            return self._leaf(shape)
        form = random.choice(["sum", "difference", "product", "product", "product", "multiple", "transpose"])
        if form == "transpose":
            inner = self._value((shape[1], shape[0]), depth - 1)
            return Bounded(f"({inner.text}).T", inner.norm, inner.slope)
        if form == "multiple":
            number = random.choice([0.5, -0.8, -1, 0.9])
            inner = self._value(shape, depth - 1)
            text = self._indexed(number) if self.indexed and random.random() < 0.5 else f"{number}"
            return Bounded(f"{text} * ({inner.text})", abs(number) * inner.norm, abs(number) * inner.slope)
        if form == "product":
            middle = random.choice([size for its in self.draft.shapes.values() for size in its])
            one = self._value((shape[0], middle), depth - 1)
            two = self._value((middle, shape[1]), depth - 1)
            slope = one.norm * two.slope + one.slope * two.norm
            return Bounded(f"({one.text}) @ ({two.text})", one.norm * two.norm, slope)
        one, two = self._value(shape, depth - 1), self._value(shape, depth - 1)
        sign = "+" if form == "sum" else "-"
        return Bounded(f"({one.text} {sign} {two.text})", one.norm + two.norm, one.slope + two.slope)

    def _indexed(self, number: float) -> str:
        return f"{number} / (t + 1)"

    def _leaf(self, shape: Shape) -> Bounded:
        draft, (rows, columns) = self.draft, shape
        fits = []
        for name, its in draft.shapes.items():
            norm, slope = self.bounds.get(name, (1.0, 0.0))
            if not np.isfinite(norm):
                continue
            # Those that change come more often, and so do both ways to read them.
            often = 3 if slope > 0 else 1
            fits += [Bounded(name, norm, slope)] * (often * (its == shape))
            fits += [Bounded(f"{name}.T", norm, slope)] * (often * (its == (columns, rows)))
        if fits and self.random.random() < 0.95:
            return self.random.choice(fits)
        if rows == columns:
            return Bounded(f"eye({draft.size(rows)})", 1.0, 0.0)
        size = float(np.sqrt(rows * columns))
        return Bounded(f"{1 / size:.3g} * ones({draft.size(rows)}, {draft.size(columns)})", 1.01, 0.0)
