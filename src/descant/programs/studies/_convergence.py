"""Does a compiled network converge at the rate that theory gives its algorithm?"""

from dataclasses import dataclass

import numpy as np

from ...figures import Axis, Figure, Panel, Series
from .._compile import compile_program

# Condition numbers of the matrix that a gradient step is taken with.
CONDITIONS = (1, 10, 100, 1000)
# The step is this fraction of 1 / lambda_max, so that there is a rate to fit at condition number 1 too.
STEP = 0.5
CHUNKS = 9
LONGEST = 100
# The first chunks are left out of the fit: until then faster modes still count.
FITTED_FROM = 4


@dataclass(frozen=True)
class Convergence:
    """Distances |w_T - ridge| for some T, the slope of their logarithm, and the theoretical one."""

    condition: int
    iterations: tuple[int, ...]
    distances: tuple[float, ...]
    slope: float
    theory: float

    @property
    def deviation(self) -> float:
        """Relative difference of the slopes."""
        return abs(self.slope / self.theory - 1)


def convergence(condition: int, *, n: int = 20, d: int = 4, lam: float = 0.5, seed: int = 0) -> Convergence:
    """Ridge regression by gradient descent, compiled, on a problem whose X^T X + lam I has this condition number.

    The slowest mode shrinks by 1 - eta lambda_min in each step, so log |w_T - ridge| falls with that slope. A network
    of at most 100 steps is run again and again on its own result, which is the network for all of them.
    """
    x, y = problem(condition, n=n, d=d, lam=lam, seed=seed)
    gram = x.T @ x + lam * np.eye(d)
    eigenvalues = np.linalg.eigvalsh(gram)
    exact = np.linalg.solve(gram, x.T @ y)
    eta, steps = STEP / eigenvalues[-1], min(2 * condition + 2, LONGEST)
    runs = round((2 * condition + 2) / steps)
    network = compile_program("ridge", n=n, d=d, eta=float(eta), lam=lam, T=steps)
    w = np.zeros((d, 1))
    distances = []
    for _ in range(CHUNKS):
        for _ in range(runs):
            w = network.run({"X": x, "y": y, "w": w})["w"]
        distances.append(float(np.linalg.norm(w - exact)))
    iterations = tuple(steps * runs * (index + 1) for index in range(CHUNKS))
    slope = np.polyfit(iterations[FITTED_FROM:], np.log(distances[FITTED_FROM:]), 1)[0]
    return Convergence(condition, iterations, tuple(distances), float(slope), float(np.log1p(-eta * eigenvalues[0])))


def problem(condition: int, *, n: int, d: int, lam: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs built through their singular values: X^T X + lam I has log-spaced eigenvalues from 2 lam on."""
    random = np.random.default_rng(seed)
    left = np.linalg.qr(random.standard_normal((n, d)))[0]
    right = np.linalg.qr(random.standard_normal((d, d)))[0]
    eigenvalues = 2 * lam * np.geomspace(1, condition, d)
    x = left @ np.diag(np.sqrt(eigenvalues - lam)) @ right.T
    return x, x @ random.standard_normal((d, 1)) + 0.1 * random.standard_normal((n, 1))


def convergence_figure(found: list[Convergence]) -> Figure:
    """Distance against iterations, with the theoretical slope through the last point."""
    series = []
    for each in found:
        name = f"condition {each.condition}"
        steps = np.geomspace(each.iterations[0], each.iterations[-1], 60)
        line = each.distances[-1] * np.exp(each.theory * (steps - steps[-1]))
        series += [
            Series(f"{name}: slope {each.slope:.5g}", each.iterations, each.distances, style="points", family=name),
            Series(f"theory: slope {each.theory:.5g}", tuple(steps), tuple(line), style="line", family=name),
        ]
    x, y = Axis("iterations T of the compiled network", log=True), Axis("|w_T − ridge|", log=True)
    title = "Compiled gradient descent converges at the rate of gradient descent"
    return Figure("convergence", title, "The points lie on the lines.", (Panel("", x, y, tuple(series)),))
