"""Random programs whose loops depend on their index: rows read and written at places that move, coefficients.

python -m tests.support.index_loops SEED PROGRAMS
"""

import json
import sys
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from descant.programs import Program, compile_program
from descant.programs._compile import candidates
from descant.programs.language import Traced
from descant.programs.weights import check, evaluate_weights, link

COEFFICIENTS = "0.3 / ({0} + 2)", "{0} / ({0} + 3)", "(-1) ** {0}", "0.5 ** {0}", "0.1 * {0}", "0.2 * ({0} % 2)", "0.3"
STATEMENTS = (
    "s = s + {c} * {X}[{row}, :] @ W",
    "s = 0.5 * s - {c} * X[{row}, :]",
    "W = W + {c} * (X[{rows}, :].T @ X[{rows}, :])",
    "W = 0.5 * W + {c} * W.T @ s.T @ s",
    "O[{row}] = s",
    "O[{row}] = s + 0.5 * O[{row}, :]",
    "O = 0.5 * O",
    "X[{row}] = s",
    "a = a + {c} * X @ W",
    "s = s + X.T[:, {row}].T",
    "s = s + constant([[{i} * {i} - 3]]) @ X[1:2, :]",
    "O[{row}, 0:1] = s[:, 0:1]",
    "b = s",
    "s = b @ W",
)


@dataclass
class Loops:
    """A program's text and the sizes it is for."""

    text: str
    settings: dict[str, int]


def write_loops(draw: Random) -> Loops:
    """A random program."""
    n, d = draw.randint(3, 6), draw.randint(1, 3)
    lines = ["a = X", "O = zeros(n, d)", "s = X[0:1, :]", "b = s", "W = 0.5 * eye(d)"]
    for _ in range(draw.randint(1, 2)):
        count = draw.randint(1, min(n, 5))
        head, index = draw.choice(
            [
                (f"range({count})", "t"),
                (f"range({count - 1}, -1, -1)", f"({count - 1} - t)"),
                (f"range(2, {2 + 2 * count}, 2)", "((t - 2) // 2)"),
            ]
        )
        lines.append(f"for t in {head}:")
        lines += [f"    {_statement(draw, index, count, n)}" for _ in range(draw.randint(1, 4))]
        if draw.random() < 0.3:
            inner = draw.randint(1, n + 1 - count)
            lines.append(f"    for k in range({inner}):")
            ways = [("k", inner), (index, count), (f"({index} + k)", count + inner - 1)]
            lines += [f"        {_statement(draw, *draw.choice(ways), n)}" for _ in range(draw.randint(1, 3))]
    lines.append("return " + ", ".join(draw.sample(["s", "O", "W", "a", "X"], draw.randint(1, 5))))
    return Loops('def p(X: "n d"):\n' + "".join(f"    {line}\n" for line in lines), {"n": n, "d": d})


def _statement(draw: Random, index: str, count: int, n: int) -> str:
    return draw.choice(STATEMENTS).format(
        c=draw.choice(COEFFICIENTS).format(index),
        i=index,
        row=_rows(draw, index, count, n, 1),
        rows=_rows(draw, index, count, n, draw.choice([1, 2])),
        X=draw.choice(["X", "a", "(0.5 * X)", "O"]),
    )


def _rows(draw: Random, index: str, count: int, n: int, height: int) -> str:
    """Rows that move with the index, inside of n for all of count iterations."""
    steps = [step for step in (1, 1, 1, -1, 2, 0) if abs(step) * (count - 1) + height <= n]
    step = draw.choice(steps)
    span = abs(step) * (count - 1)
    first = draw.randint(0, n - height - span) + (span if step < 0 else 0)
    return f"{first} + {step} * {index} : {first + height} + {step} * {index}"


LMS = """
def lms(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.1):
    for t in range(n):
        x = X[t : t + 1, :]
        w = w + eta * x.T @ (y[t : t + 1, :] - x @ w)
    return w
"""
RIDGE = """
def ridge(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.01, lam=0.5, T=10):
    for t in range(T):
        w = w - eta / (t + 1) * (X.T @ (X @ w) - X.T @ y + lam * w)
    return w
"""
MEASURED = {
    "lms": (Program.from_text(LMS), {"n": 100, "d": 4}),
    "kalman": ("kalman", {"n": 24, "d": 2}),
    "ridge": (Program.from_text(RIDGE), {"n": 20, "d": 5}),
    "chebyshev": ("chebyshev", {"n": 20, "d": 5}),
    "ridge, 10 steps": (Program.from_text(RIDGE), {"n": 20, "d": 5}),
    "ridge, 100 steps": (Program.from_text(RIDGE), {"n": 20, "d": 5, "T": 100}),
    "ridge, 1000 times": ("ridge", {"n": 20, "d": 5, "T": 1000}),
}


