"""The table of the documentation: what the library compiles to, beside what the paper builds by hand."""

from dataclasses import dataclass

import numpy as np

from .._compile import compile_program
from .._compiled import Sizes
from .._library import find
from ._degree import least_blocks

# Sizes and numbers at which each program of the library is measured.
SETTINGS: dict[str, dict[str, float]] = {
    "ridge": {"n": 20, "d": 5, "T": 10},
    "momentum": {"n": 20, "d": 5, "T": 10},
    "chebyshev": {"n": 20, "d": 5, "T": 10},
    "nesterov": {"n": 20, "d": 5, "T": 10},
    "conjugate_gradient": {"n": 20, "d": 5, "T": 4, "K": 30},
    "newton_schulz": {"n": 5, "T": 20, "scale": 0.05},
    "ridge_newton_schulz": {"n": 20, "d": 5, "T": 20},
    "gd_beta": {"n": 20, "d": 5},
    "gd_plus_plus": {"n": 20, "d": 5, "T": 5},
    "td": {"n": 20, "d": 5, "T": 10},
    "kernel_ridge": {"n": 6, "d": 2, "k": 3, "T": 20},
    "power": {"n": 6, "k": 2, "T": 10},
    "neumann": {"n": 5, "k": 2, "T": 10},
    "power_iteration": {"n": 6, "T": 10, "K": 20},
    "matrix_sqrt": {"n": 5, "T": 15},
    "lms": {"n": 20, "d": 4},
    "deltanet": {"n": 10, "d": 4, "e": 3},
    "kalman": {"n": 4, "d": 2, "K": 10},
}
# Relative to the largest value on the way; every row is below this.
LARGEST_ERROR = 1e-14
# What the paper's hand constructions take, for the same n and d, where it has one: rows x columns, blocks, heads.
BY_HAND = {
    "ridge": ("25 × 9", 20, 40),
    "gd_beta": ("21 × 7", 2, 4),
}


@dataclass(frozen=True)
class Entry:
    """A program with its settings, its sizes, the fewest blocks that it can have, and its error.

    The error is relative to the largest value on the way.
    """

    name: str
    settings: dict[str, float]
    sizes: Sizes
    least: int
    error: float


def entry(name: str, *, hoist: bool = True, seed: int = 0) -> Entry:
    """Compile a program of the library and run it on a random problem."""
    settings = SETTINGS[name]
    program = find(name)
    traced = program.trace(settings)
    random = np.random.default_rng(seed)
    inputs = {each.name: 0.5 * random.standard_normal(each.shape) for each in traced.inputs}
    # Roots and eigenvectors are for matrices that are positive definite.
    inputs |= {name: each @ each.T for name, each in inputs.items() if each.shape[0] == each.shape[1]}
    compiled = compile_program(program, settings, hoist=hoist)
    direct = traced.evaluate(inputs)
    found = compiled.run(inputs).values()
    error = max(float(np.abs(a - b).max()) for a, b in zip(direct.results, found, strict=True)) / direct.largest
    return Entry(name, settings, compiled.sizes, least_blocks(traced), error)


def table() -> str:
    """The table in Markdown; that errors are below the bound in it is for a test."""
    lines = [
        "| program | settings | m × n | blocks | at least | heads | parameters | error | "
        "by hand: m × n | blocks | heads |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in SETTINGS:
        lines.append(_line(name, entry(name), BY_HAND.get(name, ("", "", ""))))
        if name == "ridge":
            lines.append(_line("ridge, `hoist=False`", entry(name, hoist=False), BY_HAND["ridge"]))
    return "\n".join(lines)


def _line(name: str, found: Entry, by_hand: tuple) -> str:
    settings = ", ".join(f"{key}={value:g}" for key, value in found.settings.items())
    sizes = found.sizes
    cells = [
        name if "`" in name else f"`{name}`",
        settings,
        f"{sizes.rows} × {sizes.columns}",
        sizes.blocks,
        found.least,
        sizes.heads,
        sizes.parameters,
        f"< {LARGEST_ERROR:g}",
        *by_hand,
    ]
    return "| " + " | ".join(map(str, cells)) + " |"
