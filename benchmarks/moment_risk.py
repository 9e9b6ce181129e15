"""The risk of ridge regression to the same standard error: moment space against a plain NumPy loop over prompts."""

import jax
import numpy as np

from descant import LinearRegression, UniformNoise, best, risk

from ._timing import ratio

D, N, HIGH = 10, 20, 5.0
SAMPLES = 16_384


def plain(prompts: int, seed: int = 0) -> tuple[float, float]:
    """What one would write first: draw tokens, solve, square the error on one query."""
    rng = np.random.default_rng(seed)
    errors = np.empty(prompts)
    for index in range(prompts):
        w, sigma = rng.standard_normal(D), rng.uniform(0, HIGH)
        x = rng.standard_normal((N, D))
        y = x @ w + sigma * rng.standard_normal(N)
        query = rng.standard_normal(D)
        found = np.linalg.solve(x.T @ x + sigma**2 * np.eye(D), x.T @ y)
        errors[index] = (found @ query - w @ query) ** 2
    return float(errors.mean()), float(errors.std(ddof=1) / prompts**0.5)


def main() -> None:
    task = LinearRegression(D, N, noise=UniformNoise(HIGH))
    ridge = best("ridge", task)
    ours = risk(ridge, task, "moments", samples=SAMPLES)
    value, error = plain(SAMPLES)
    assert abs(value - ours.value) < 5 * np.hypot(error, ours.standard_error)
    # The plain estimate needs this many more prompts for the same standard error.
    more = (error / ours.standard_error) ** 2
    fast, slow, times = ratio(
        lambda: risk(ridge, task, "moments", samples=SAMPLES, key=jax.random.key(1)).value, lambda: plain(SAMPLES)[0], 3
    )
    print(
        f"moment risk: {SAMPLES} contexts {fast:.3f} s, plain NumPy {slow:.3f} s, ratio {times:.2f}; "
        f"at equal standard error {times / more:.3f}"
    )


if __name__ == "__main__":
    main()
