"""Which changes of the input's layout break a fixed network, and does recompiling mend it?"""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from .._compile import compile_program
from .._compiled import CompiledProgram
from ..language import Program

N, D, T, ETA, LAM = 12, 3, 15, 0.02, 0.5
# H of the compiled ridge regression: X in columns 0 to 2, y in 3, w in 4; 12 rows.
ROWS, COLUMNS = N, D + 2

# The same algorithm, told where its variables are in one matrix.
MENDED = """
def mended(H: "{rows} {columns}", *, eta={eta}, lam={lam}, T={steps}):
    X = {x}
    y = {y}
    w = {w}
    for t in range(T):
        w = w - eta * (X.T @ (X @ w) - X.T @ y + lam * w)
    return w
"""


@dataclass(frozen=True)
class Change:
    """A change of H, and where X, y and w are afterwards, as slices of the new H."""

    name: str
    apply: Callable[[np.ndarray], np.ndarray]
    x: str = "H[:, 0:3]"
    y: str = "H[:, 3:4]"
    w: str = "H[0:3, 4:5]"
    keeps_shape: bool = True


@dataclass(frozen=True)
class Outcome:
    """Relative errors of the fixed network, None if it can't take the input at all, and of the one compiled anew."""

    name: str
    fixed: float | None
    recompiled: float

    @property
    def broken(self) -> bool:
        """Whether the fixed network gives another answer."""
        return self.fixed is None or self.fixed > 1e-9


def changes() -> list[Change]:
    """The changes that are tried."""
    order = np.random.default_rng(1).permutation(N)

    def shuffled(h: np.ndarray) -> np.ndarray:
        found = h.copy()
        found[:, : D + 1] = h[order, : D + 1]
        return found

    def padded(h: np.ndarray) -> np.ndarray:
        found = h.copy()
        found[-3:, : D + 1] = 0
        return found

    def noisy(h: np.ndarray) -> np.ndarray:
        found = h.copy()
        found[D:, 4] = 1.0
        return found

    def lowered(h: np.ndarray) -> np.ndarray:
        found = h.copy()
        found[:, 4] = np.roll(h[:, 4], 2)
        return found

    wide = "H[0:3, :].T"
    return [
        Change("none", lambda h: h),
        Change("samples reordered", shuffled),
        Change("last samples zeroed", padded),
        Change("y before X", lambda h: h[:, [3, 0, 1, 2, 4]], x="H[:, 1:4]", y="H[:, 0:1]"),
        Change("w before X", lambda h: h[:, [4, 0, 1, 2, 3]], x="H[:, 1:4]", y="H[:, 4:5]", w="H[0:3, 0:1]"),
        Change("w two rows lower", lowered, w="H[2:5, 4:5]"),
        Change("ones below w", noisy),
        Change("an empty column before X", lambda h: np.hstack([np.zeros((N, 1)), h]),
               "H[:, 1:4]", "H[:, 4:5]", "H[0:3, 5:6]", keeps_shape=False),
        Change("H transposed", lambda h: h.T, wide, "H[3:4, :].T", "H[4:5, 0:3].T", keeps_shape=False),
    ]  # fmt: skip


def input_format(seed: int = 0) -> list[Outcome]:
    """Run the fixed network and the one that was compiled for the new layout on every change."""
    fixed = compile_program("ridge", n=N, d=D, T=T, eta=ETA, lam=LAM)
    random = np.random.default_rng(seed)
    h = np.zeros((ROWS, COLUMNS))
    h[:, :D], h[:, D], h[:D, 4] = random.standard_normal((N, D)), random.standard_normal(N), random.standard_normal(D)
    return [_outcome(fixed, change, h) for change in changes()]


def _outcome(fixed: CompiledProgram, change: Change, h: np.ndarray) -> Outcome:
    changed = change.apply(h)
    text = MENDED.format(
        rows=changed.shape[0], columns=changed.shape[1], eta=ETA, lam=LAM, steps=T, x=change.x, y=change.y, w=change.w
    )
    program = Program.from_text(text)
    expected = program.trace().evaluate({"H": changed}).results[0]
    scale = float(np.abs(expected).max())
    mended = compile_program(program).evaluate({"H": changed})["w"]
    error = None
    if change.keeps_shape:
        found = np.asarray(fixed.network(jnp.asarray(changed)))
        output = fixed.description.outputs[0]
        error = float(np.abs(found[: output.rows, output.column : output.column + 1] - expected).max()) / scale
    return Outcome(change.name, error, float(np.abs(mended - expected).max()) / scale)
