"""Random programs, as text: valid ones of every shape, and ways to spoil them."""

import math
import re
from dataclasses import dataclass
from random import Random

import numpy as np

LETTERS = {"n": (2, 5), "d": (1, 4), "k": (1, 3)}


@dataclass(frozen=True)
class Written:
    """A program's text, its settings, and arrays to run it on."""

    text: str
    settings: dict[str, float]
    inputs: dict[str, np.ndarray]


def write_program(random: Random) -> Written:
    """A program that must compile."""
    return _Writer(random).program()


class Shaken(np.ndarray):
    """A matrix whose products are rounded in another way each time."""

    random = np.random.default_rng(0)

    def __matmul__(self, other):
        return self._shake(np.matmul(np.asarray(self), np.asarray(other)))

    def __rmatmul__(self, other):
        return self._shake(np.matmul(np.asarray(other), np.asarray(self)))

    def _shake(self, product: np.ndarray) -> "Shaken":
        return (product * (1 + 2.0**-52 * self.random.standard_normal(product.shape))).view(Shaken)


def by_numpy(written: Written, kind: type[np.ndarray] = np.ndarray) -> list[np.ndarray]:
    """What the text means, executed by Python itself: for tests only, the library never does this."""
    names = {
        "eye": np.eye,
        "zeros": lambda n, d: np.zeros((n, d)),
        "ones": lambda n, d: np.ones((n, d)),
        "constant": lambda rows: np.array(rows, dtype=float),
        "hstack": np.hstack,
        "vstack": np.vstack,
        "sqrt": math.sqrt,
        "cos": math.cos,
        **{name: value for name, value in written.settings.items() if name in LETTERS},
    }
    # Matrices of a program are values: += makes a new one, where NumPy would change the old one under all its names.
    exec(re.sub(r"(\w+) \+= (.*)", r"\1 = \1 + (\2)", written.text), names)
    keywords = {name: value for name, value in written.settings.items() if name not in LETTERS}
    inputs = {name: value.view(kind) for name, value in written.inputs.items()}
    value = names["program"](**inputs, **keywords)
    return [np.asarray(each) for each in (value if isinstance(value, tuple) else (value,))]


