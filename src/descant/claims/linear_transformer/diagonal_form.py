"""DIAG equals its reparametrisation by four numbers a layer, and what one head may not do."""

import jax.numpy as jnp
import numpy as np

from ...attention import Diag, FreeDiag, as_full
from .. import CONTROL, Evidence, Lab, Table, at_least, at_most, claim
from ._tokens import prompts, through_layers

D, N, LAYERS = 10, 20, 4
MOST_HEADS = 5
# Random networks for each number of heads, and prompts for each of them.
NETWORKS, EACH = (10, 100), 5
ROUNDING = 1e-13


@claim(
    "four-weights",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    identity=True,
    where="Section 5, the diagonal parametrisation",
    title="A diagonal layer is four numbers",
    statement=r"""
        A layer with diagonal $P_k = \mathrm{diag}(p_x I, p_y)$, $Q_k = \mathrm{diag}(q_x I, q_y)$ depends on its heads
        only through $\omega_{xx} = \sum_k p_x q_x$, $\omega_{xy} = \sum_k p_x q_y$, $\omega_{yx} = \sum_k p_y q_x$,
        $\omega_{yy} = \sum_k p_y q_y$: $x_i \leftarrow x_i + \omega_{xx} \Sigma x_i + \omega_{xy} y_i \alpha$ and $y_i
        \leftarrow y_i + \omega_{yx} \langle \alpha, x_i\rangle + \omega_{yy} \lambda y_i$. Two heads reach any four
        numbers; one head forces $\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx}$.
    """,
    refuted_by={
        "tokens": "Heads and a context where tokens updated by the four numbers differ from those of the dense layers.",
        "reach": "Four numbers that two heads can't have.",
        "bound": "One head with $\\omega_{xx} \\omega_{yy} \\ne \\omega_{xy} \\omega_{yx}$.",
    },
    method=r"""
        Random heads (1, 2 and 5 of them) on random prompts: all tokens through the dense layers $P_k G Q_k$, written
        out as matrices, and all tokens through the two formulas. Random free numbers are then written as two heads, and
        back.
    """,
    quick="10 random networks for each number of heads, 5 prompts each, 4 layers",
    full="100 random networks for each",
    seconds=1,
)
def four_weights(lab: Lab) -> Evidence:
    """Dense layers beside the two formulas; determinants of the omegas."""
    rows, determinants = [], {}
    networks = lab.pick(*NETWORKS)
    for heads in (1, 2, MOST_HEADS):
        off, found = [], []
        for index in range(networks):
            generator = np.random.default_rng([lab.seed, heads, index])
            p_x, p_y, q_x, q_y = generator.standard_normal((4, LAYERS, heads)) / heads**0.5
            model = Diag(*map(jnp.asarray, (p_x, p_y, *_units(q_x, q_y))))
            omegas, first = np.asarray(model.omegas()), prompts(generator, EACH, N, D)
            dense = through_layers(_diagonal(p_x, p_y), _diagonal(*_units(q_x, q_y)), first)
            off.append(_largest(dense, _by_four_numbers(omegas, first)))
            blocks = omegas * np.array([[1.0, D], [1.0, D]])
            found.append(np.abs(np.linalg.det(blocks)) / (blocks**2).sum(axis=(1, 2)))
        determinants[heads] = np.max(found, axis=1)
        rows.append((f"{heads}", max(off), float(determinants[heads].max()), float(np.median(determinants[heads]))))
    worst = max(row[1] for row in rows)
    as_heads = max(_written_as_heads(np.random.default_rng([lab.seed, index])) for index in range(networks))
    rounding = "Two ways to the same number in float64, four layers deep."
    checks = (
        at_most(
            "largest relative difference of tokens, 1, 2 and 5 heads",
            worst,
            0.0,
            tolerance=ROUNDING,
            against="tokens",
            reason=rounding,
        ),
        at_most(
            "any four numbers written as two heads: the same",
            as_heads,
            0.0,
            tolerance=ROUNDING,
            against="reach",
            reason=rounding,
        ),
        at_most(
            "|w_xx w_yy - w_xy w_yx| with one head, relative to the weights' squares",
            float(determinants[1].max()),
            0.0,
            tolerance=1e-14,
            against="bound",
            reason="A product of a column and a row has determinant zero; rounding alone is left.",
        ),
        at_least(
            "the same with two heads, median",
            float(np.median(determinants[2])),
            0.01,
            against=CONTROL,
            reason="If two heads were bound too, this would be rounding.",
        ),
    )
    table = Table(
        "four-weights",
        "Dense layers against four numbers a layer",
        ("heads", "largest relative difference", "determinant, largest", "determinant, median"),
        tuple(rows),
        "The determinant of the 2 x 2 omegas of a layer, relative to their sum of squares: zero with one head.",
    )
    return Evidence(checks, tables=(table,))


def _units(q_x: np.ndarray, q_y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In units of the inverse Gram blocks, so that an update is as large as the tokens."""
    return 0.2 * q_x / N, 0.2 * q_y / (N * D)


def _written_as_heads(generator: np.random.Generator) -> float:
    """Random omegas as heads of dense matrices, beside the two formulas."""
    numbers = generator.standard_normal((4, LAYERS))
    w_xx, w_xy = _units(numbers[0], numbers[1])
    w_yx, w_yy = _units(numbers[2], numbers[3])
    model, first = FreeDiag(*map(jnp.asarray, (w_xx, w_xy, w_yx, w_yy))), prompts(generator, EACH, N, D)
    full = as_full(model, D)
    return _largest(
        through_layers(np.asarray(full.p), np.asarray(full.q), first),
        _by_four_numbers(np.asarray(model.omegas()), first),
    )


def _diagonal(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """diag(x I, y), [layer][head]."""
    entries = np.concatenate([np.repeat(x[..., None], D, axis=-1), y[..., None]], axis=-1)
    return entries[..., None] * np.eye(D + 1)


def _by_four_numbers(omegas: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The two formulas, token by token."""
    history = [first]
    for (w_xx, w_xy), (w_yx, w_yy) in omegas:
        x, y = history[-1][..., :-1], history[-1][..., -1]
        context, labels = x[:, :-1], y[:, :-1]
        sigma, alpha = context.swapaxes(1, 2) @ context, np.einsum("cni,cn->ci", context, labels)
        size = (labels**2).sum(axis=1)[:, None]
        x_next = x + w_xx * x @ sigma + w_xy * y[..., None] * alpha[:, None, :]
        y_next = y + w_yx * np.einsum("cni,ci->cn", x, alpha) + w_yy * size * y
        history.append(np.concatenate([x_next, y_next[..., None]], axis=2))
    return np.stack(history)


def _largest(seen: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(seen - expected).max() / np.abs(expected).max())
