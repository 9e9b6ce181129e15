"""Random prompts, and linear attention token by token as the paper writes it, by NumPy."""

import numpy as np


def prompts(generator: np.random.Generator, count: int, n: int, d: int) -> np.ndarray:
    """Contexts (count, n + 1, d + 1), each with its query: a last token whose label is 0. Noise levels are U(0, 5)."""
    x, w = generator.standard_normal((count, n + 1, d)), generator.standard_normal((count, d))
    y = np.einsum("cni,ci->cn", x, w) + 5 * generator.random((count, 1)) * generator.standard_normal((count, n + 1))
    y[:, -1] = 0.0
    return np.concatenate([x, y[..., None]], axis=2)


def through_layers(p: np.ndarray, q: np.ndarray, first: np.ndarray) -> np.ndarray:
    """All tokens before the first layer and after each, (layers + 1, count, n + 1, d + 1).

    `p` and `q` hold a matrix per layer and head. The last token, the query, is updated and never attended to.
    """
    history = [first]
    for layer_p, layer_q in zip(p, q, strict=True):
        now = history[-1]
        gram = now[:, :-1].swapaxes(1, 2) @ now[:, :-1]
        history.append(now + now @ np.einsum("kij,cjl,klm->cim", layer_p, gram, layer_q).swapaxes(1, 2))
    return np.stack(history)
