"""Theorem 4.1 with its recursion: every layer keeps a linear model of the context."""

import jax
import jax.numpy as jnp
import numpy as np

from ...attention import Full, layer_states
from ...tasks import LinearRegression, Moments, Prompt, UniformNoise
from .. import CONTROL, Axis, Evidence, Figure, Lab, Panel, Series, at_least, at_most, claim

D, N, LAYERS, HEADS = 10, 20, 4, 2
ROUNDING = 1e-12


@claim(
    "linear-model-per-layer",
    paper="linear-transformer",
    whose="paper",
    seen="poster",
    identity=True,
    where="Theorem 4.1, Lemma 4.3",
    title="Every layer keeps a linear regression model",
    statement=r"""
        After layer $l$ of a linear transformer with any weights, whose query is not attended to, every token is a function of four numbers of the
        context: $x_i^l = M^l x_i + y_i u^l$, $y_i^l = a^l y_i - \langle w^l, x_i\rangle$, and for the query $x_t^l =
        M^l x_t$, $y_t^l = -\langle w^l, x_t\rangle$. So the network answers with a linear model $w^l$ at every depth.
        With $\begin{pmatrix} A & b \\ c^\top & s \end{pmatrix} = \sum_k P_k G^l Q_k$ the four obey $M' = (I + A) M - b
        w^\top$, $u' = (I + A) u + a b$, $a' = (1 + s) a + \langle c, u\rangle$, $w' = (1 + s) w - M^\top c$, from $M =
        I$, $u = 0$, $a = 1$, $w = 0$.
    """,
    refuted_by="A context, a network and a layer after which some token is not what the four say, beyond rounding.",
    method=r"""
        Two independent computations: all tokens go through a dense network with random weights, layer by layer, as the
        paper writes it; and the recursion runs on the Gram matrix of the tokens alone. The minus in $M'$ is essential,
        and is sometimes transcribed as a plus: the same recursion with a plus is run beside it.
    """,
    quick="50 random contexts, 2 heads, 4 layers, d = 10, n = 20",
    full="500 random contexts",
    seconds=8,
)
def linear_model_per_layer(lab: Lab) -> Evidence:
    """Tokens of a random network beside the recursion, with the minus and with a plus."""
    task = LinearRegression(D, N, noise=UniformNoise(5.0))
    keys = jax.random.split(lab.key("prompts"), lab.pick(50, 500))

    def differences(key):
        prompt = task.sample(key=jax.random.fold_in(key, 0))
        # Updates of the size of the tokens themselves: the Gram matrix has entries of about n.
        model = Full.random(D, LAYERS, HEADS, key=jax.random.fold_in(key, 1), scale=(1.0 / N) ** 0.5)
        seen = model.tokens(prompt)
        states = layer_states(model, prompt.moments())
        minus = _largest(seen[1:], _tokens(states, prompt)[1:])
        plus = _largest(seen[1:], _tokens(_with_plus(model, prompt.moments()), prompt)[1:])
        return jnp.stack([minus, plus])

    found = np.asarray(jax.jit(lambda keys: jax.lax.map(differences, keys))(keys))
    worst, median_plus = found[:, 0].max(axis=0), np.median(found[:, 1], axis=0)
    layers = tuple(range(1, LAYERS + 1))
    checks = (
        at_most(
            "largest difference between tokens and the four, relative to the layer's largest token",
            worst.max(),
            0.0,
            tolerance=ROUNDING,
            exact=True,
            reason="Two ways to the same number in float64: a few thousand roundings of 1e-16, four layers deep.",
        ),
        at_least(
            "the same with a plus in M', second layer, median over contexts",
            median_plus[1],
            0.01,
            against=CONTROL,
            reason="The experiment can tell: a wrong sign is an error of the size of the update, not of rounding; 1% is far above any rounding.",
        ),
    )
    figure = Figure(
        "linear-model-per-layer",
        "Tokens against the linear model that the recursion predicts",
        "With the minus the two agree to rounding at every layer. With a plus they part at the second layer: the "
        "first has w = 0, where the sign can't be seen.",
        (
            Panel(
                "2 heads, 4 layers, random weights",
                Axis("layer"),
                Axis("largest relative difference", log=True),
                (
                    Series("minus, largest", layers, tuple(np.maximum(worst, 1e-17))),
                    Series("plus, median", layers, tuple(np.maximum(median_plus, 1e-17))),
                ),
            ),
        ),
    )
    words = (
        "The public text writes the state after layer $l$ with the index $l + 1$ on one side; read as above, it holds"
        " exactly.",
    )
    return Evidence(checks, (figure,), words=words)


def _tokens(states, prompt: Prompt):
    """All tokens before the first and after each layer, from the four."""
    x = jnp.einsum("sij,nj->sni", states.m, prompt.x) + jnp.einsum("n,si->sni", prompt.y, states.u)
    y = states.a[:, None] * prompt.y[None, :] - states.w @ prompt.x.T
    query = jnp.concatenate([states.m @ prompt.x_query, -(states.w @ prompt.x_query)[:, None]], axis=1)
    return jnp.concatenate([jnp.concatenate([x, y[:, :, None]], axis=2), query[:, None, :]], axis=1)


def _with_plus(model: Full, moments: Moments):
    """The recursion with M' = (I + A) M + b w^T."""
    m, u, a, w = jnp.eye(D), jnp.zeros(D), jnp.ones(()), jnp.zeros(D)
    states = [(m, u, a, w)]
    for p, q in zip(model.p, model.q, strict=True):
        tokens = jnp.block([[m, u[:, None]], [-w[None, :], a[None, None]]])
        update = jnp.einsum("kij,jl,klm->im", p, tokens @ moments.gram @ tokens.T, q)
        grow, b, c, s = jnp.eye(D) + update[:-1, :-1], update[:-1, -1], update[-1, :-1], update[-1, -1]
        m, u, a, w = grow @ m + jnp.outer(b, w), grow @ u + a * b, (1 + s) * a + c @ u, (1 + s) * w - m.T @ c
        states.append((m, u, a, w))
    parts = [jnp.stack(part) for part in zip(*states, strict=True)]
    like = layer_states(model, moments)
    return type(like)(*parts)


def _largest(seen, expected):
    """Largest difference of each layer, relative to its largest token."""
    return jnp.max(jnp.abs(seen - expected), axis=(1, 2)) / jnp.max(jnp.abs(seen), axis=(1, 2))