class _Writer:
    def __init__(self, random: Random):
        self.random = random
        self.sizes = {letter: random.randint(*bounds) for letter, bounds in LETTERS.items()}
        self.shapes: dict[str, tuple[str, str]] = {}
        self.lines: list[str] = []
        self.fresh = 0
        self.indices: list[str] = []

    def program(self) -> Written:
        random = self.random
        parameters = []
        for name in ["X", "y", "A", "B"][: random.randint(1, 4)]:
            self.shapes[name] = (self._size(), self._size())
        for name, (rows, columns) in list(self.shapes.items()):
            parameters.append(f'{name}: "{rows} {columns}"')
        if random.random() < 0.4:
            self.shapes["w"] = (self._size(), self._size())
            parameters.append('w: "{} {}" = 0'.format(*self.shapes["w"]))
        inputs = {
            name: 0.7 * np.array([[random.gauss(0, 1) for _ in range(self._n(c))] for _ in range(self._n(r))])
            for name, (r, c) in self.shapes.items()
        }
        if "w" in inputs and random.random() < 0.3:
            inputs["w"] = np.zeros_like(inputs["w"])
        for _ in range(random.randint(1, 4)):
            self._statement("    ", 0)
        returned = []
        for _ in range(random.randint(1, 3)):
            shape = random.choice(list(self.shapes.values()))
            named = [name for name, its in self.shapes.items() if its == shape]
            returned.append(random.choice(named) if random.random() < 0.5 else self._value(shape, 2))
        head = f"def program({', '.join(parameters)}, *, a=0.5, b=-0.3, T=2):\n"
        text = head + "".join(self.lines) + f"    return {', '.join(returned)}\n"
        used = {size for size in LETTERS if any(size in part.split('"')[1].split() for part in parameters)}
        # Letters that no parameter has are written as numbers.
        for letter in set(LETTERS) - used:
            text = text.replace(f"<{letter}>", str(self.sizes[letter]))
        for letter in used:
            text = text.replace(f"<{letter}>", letter)
        settings = {letter: self.sizes[letter] for letter in sorted(used)}
        settings |= {"a": round(random.uniform(-1, 1), 3), "b": random.choice([0.25, -0.5]), "T": random.randint(0, 4)}
        return Written(text, settings, inputs)

    def _size(self) -> str:
        return self.random.choice(["n", "n", "d", "d", "k", "1", "2", "3"])

    def _n(self, size: str) -> int:
        return self.sizes.get(size) or int(size)

    def _number(self, size: str) -> str:
        return f"<{size}>" if size in self.sizes else size

    def _statement(self, indent: str, depth: int) -> None:
        random = self.random
        if random.random() < (0.35 if depth < 2 else 0.0):
            index = "t" * (depth + 1)
            count = random.choice(["T", "T", "2", "3", "1"])
            self.lines.append(f"{indent}for {index} in range({count}):\n")
            self.indices.append(index)
            before = dict(self.shapes)
            for _ in range(random.randint(1, 3)):
                self._statement(indent + "    ", depth + 1)
            if random.random() < 0.3:
                # Values handed from name to name, as momentum methods do.
                name = random.choice(list(before))
                same = [other for other, shape in before.items() if shape == before[name]]
                self.lines.append(f"{indent}    {name} = {random.choice(same)}\n")
            self.indices.pop()
            self.shapes = before  # names made inside may not exist if the loop runs zero times
            return
        if self.indices or random.random() < 0.4:
            name = random.choice(list(self.shapes))
            value = self._value(self.shapes[name], 3)
            if random.random() < 0.15:
                self.lines.append(f"{indent}{name} += {value}\n")
            else:
                self.lines.append(f"{indent}{name} = {value}\n")
            return
        name = f"v{self.fresh}"
        self.fresh += 1
        shape = (self._size(), self._size())
        self.lines.append(f"{indent}{name} = {self._value(shape, 3)}\n")
        self.shapes[name] = shape

    def _value(self, shape: tuple[str, str], depth: int) -> str:
        random = self.random
        leaves = [self._leaf]
        inner = [self._sum, self._product, self._product, self._product, self._multiple, self._stack, self._slice]
        return random.choice(leaves if depth == 0 else [*leaves, *inner])(shape, depth)

    def _leaf(self, shape: tuple[str, str], depth: int) -> str:
        rows, columns = shape
        named = [name for name, its in self.shapes.items() if its == shape]
        named += [f"{name}.T" for name, its in self.shapes.items() if its == shape[::-1]] * 2
        if named and self.random.random() < 0.9:
            return self.random.choice(named)
        if depth > 0 and self.random.random() < 0.5:
            return self._product(shape, min(depth, 1))
        if rows == columns and self.random.random() < 0.6:
            return f"({self._scalar()} * eye({self._number(rows)}))"
        if self.random.random() < 0.3:
            return f"zeros({self._number(rows)}, {self._number(columns)})"
        if self._n(rows) * self._n(columns) <= 6 and rows not in self.sizes and columns not in self.sizes:
            entries = [[self.random.randint(-2, 2) for _ in range(int(columns))] for _ in range(int(rows))]
            return f"constant({entries})"
        return f"({self._scalar()} * ones({self._number(rows)}, {self._number(columns)}))"

    def _sum(self, shape: tuple[str, str], depth: int) -> str:
        sign = self.random.choice("+-")
        return f"({self._value(shape, depth - 1)} {sign} {self._value(shape, depth - 1)})"

    def _product(self, shape: tuple[str, str], depth: int) -> str:
        inner = self.random.choice([size for its in self.shapes.values() for size in its])
        return f"({self._value((shape[0], inner), depth - 1)} @ {self._value((inner, shape[1]), depth - 1)})"

    def _multiple(self, shape: tuple[str, str], depth: int) -> str:
        value = self._value(shape, depth - 1)
        form = self.random.randrange(4)
        if form == 0:
            return f"(-{value})"
        if form == 1:
            return f"({value} / {self.random.choice(['2', '(T + 1)', 'sqrt(3)'])})"
        return f"({self._scalar()} * {value})"

    def _scalar(self) -> str:
        choices = ["a", "b", "0.5", "2", "(a + b)", "a ** 2", "0"]
        if self.indices and self.random.random() < 0.25:
            choices = [f"cos({self.indices[-1]})", f"1 / ({self.indices[0]} + 2)", f"0.1 * {self.indices[-1]}"]
        return self.random.choice(choices)

    def _stack(self, shape: tuple[str, str], depth: int) -> str:
        """Halves stacked, where the size is a number; otherwise a slice of a stack."""
        rows, columns = shape
        if columns in ("2", "3"):
            rest = str(int(columns) - 1)
            parts = [self._value((rows, "1"), depth - 1), self._value((rows, rest), depth - 1)]
            return f"hstack([{', '.join(parts)}])"
        if rows in ("2", "3"):
            rest = str(int(rows) - 1)
            parts = [self._value(("1", columns), depth - 1), self._value((rest, columns), depth - 1)]
            return f"vstack([{', '.join(parts)}])"
        first, second = self._value(shape, depth - 1), self._value(shape, depth - 1)
        if self.random.random() < 0.5:
            return f"vstack([{first}, {second}])[{self._number(rows)}:, :]"
        return f"hstack([{first}, {second}])[:, :{self._number(columns)}]"

    def _slice(self, shape: tuple[str, str], depth: int) -> str:
        """Part of something larger."""
        rows, columns = self._n(shape[0]), self._n(shape[1])
        larger = [
            (name, its) for name, its in self.shapes.items() if self._n(its[0]) >= rows and self._n(its[1]) >= columns
        ]
        if not larger:
            return self._value(shape, depth - 1)
        name, (full_rows, full_columns) = self.random.choice(larger)
        top = self.random.randint(0, self._n(full_rows) - rows)
        left = self.random.randint(0, self._n(full_columns) - columns)
        return f"{name}[{top}:{top + rows}, {left}:{left + columns}]"