ROLLED = {
    "rows": "for t in range(T):\n x = X[t:t + 1, :]\n w = w + eta * x.T @ (y[t:t + 1, :] - x @ w)\nreturn w",
    "last first": "for t in range(T, -1, -1):\n w = w + eta * X[t:t + 1, :].T\nreturn w",
    "every other row": "for t in range(2):\n w = w + X[2 * t:2 * t + 2, :].T @ y[2 * t:2 * t + 2, :]\nreturn w",
    "two offsets": "for t in range(T):\n w = w + X[t:t + 1, :].T - 0.5 * X[t + 1:t + 2, :].T\nreturn w",
    "cycle": "for t in range(6):\n w = w + t * X[t % 4:t % 4 + 1, :].T - X[(t + 1) % 4:(t + 1) % 4 + 1, :].T\nreturn w",
    "by turns, rows": "for t in range(7):\n w = 0.5 * w + X[1 + t % 3:2 + t % 3, :].T\nreturn w",
    "cyclic": "for t in range(9):\n w = w + w\n y[3 * t % 4:3 * t % 4 + 1] = X[t % 4:t % 4 + 1, :] @ w\nreturn y",
    "some rows": "for t in range(1, 3):\n w = w + X[t:t + 1, :].T\nreturn w",
    "columns": "for t in range(d):\n y = y + eta * X[:, t:t + 1]\nreturn y",
    "both": "s = y[0:1, :]\nfor t in range(T):\n s = s + X[t + 1:t + 2, t:t + 1]\nreturn s",
    "of a transpose": "for t in range(T):\n w = w + X.T[:, t:t + 1]\nreturn w",
    "of a product": "for t in range(T):\n w = w + (X @ X.T @ X)[t:t + 1, :].T\nreturn w",
    "a step": "for t in range(T):\n w = w - eta / (t + 1) * (X.T @ (X @ w - y))\nreturn w",
    "many steps": "for t in range(11):\n w = w - eta / (t + 1) * (X.T @ (X @ w - y))\nreturn w",
    "momentum": "v = w\nfor t in range(T):\n v = t / (t + 3) * v + X.T @ (y - X @ w)\n w = w + eta * v\nreturn w",
    "signs": "for t in range(T):\n w = w + (-1) ** t * X.T @ y\nreturn w",
    "counted": "for t in range(T):\n w = w + t * w + 0.5 ** t * X.T @ y\nreturn w",
    "by turns": "for t in range(5):\n w = w + (t % 2) * X.T @ y + (t % 3) / 7 * w\nreturn w",
    "of a matrix": "for t in range(T):\n X = X + 1 / (t + 3) * y @ y.T @ X\nreturn X",
    "of a row": "z = w.T\nfor t in range(T):\n z = 0.5 * z + y.T @ X / (t + 3)\nreturn z",
    "constants": "for t in range(T):\n w = w + constant([[t * t], [1 / (t + 7)], [2]])\nreturn w",
    "writes": "for t in range(T):\n y = 0.5 * y\n y[t + 1:t + 2] = y[t:t + 1, :] + X[t:t + 1, :] @ w\nreturn y",
    "writes into a copy": "O = X\nfor t in range(T):\n O[t:t + 1] = w.T\n w = w + X[t:t + 1, :].T\nreturn O, w",
    "nested": "for k in range(2):\n for t in range(T):\n  w = w + eta * X[t:t + 1, :].T / (t + 1)\nreturn w",
    "outer index": "for t in range(T):\n for k in range(2):\n  w = w + X[t:t + 1, :].T - w / (t + 2)\nreturn w",
    "both indices": "for t in range(2):\n for k in range(T):\n  w = w + t * X[k:k + 1, :].T - w / (k + 2)\nreturn w",
    "outer constant": "for t in range(T):\n for k in range(2):\n  w = w + constant([[t * t], [1], [t]]) / 3\nreturn w",
    "read after": "for t in range(T):\n x = X[t:t + 1, :]\n w = w + x.T\nreturn x, w",
}  # fmt: skip


def program(body: str) -> Program:
    """A program with this body."""
    head = 'def p(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.1, T=3):\n'
    return Program.from_text(head + "".join(f"    {line}\n" for line in body.split("\n")))


def inputs_of(traced: Traced, seed: int = 0) -> dict[str, np.ndarray]:
    """Random inputs."""
    random = np.random.default_rng(seed)
    return {each.name: 0.5 * random.standard_normal(each.shape) for each in traced.inputs}


def error_of(name: str) -> float:
    """The largest error of all networks for a loop that was rolled up."""
    traced = program(ROLLED[name]).trace(n=4, d=3)
    inputs, worst = inputs_of(traced), 0.0
    expected = traced.evaluate(inputs)
    for body in traced.others:
        for each in candidates(replace(traced, body=body, others=())):
            weights = link(each.schedule, each.layout)
            assert check(each.schedule, each.layout, weights) > 0
            found = evaluate_weights(each.schedule, each.layout, weights, inputs)
            worst = max(worst, *(float(np.abs(a - b).max()) for a, b in zip(found, expected.results, strict=True)))
    return worst / expected.largest


def compare(number: int) -> list[float]:
    """Errors of all ways to write a random program, relative to the largest value on the way."""
    written = write_loops(Random(number))
    traced = Program.from_text(written.text).trace(written.settings)
    inputs = inputs_of(traced, number)
    with np.errstate(all="ignore"):
        expected = traced.evaluate(inputs)
    if not expected.largest < 1e40:
        return []
    errors = []
    for body in traced.others:
        found = replace(traced, body=body).evaluate(inputs).results
        worst = max(float(np.abs(a - b).max()) for a, b in zip(found, expected.results, strict=True))
        errors.append(worst / max(expected.largest, 1e-300))
    return errors


def main(seed: int, programs: int) -> None:
    """Print the sizes of a few programs, and how random ones compare."""
    parameters = {}
    for name, (program, settings) in MEASURED.items():
        prefer = "parameters" if "steps" in name else "work"
        parameters[name] = compile_program(program, settings, prefer=prefer).sizes.parameters
    rolled = {name: error_of(name) for name in ROLLED}
    errors = [error for number in range(seed, seed + programs) for error in compare(number)]
    found = {"parameters": parameters, "loops": len(errors), "worst": max(errors)}
    found["errors"] = rolled
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
