"""Ridge problems and plain gradient descent on them, in NumPy."""

from typing import NamedTuple

import numpy as np


class Ridge(NamedTuple):
    """|y - X w|^2 / 2 + lam |w|^2 / 2, the step size, and a query."""

    x: np.ndarray
    y: np.ndarray
    query: np.ndarray
    lam: float
    eta: float

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """X^T (X w - y) + lam w."""
        return self.x.T @ (self.x @ w - self.y) + self.lam * w

    def path(self, w: np.ndarray, steps: int) -> list[np.ndarray]:
        """w and what gradient descent makes of it."""
        found = [w]
        for _ in range(steps):
            found.append(found[-1] - self.eta * self.gradient(found[-1]))
        return found

    def solution(self) -> np.ndarray:
        """The ridge estimate."""
        return np.linalg.solve(self.x.T @ self.x + self.lam * np.eye(self.x.shape[1]), self.x.T @ self.y)


def draw(n: int, d: int, random: np.random.Generator) -> Ridge:
    """A random problem with a step size of at most 1 over its largest eigenvalue."""
    x, y, query = (random.standard_normal(shape) for shape in ((n, d), n, d))
    lam = float(random.uniform(0.1, 2.0))
    return Ridge(x, y, query, lam, float(random.uniform(0.3, 1.0) / (np.linalg.norm(x, 2) ** 2 + lam)))
