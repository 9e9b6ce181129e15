"""Paired timings: absolute times are noise on shared machines, ratios of interleaved runs are not."""

import time
from collections.abc import Callable

import jax
import numpy as np


def ratio(ours: Callable, other: Callable, repeats: int = 9) -> tuple[float, float, float]:
    """Median time of `ours` and of `other`, and the median of their ratios, runs interleaved after a warm-up."""
    jax.block_until_ready((ours(), other()))
    pairs = np.array([(_seconds(ours), _seconds(other)) for _ in range(repeats)])
    return float(np.median(pairs[:, 0])), float(np.median(pairs[:, 1])), float(np.median(pairs[:, 0] / pairs[:, 1]))


def _seconds(call: Callable) -> float:
    start = time.perf_counter()
    jax.block_until_ready(call())
    return time.perf_counter() - start


def best_ratio(ours: Callable, other: Callable, repeats: int = 41) -> tuple[float, float]:
    """Least time of `ours`, and how many times as long the least of `other` is, runs interleaved after a warm-up.

    For calls of milliseconds on a machine that has other work to do: that only ever slows one down.
    """
    jax.block_until_ready((ours(), other()))
    pairs = np.array([(_seconds(ours), _seconds(other)) for _ in range(repeats)])
    least = pairs.min(axis=0)
    return float(least[0]), float(least[1] / least[0])