WORDS = [
    "@",
    "+",
    "-",
    "*",
    "/",
    "**",
    ".T",
    "(",
    ")",
    "[",
    "]",
    ":",
    ",",
    "=",
    "0",
    "1.5",
    "X",
    "y",
    "zz",
    "t",
    "n",
    "if",
    "while",
    "for",
    "return",
    "def",
    "yield",
    "import",
    "_",
    "None",
    "é",
]
WORDS += ["inv(X)", "X / X", "X * X", "exp(X)", "lambda: 0", "X > 0", "import os", "eye(0)", "eye(X)", "range(X)"]
WORDS += ["range(2.5)", "X[0]", "X[9:99]", "X[0:1:2]", "hstack(X)", "9 ** 99999", "1 / 0", "a.b", '"text"', "1e999"]
WORDS += ["\\", "\n", "\t", "\x00", "__import__('os')", "X.shape", "print(X)", "await X"]


def spoilt(text: str, random: Random) -> str:
    """A text with one to three mistakes: words dropped, doubled, swapped or put where they don't belong."""
    for _ in range(random.randint(1, 3)):
        parts = re.split(r"(\W)", text)
        place = random.randrange(len(parts))
        form = random.randrange(5)
        if form == 0:
            del parts[place]
        elif form == 1:
            parts[place] = random.choice(WORDS)
        elif form == 2:
            parts.insert(place, f" {random.choice(WORDS)} ")
        elif form == 3:
            other = random.randrange(len(parts))
            parts[place], parts[other] = parts[other], parts[place]
        else:
            lines = text.split("\n")
            lines.insert(random.randrange(len(lines)), f"    {random.choice(['X = ', ''])}{random.choice(WORDS)}")
            parts = ["\n".join(lines)]
        text = "".join(parts)
    return text
