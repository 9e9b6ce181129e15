"""A layer of one's own: linear attention that forgets, trained and compared with the best that doesn't."""

from pathlib import Path

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from descant import AbstractPredictor, LinearRegression, Prompt, best, risk
from descant.figures import Axis, Baseline, Figure, Panel, Series
from descant.figures.static import png
from descant.training import train


class Forgetting(AbstractPredictor):
    """y_hat = v^T (sum_i keep^(n - i) e_i e_i^T / n) U x_query for tokens e_i = (x_i, y_i), the oldest first."""

    v: Float[Array, " e"]
    u: Float[Array, "e d"]
    forget: Float[Array, ""]  # keep = exp(-forget^2), so that it is at most 1

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        tokens = jnp.concatenate([prompt.x, prompt.y[:, None]], axis=1)
        ages = jnp.arange(prompt.n - 1, -1, -1, dtype=tokens.dtype)
        kept = tokens * jnp.exp(-(self.forget**2) * ages)[:, None]
        return self.v @ (kept.T @ tokens / prompt.n) @ self.u @ prompt.x_query


if __name__ == "__main__":
    task = LinearRegression(d=3, n=8, noise=0.5)
    normal = 0.3 * jax.random.normal(jax.random.key(0), (4, 4))
    start = Forgetting(normal[:, 0], normal[:, 1:], jnp.array(0.5))
    found = train(start, task, solver="adam", steps=1000, batch=256, lr=0.01, chunk=20, samples=16384)
    keeps = jnp.exp(-(found.model.forget**2))
    print(f"risk {found.risk.value:.3f} ± {found.risk.standard_error:.3f}, keeps {keeps:.4f}")
    x, y = zip(*((row["step"], row["loss"]) for row in found.rows), strict=True)
    line = Series("with forgetting", x, y, style="line")
    floor = Baseline("best without, exact", risk(best("lsa", task), task).value)
    figure = Figure("own", "It learns to remember", "", (Panel("", Axis("step"), Axis("loss"), (line,), (floor,)),), 1)
    Path("own-layer.png").write_bytes(png(figure))
