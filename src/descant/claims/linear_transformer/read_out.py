"""Theorem 4.1 with its recursion: every layer keeps a linear model of the context."""

from functools import lru_cache

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...attention import Full, layer_states
from ...tasks import Moments
from .. import CONTROL, Axis, Evidence, Figure, Lab, Panel, Series, at_least, at_most, claim
from ._tokens import prompts, through_layers

D, N, LAYERS, HEADS = 10, 20, 4, 2
# Random networks, and contexts for each.
NETWORKS, EACH = (10, 100), 5
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
        After layer $l$ of a linear transformer with any weights, whose query is not attended to, every token is a
        function of four numbers of the context: $x_i^l = M^l x_i + y_i u^l$, $y_i^l = a^l y_i - \langle w^l,
        x_i\rangle$, and for the query $x_t^l = M^l x_t$, $y_t^l = -\langle w^l, x_t\rangle$. So the network answers
        with a linear model $w^l$ at every depth. With $\begin{pmatrix} A & b \\ c^\top & s \end{pmatrix} = \sum_k P_k
        G^l Q_k$ the four obey $M' = (I + A) M - b w^\top$, $u' = (I + A) u + a b$, $a' = (1 + s) a + \langle c,
        u\rangle$, $w' = (1 + s) w - M^\top c$, from $M = I$, $u = 0$, $a = 1$, $w = 0$.
    """,
    refuted_by="A context, a network and a layer after which some token is not what the four say, beyond rounding.",
    method=r"""
        Two independent computations: all tokens go through a dense network with random weights, layer by layer, as the
        paper writes it; and the recursion runs on the Gram matrix of the tokens alone. The minus in $M'$ is essential,
        and is sometimes transcribed as a plus: the same recursion with a plus is run beside it.
    """,
    quick="10 random networks with 2 heads and 4 layers on 5 contexts each, d = 10, n = 20",
    full="100 random networks",
    seconds=3,
)
def linear_model_per_layer(lab: Lab) -> Evidence:
    """Tokens of random networks beside the recursion, with the minus and with a plus."""
    found = []
    for index in range(lab.pick(*NETWORKS)):
        generator = np.random.default_rng([lab.seed, index])
        # Updates of the size of the tokens themselves: the Gram matrix has entries of about n.
        p, q = generator.standard_normal((2, LAYERS, HEADS, D + 1, D + 1)) / N**0.5 / (D + 1)
        first = prompts(generator, EACH, N, D)
        gram = first[:, :-1].swapaxes(1, 2) @ first[:, :-1]
        seen = through_layers(p, q, first)
        states = _by_recursion(Full(jnp.asarray(p), jnp.asarray(q)), gram)
        minus, plus = _largest(seen, _tokens(states, first)), _largest(seen, _tokens(_with_plus(p, q, gram), first))
        found.append(np.stack([minus, plus]))
    by_context = np.concatenate(found, axis=2)[:, 1:]
    worst, median_plus = by_context[0].max(axis=1), np.median(by_context[1], axis=1)
    layers = tuple(range(1, LAYERS + 1))
    checks = (
        at_most(
            "largest difference between tokens and the four, relative to the layer's largest token",
            worst.max(),
            0.0,
            tolerance=ROUNDING,
            reason="Two ways to the same number in float64: a few thousand roundings of 1e-16, four layers deep.",
        ),
        at_least(
            "the same with a plus in M', second layer, median over contexts",
            median_plus[1],
            0.01,
            against=CONTROL,
            reason="The experiment can tell: a wrong sign is an error of the size of the update, not of rounding; 1% "
            "is far above any rounding.",
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


def _by_recursion(model: Full, gram: np.ndarray) -> np.ndarray:
    """[[M, u], [-w, a]] before the first and after each layer, from the Gram matrix alone: [layer][context]."""
    states = _batch(layer_states)(model, jnp.asarray(gram))
    m, u, a, w = (np.moveaxis(np.asarray(part), 1, 0) for part in (states.m, states.u, states.a, states.w))
    last = np.concatenate([-w, a[..., None]], axis=-1)
    return np.concatenate([np.concatenate([m, u[..., None]], axis=-1), last[..., None, :]], axis=-2)


@lru_cache(maxsize=1)
def _batch(states):
    """One program for all contexts of a network, and for all networks."""
    return eqx.filter_jit(eqx.filter_vmap(lambda model, gram: states(model, Moments(gram, N)), in_axes=(None, 0)))


def _tokens(states: np.ndarray, first: np.ndarray) -> np.ndarray:
    """All tokens, the query too, from the four: each is a map of what it was at the start."""
    return np.einsum("lcij,cnj->lcni", states, first)


def _with_plus(p: np.ndarray, q: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """The recursion with M' = (I + A) M + b w^T."""
    now = np.broadcast_to(np.eye(D + 1), gram.shape)
    history = [now]
    for layer_p, layer_q in zip(p, q, strict=True):
        update = np.einsum("kij,cjl,klm->cim", layer_p, now @ gram @ now.swapaxes(1, 2), layer_q)
        then = now + update @ now
        # b w^T, once to undo the minus and once more.
        then[:, :-1, :-1] -= 2 * update[:, :-1, -1:] * now[:, -1:, :-1]
        now = then
        history.append(now)
    return np.stack(history)


def _largest(seen: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Largest difference, [layer][context], relative to the layer's largest token."""
    return np.abs(seen - expected).max(axis=(2, 3)) / np.abs(seen).max(axis=(2, 3))
