"""DIAG equals its reparametrisation by four numbers a layer, and what one head may not do."""

import jax
import jax.numpy as jnp
import numpy as np

from ...attention import Diag, FreeDiag, as_full
from ...tasks import LinearRegression, Prompt, UniformNoise
from .. import CONTROL, Evidence, Lab, Table, at_least, at_most, claim

D, N, LAYERS = 10, 20, 4
MOST_HEADS = 5
ROUNDING = 3e-13


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
    quick="50 random prompts for each number of heads, 4 layers",
    full="500 random prompts for each",
    seconds=5,
)
def four_weights(lab: Lab) -> Evidence:
    """Dense layers beside the two formulas; determinants of the omegas."""
    task = LinearRegression(D, N, noise=UniformNoise(5.0))
    count = lab.pick(50, 500)
    rows, worst = [], 0.0
    determinants = {}

    def one(key, heads):
        prompt = task.sample(key=jax.random.fold_in(key, 0))
        numbers = jax.random.normal(jax.random.fold_in(key, 1), (4, LAYERS, MOST_HEADS)) / MOST_HEADS**0.5
        # Heads beyond the number asked for do nothing: one program for all of them.
        numbers = jnp.where(jnp.arange(MOST_HEADS)[None, None, :] < heads, numbers, 0.0)
        model = Diag(numbers[0], numbers[1], 0.2 * numbers[2] / N, 0.2 * numbers[3] / (N * D))
        seen, expected = _dense_tokens(model, prompt), _by_four_numbers(model.omegas(), prompt)
        blocks = model.omegas() * jnp.array([[1.0, D], [1.0, D]])[None]
        determinant = blocks[:, 0, 0] * blocks[:, 1, 1] - blocks[:, 0, 1] * blocks[:, 1, 0]
        return _largest(seen, expected), jnp.max(jnp.abs(determinant) / jnp.sum(blocks**2, axis=(1, 2)))

    batch = jax.jit(jax.vmap(one, in_axes=(0, None)))
    for heads in (1, 2, MOST_HEADS):
        off, determinant = batch(jax.random.split(lab.key(f"{heads} heads"), count), jnp.asarray(heads))
        rows.append((f"{heads}", float(off.max()), float(determinant.max()), float(jnp.median(determinant))))
        worst, determinants[heads] = max(worst, float(off.max())), determinant

    def free(key):
        prompt = task.sample(key=jax.random.fold_in(key, 0))
        numbers = 0.2 * jax.random.normal(jax.random.fold_in(key, 1), (4, LAYERS))
        model = FreeDiag(numbers[0] / N, numbers[1] / (N * D), numbers[2] / N, numbers[3] / (N * D))
        return _largest(as_full(model, D).tokens(prompt), _by_four_numbers(model.omegas(), prompt))

    as_heads = float(jax.jit(jax.vmap(free))(jax.random.split(lab.key("free"), count)).max())
    rounding = "Two ways to the same number in float64, four layers deep."
    checks = (
        at_most(
            "largest relative difference of tokens, 1, 2 and 5 heads",
            worst,
            0.0,
            tolerance=ROUNDING,
            against="tokens",
            exact=True,
            reason=rounding,
        ),
        at_most(
            "any four numbers written as two heads: the same",
            as_heads,
            0.0,
            tolerance=ROUNDING,
            against="reach",
            exact=True,
            reason=rounding,
        ),
        at_most(
            "|w_xx w_yy - w_xy w_yx| with one head, relative to the weights' squares",
            float(determinants[1].max()),
            0.0,
            tolerance=1e-14,
            against="bound",
            exact=True,
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


def _dense_tokens(model: Diag, prompt: Prompt):
    """Every head's P and Q as matrices."""
    label = jnp.arange(D + 1) == D
    now = _first(prompt)
    history = [now]
    for p_x, p_y, q_x, q_y in zip(model.p_x, model.p_y, model.q_x, model.q_y, strict=True):
        p = jax.vmap(lambda x, y: jnp.diag(jnp.where(label, y, x)))(p_x, p_y)
        q = jax.vmap(lambda x, y: jnp.diag(jnp.where(label, y, x)))(q_x, q_y)
        gram = now[:-1].T @ now[:-1]
        now = now + now @ jnp.einsum("kij,jl,klm->im", p, gram, q).T
        history.append(now)
    return jnp.stack(history)


def _by_four_numbers(omegas, prompt: Prompt):
    """The two formulas, token by token."""
    now = _first(prompt)
    history = [now]
    for (w_xx, w_xy), (w_yx, w_yy) in omegas:
        x, y = now[:, :-1], now[:, -1]
        context, labels = x[:-1], y[:-1]
        sigma, alpha, size = context.T @ context, context.T @ labels, labels @ labels
        x_next = x + w_xx * x @ sigma + w_xy * jnp.outer(y, alpha)
        y_next = y + w_yx * x @ alpha + w_yy * size * y
        now = jnp.concatenate([x_next, y_next[:, None]], axis=1)
        history.append(now)
    return jnp.stack(history)


def _first(prompt: Prompt):
    query = jnp.append(prompt.x_query, jnp.zeros(()))
    return jnp.concatenate([jnp.concatenate([prompt.x, prompt.y[:, None]], axis=1), query[None, :]])


def _largest(seen, expected):
    return jnp.max(jnp.abs(seen - expected)) / jnp.max(jnp.abs(expected))
