"""One table of all attention models, and their token form written out plainly, token by token."""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from descant import LinearRegression, Prompt, attention as at
from tests.support.quick import quick


@dataclass(frozen=True)
class Entry:
    """How to make a model for (d, n, heads, layers), and what the theory says of it."""

    make: Callable
    linear: bool
    permutable: bool = True
    rotates: bool = False


# What theory says of the kinds; a kind that is not listed is linear, and does not mind the order of its context.
NOT_LINEAR = ("elsa", "softmax", "lsa attending", "yq-lsa attending", "softmax causal")
NOT_PERMUTABLE = ("elsa", "softmax causal")
ROTATING = ("diag", "diag tied", "free-diag", "free-diag tied", "gd++", "gd++ tied")
# Variants that options of a kind make.
SWITCHES = {"tied": ("tied", True), "attending": ("query_masked", False), "causal": ("causal", True)}


def _of_kind(kind: at.Kind, **switches):
    def make(d, n, heads, layers, key, dtype):
        sizes = {name: value for name, value in (("layers", layers), ("heads", heads)) if name in kind.options}
        model = kind.made(LinearRegression(d, n), key=key, **sizes, **switches)
        return jax.tree.map(lambda leaf: leaf.astype(dtype) if eqx.is_inexact_array(leaf) else leaf, model)

    return make


def _entries():
    """Every kind that the registry knows, and its variants."""
    for name, kind in at.KINDS:
        variants = {name: {}}
        for word, (option, value) in SWITCHES.items():
            if option in kind.options:
                variants[f"{name} {word}"] = {option: value}
        for variant, switches in variants.items():
            yield (
                variant,
                Entry(
                    _of_kind(kind, **switches),
                    variant not in NOT_LINEAR,
                    variant not in NOT_PERMUTABLE,
                    variant in ROTATING,
                ),
            )


def _lsa(guess=None, **switches):
    def make(d, n, heads, layers, key, dtype):
        first, second = jax.random.split(key)
        model = at.LSA.random(d, heads, key=first, scale=1.0, dtype=dtype)
        label = at.NoGuess() if guess is None else guess(jax.random.normal(second, (d,), dtype))
        return at.LSA(model.v, model.u, label, **switches)

    return make


def _softmax(**settings):
    def make(d, n, heads, layers, key, dtype):
        if settings.get("positions"):
            settings["positions"] = n
        return at.SoftmaxTransformer(d, 4 * heads, layers, heads, dtype=dtype, key=key, **settings)

    return make


def _narrow_ltb(d, n, heads, layers, key, dtype):
    return at.LTB.random(d, key=key, key_width=1, value_width=2, hidden_width=1, dtype=dtype)


def _elsa_without_bias(d, n, heads, layers, key, dtype):
    return at.ELSAPredictor.random(d, n, layers, heads, key=key, dtype=dtype, bias=False, scratch=3)


def _given(vector):
    return at.GivenGuess()


def _constant(vector):
    return at.ConstantGuess(vector[0])


# Beside the kinds, variants that no option makes.
MODELS = dict(_entries()) | {
    "lsa plain sum": Entry(_lsa(normalized=False), linear=True),
    "yq-lsa without residual": Entry(_lsa(at.LinearGuess, residual=False), linear=True),
    "lsa constant guess": Entry(_lsa(_constant), linear=False),
    "lsa given guess": Entry(_lsa(_given), linear=False),
    "ltb narrow": Entry(_narrow_ltb, linear=True),
    "elsa without bias": Entry(_elsa_without_bias, linear=False),
    "softmax relu": Entry(_softmax(mlp="relu"), linear=False),
    "softmax gelu causal": Entry(_softmax(mlp="gelu", causal=True), linear=False, permutable=False),
    "softmax positions": Entry(_softmax(positions=True), linear=False, permutable=False),
}
# Classes whose token form is written out below.
WRITTEN_OUT = (at.LSA, at.LTB, at.MergedLTB, at.AbstractLinearTransformer, at.ELSAPredictor)


# One of each family: a user's quick run checks these, CI checks all.
QUICK = ("lsa", "lsa attending", "yq-lsa", "ltb", "full", "diag", "gd++", "elsa", "softmax gelu causal")


def named(names) -> list:
    """Names to run a property over; those that are not of the quick run are marked slow."""
    return quick(names, *(name for name in QUICK if name in names))


def draw_prompt(seed=0, d=3, n=5, dtype=jnp.float64) -> Prompt:
    rng = np.random.default_rng(seed)
    numbers = [rng.standard_normal(shape) for shape in ((n, d), n, d, ())]
    x, y, x_query, guess = (jnp.asarray(part, dtype) for part in numbers)
    return Prompt(x, y, x_query, guess=guess)


def make(name: str, d=3, n=5, heads=2, layers=2, seed=0, dtype=jnp.float64):
    return MODELS[name].make(d, n, heads, layers, jax.random.key(seed), dtype)


def token_form(model, x, y, x_query, guess) -> float:
    """The prediction as the papers write it, with a loop over tokens and heads; NumPy, so that nothing is shared."""
    x, y, x_query = (np.asarray(part, np.float64) for part in (x, y, x_query))
    n, d = x.shape
    context = [np.append(row, label) for row, label in zip(x, y, strict=True)]
    match model:
        case at.LSA():
            match model.guess:
                case at.LinearGuess(g=g):
                    y_q = float(np.asarray(g) @ x_query)
                case at.ConstantGuess(c=c):
                    y_q = float(c)
                case at.GivenGuess():
                    y_q = float(guess)
                case _:
                    y_q = 0.0
            query = np.append(x_query, y_q)
            keys = context if model.query_masked else [*context, query]
            out = 0.0
            for v, u in zip(np.asarray(model.v), np.asarray(model.u), strict=True):
                for token in keys:
                    out += (v @ token) * (token @ u @ query)
            return out / (n if model.normalized else 1) + (y_q if model.residual else 0.0)
        case at.LTB():
            return float(model.tokens(jnp.asarray(x), jnp.asarray(y), jnp.asarray(x_query))[-1, -1])
        case at.MergedLTB(v=v, u=u, skip=skip):
            v, u, skip = (np.asarray(part) for part in (v, u, skip))
            return float(skip @ x_query + sum((v @ token) * (token @ u @ x_query) for token in context) / n)
        case at.AbstractLinearTransformer():
            query = np.append(x_query, 0.0)
            for ps, qs in zip(*(np.asarray(part) for part in model.dense(d)), strict=True):
                gram = sum(np.outer(token, token) for token in context)
                step = sum(p @ gram @ q for p, q in zip(ps, qs, strict=True))
                context, query = [token + step @ token for token in context], query + step @ query
            return float(-query[-1])
        case at.ELSAPredictor(network=network):
            columns = network.blocks[0].columns
            h = np.zeros((n + 1, columns))
            h[:n, :d], h[n, :d], h[:n, d] = x, x_query, y
            for block in network.unrolled():
                out = np.copy(h) if block.residual else np.zeros_like(h)
                for head in range(block.heads):
                    part = [
                        h @ np.asarray(w)[head] + (0 if b is None else np.asarray(b)[head])
                        for w, b in ((block.w3, block.b3), (block.w1, block.b1), (block.w2, block.b2))
                    ]
                    out += part[0] @ part[1].T @ part[2]
                h = out
            return float(h[-1, -1])
    raise TypeError(type(model).__name__)
