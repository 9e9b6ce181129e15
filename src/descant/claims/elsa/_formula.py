"""The layer's formula written out in NumPy, and matrices with blocks in given places."""

import jax.numpy as jnp
import numpy as np

from ...attention import ELSA, ELSABlock
from ...programs.paper import Part

# Taller than wide, wider than tall, square: which forms of a head exist depends on it.
SHAPES = ((9, 7), (7, 9), (8, 8))


def output(block: ELSABlock, h: np.ndarray) -> np.ndarray:
    """sum_k (H W3 + B3)(H W1 + B1)^T(H W2 + B2), plus H if the block has a residual."""
    found = h.copy() if block.residual else np.zeros_like(h)
    for head in range(block.heads):
        query, key, value = (
            h @ np.asarray(w)[head] + (0.0 if b is None else np.asarray(b)[head])
            for w, b in ((block.w3, block.b3), (block.w1, block.b1), (block.w2, block.b2))
        )
        found = found + query @ (key.T @ value)
    return found


def outputs(network: ELSA, h: np.ndarray) -> list[np.ndarray]:
    """H before the first block and after each one."""
    found = [h]
    for block in network.unrolled():
        found.append(output(block, found[-1]))
    return found


def drawn(
    m: int, n: int, random: np.random.Generator, *, heads: int = 4, bias: bool = True, residual: bool = False
) -> ELSABlock:
    """A block with standard normal weights and, with `bias`, biases."""
    weights = [jnp.asarray(random.standard_normal((heads, n, n))) for _ in range(3)]
    biases = [jnp.asarray(random.standard_normal((heads, m, n))) for _ in range(3)] if bias else []
    return ELSABlock(*weights, *biases, residual=residual)


def filled(
    shape: tuple[int, int], parts: list[Part], random: np.random.Generator
) -> tuple[np.ndarray, list[np.ndarray]]:
    """An H that is zero but for random blocks in these places, and the blocks."""
    h, blocks = np.zeros(shape), []
    for part in parts:
        blocks.append(random.standard_normal((part.rows, part.columns)))
        h[part.row_range, part.column_range] = blocks[-1]
    return h, blocks


def placed(value: np.ndarray, shape: tuple[int, int], top: int, left: int) -> np.ndarray:
    """Zeros but for one block."""
    found = np.zeros(shape)
    found[top : top + value.shape[0], left : left + value.shape[1]] = value
    return found


def distance(found: np.ndarray, wanted: np.ndarray) -> float:
    """Largest entry of the difference, relative to the largest entry wanted."""
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())
