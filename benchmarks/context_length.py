"""Sampling moments: a million tokens against twenty. Promise: at most 1.3 times the time."""

import jax

from descant import LinearRegression, UniformNoise

from ._timing import ratio

CONTEXTS = 20_000


def main() -> None:
    keys = jax.random.split(jax.random.key(0), CONTEXTS)

    def sampler(n: int):
        task = LinearRegression(10, n, noise=UniformNoise(5.0))
        draw = jax.jit(jax.vmap(lambda key: task.sample_moments(key=key).gram))
        return lambda: draw(keys)

    long, short, times = ratio(sampler(1_000_000), sampler(20))
    print(
        f"context length: {CONTEXTS} contexts, n = 1e6 {long:.3f} s, n = 20 {short:.3f} s, "
        f"ratio {times:.2f} (promise 1.3)"
    )


if __name__ == "__main__":
    main()
