"""Softmax transformers with and without MLP on tasks with a mean, in the paper's setting: the long run on one GPU.

    python benchmarks/softmax_blocks.py OUT [NUMBERS OF JOBS]  # needs JAX and NumPy alone; about 45 minutes on an H200

Networks of one shape are members of one program. Weights, what is added up along the layers, and Adam's memories are
float32; products of the layers take bfloat16 numbers and add them up in float32. Risks after training are measured in
float32 throughout.
"""

import functools
import json
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

D, N, DEPTH, HEADS, BATCH = 20, 40, 6, 4, 256
TOKENS = N + 1
MEANS = (0.0, 10.0)
CHUNK = 1000
SAMPLES = 262_144
# Rows that a kernel of attention takes, a power of two, and its warps.
ROWS, WARPS = 64, 4
HIGH = jax.lax.Precision.HIGHEST


@jax.checkpoint  # What it is made from is kept for the way back anyway.
def normed(z, scale, shift):
    """Layer norm over the last axis, of members (m, tokens, width)."""
    centred = z - z.mean(-1, keepdims=True)
    size = jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return centred * size * scale[:, None] + shift[:, None]


@jax.custom_vjp
def relu(z):
    """Positive parts; the way back needs nothing else."""
    return jnp.maximum(z, 0)


relu.defvjp(lambda z: 2 * (relu(z),), lambda positive, slope: (jnp.where(positive > 0, slope, 0),))


def product(z, weight, dtype, out=None):
    """Members' tokens (m, tokens, k) times their weights (m, k, j)."""
    precision = HIGH if dtype == jnp.float32 else None  # Not in TF32.
    return jnp.einsum("mtk,mkj->mtj", z.astype(dtype), weight.astype(dtype), precision=precision,
                      preferred_element_type=out or dtype)  # fmt: skip


def load_rows(ref, first, column, size):
    """ROWS rows from `first` on of some columns, those behind the prompt's last as zeros."""
    mask = jnp.broadcast_to((jnp.arange(ROWS) < TOKENS)[:, None], (ROWS, size))
    return triton.load(ref.at[pl.ds(first, ROWS), pl.ds(column, size)], mask=mask, other=0.0), mask


def shares(q, k):
    """Softmax over earlier tokens of one head of one prompt."""
    rows, columns = jnp.arange(ROWS)[:, None], jnp.arange(ROWS)[None, :]
    logits = jnp.where(columns <= rows, triton.dot(q, k, trans_b=True) * q.shape[1] ** -0.5, -1e30)
    powers = jnp.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def forth(qkv, out):
    """One head of one prompt: the kernel forwards."""
    first, head, width = pl.program_id(0) * TOKENS, pl.program_id(1), out.shape[1]
    size = width // HEADS
    (q, _), (k, _), (v, mask) = (load_rows(qkv, first, part * width + head * size, size) for part in range(3))
    mixed = triton.dot(shares(q, k).astype(v.dtype), v).astype(v.dtype)
    triton.store(out.at[pl.ds(first, ROWS), pl.ds(head * size, size)], mixed, mask=mask)


def back(qkv, slope, out):
    """The kernel backwards: the slope by q, k and v."""
    first, head, width = pl.program_id(0) * TOKENS, pl.program_id(1), slope.shape[1]
    size = width // HEADS
    (q, _), (k, _), (v, _) = (load_rows(qkv, first, part * width + head * size, size) for part in range(3))
    given, mask = load_rows(slope, first, head * size, size)
    p = shares(q, k)
    by_share = triton.dot(given, v, trans_b=True)
    by_logit = (p * (by_share - (p * by_share).sum(1, keepdims=True)) * size**-0.5).astype(q.dtype)
    parts = (
        triton.dot(by_logit, k),
        triton.dot(by_logit, q, trans_a=True),
        triton.dot(p.astype(q.dtype), given, trans_a=True),
    )
    for part, value in enumerate(parts):
        place = out.at[pl.ds(first, ROWS), pl.ds(part * width + head * size, size)]
        triton.store(place, value.astype(q.dtype), mask=mask)


def call(kernel, columns, *arrays):
    """A kernel on all prompts and heads; arrays are (all tokens, columns)."""
    rows = arrays[0].shape[0]
    return pl.pallas_call(
        kernel, grid=(rows // TOKENS, HEADS), out_shape=jax.ShapeDtypeStruct((rows, columns), arrays[0].dtype),
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        interpret=jax.default_backend() == "cpu",
    )(*arrays)  # fmt: skip


@jax.custom_vjp
def attend_fused(qkv):
    """Causal softmax attention of rows (all tokens, q and k and v), a kernel of its own."""
    return call(forth, qkv.shape[1] // 3, qkv)


attend_fused.defvjp(lambda qkv: (attend_fused(qkv), qkv), lambda qkv, slope: (call(back, qkv.shape[1], qkv, slope),))


def attend_plain(qkv):
    """The same without a kernel, in the precision of its rows."""
    width = qkv.shape[1] // 3
    q, k, v = (qkv[:, i * width : (i + 1) * width].reshape(-1, TOKENS, HEADS, width // HEADS) for i in range(3))
    precision = HIGH if q.dtype == jnp.float32 else None
    logits = jnp.einsum("bqhs,bkhs->bhqk", q, k, precision=precision, preferred_element_type=jnp.float32)
    logits = jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool)), logits / q.shape[-1] ** 0.5, -1e30)
    mixed = jnp.einsum("bhqk,bkhs->bqhs", jax.nn.softmax(logits).astype(q.dtype), v, precision=precision)
    return mixed.reshape(-1, width)


def attend_last(q, k, v):
    """The same for the last token's query alone, (prompts, heads, size)."""
    logits = (q[:, None].astype(jnp.float32) * k).sum(-1) / q.shape[-1] ** 0.5
    return (jax.nn.softmax(logits, axis=1)[..., None] * v).sum(1).astype(q.dtype)


def predict(p, x, y, dtype, attend):
    """Predictions (m, prompts): x is (m, prompts, TOKENS, D), y (m, prompts, TOKENS) with 0 at the query."""
    members, prompts = x.shape[:2]
    width = p["embed_b"].shape[-1]
    depth = sum(name.startswith("qkv") for name in p)
    tokens = jnp.concatenate([x, y[..., None]], -1).reshape(members, -1, D + 1)
    z = product(tokens, p["embed_w"], jnp.float32) + p["embed_b"][:, None]
    z = (z.reshape(members, prompts, TOKENS, width) + p["place"][:, None]).reshape(members, -1, width)
    for layer in range(depth):
        last = layer == depth - 1
        n = normed(z, p[f"norm_w{layer}"], p[f"norm_b{layer}"])
        heads = (members * prompts, TOKENS, HEADS, width // HEADS)
        if last:  # Nothing is read off the other tokens.
            ends = lambda rows: rows.reshape(members, prompts, TOKENS, width)[:, :, -1]  # noqa: E731
            kv = product(n, p[f"qkv{layer}"][..., width:], dtype)
            q = product(ends(n), p[f"qkv{layer}"][..., :width], dtype).reshape(-1, HEADS, width // HEADS)
            k, v = kv[..., :width].reshape(heads), kv[..., width:].reshape(heads)
            mixed, z = attend_last(q, k, v).reshape(members, -1, width), ends(z)
        else:
            qkv = product(n, p[f"qkv{layer}"], dtype)
            mixed = attend(qkv.reshape(-1, 3 * width)).reshape(members, -1, width)
        z = z + product(mixed, p[f"out{layer}"], dtype, jnp.float32)
        if f"in{layer}" in p:
            n = normed(z, p[f"mlp_norm_w{layer}"], p[f"mlp_norm_b{layer}"])
            hidden = relu(product(n, p[f"in{layer}"], dtype) + p[f"in_b{layer}"][:, None].astype(dtype))
            z = z + product(hidden, p[f"back{layer}"], dtype, jnp.float32) + p[f"back_b{layer}"][:, None]
    z = normed(z, p["final_w"], p["final_b"])
    return (z * p["read_w"][:, None]).sum(-1) + p["read_b"][:, None]


def prompts(key, means, count):
    """Fresh tasks without noise: inputs, labels with 0 for the query's, and the query's label."""
    numbers = jax.random.normal(key, (means.shape[0], count, TOKENS + 1, D))
    x, w = numbers[:, :, :TOKENS], numbers[:, :, TOKENS] + means[:, None, None]
    y = (x * w[:, :, None]).sum(-1)
    return x, y.at[:, :, -1].set(0.0), y[:, :, -1]


def errors(p, key, means, count, dtype, attend):
    """Mean squared errors of all members."""
    x, y, target = prompts(key, means, count)
    return ((predict(p, x, y, dtype, attend) - target) ** 2).mean(1)


@functools.partial(jax.jit, static_argnames=("dtype", "attend"), donate_argnums=0)
def chunk(state, means, rates, lengths, key, start, count, *, dtype, attend):
    """`count` steps of Adam; a `length` of 0 is a constant step size, else it falls to 0 over it like a cosine."""

    def step(number, carry):
        (p, first, second), losses = carry

        def total(p):
            each = errors(p, jax.random.fold_in(key, number), means, BATCH, dtype, attend)
            return each.sum(), each

        slope, each = jax.grad(total, has_aux=True)(p)
        norm = jnp.sqrt(sum((leaf.reshape(leaf.shape[0], -1) ** 2).sum(1) for leaf in slope.values()))
        shrink, fine = jnp.minimum(1.0, 1.0 / norm), jnp.isfinite(norm)
        rate = rates * jnp.where(lengths > 0, 0.5 * (1 + jnp.cos(jnp.pi * number / jnp.maximum(lengths, 1))), 1.0)
        taken = number + 1.0

        def update(leaf, slope, first, second):
            across = lambda row: row.reshape(-1, *[1] * (leaf.ndim - 1))  # noqa: E731
            slope = slope * across(shrink)
            new_first, new_second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
            move = (new_first / (1 - 0.9**taken)) / (jnp.sqrt(new_second / (1 - 0.999**taken)) + 1e-8)
            keep = across(fine)
            return tuple(jnp.where(keep, new, old) for new, old in (
                (leaf - across(rate) * move, leaf), (new_first, first), (new_second, second)))  # fmt: skip

        moved = {name: update(leaf, slope[name], first[name], second[name]) for name, leaf in p.items()}
        return tuple({name: leaves[i] for name, leaves in moved.items()} for i in range(3)), losses + each

    state, losses = jax.lax.fori_loop(start, start + count, step, (state, jnp.zeros_like(rates)))
    return state, losses / count


@functools.partial(jax.jit, static_argnames=("count",))
def risk_parts(p, key, means, count):
    """Means of squared errors and of their squares, in float32."""
    x, y, target = prompts(key, means, count)
    squares = (predict(p, x, y, jnp.float32, attend_plain) - target) ** 2
    return squares.mean(1), (squares**2).mean(1)


def risks(p, means, seed=1):
    """Risks of all members and their standard errors, on prompts that no training saw."""
    keys = jax.random.split(jax.random.key(seed), SAMPLES // 2048)
    parts = [risk_parts(p, key, means, 2048) for key in keys]
    first, second = np.mean(np.asarray(parts, np.float64), 0)
    return np.stack([first, np.sqrt((second - first**2) / SAMPLES)], 1).tolist()


def random_weights(width, mlp, seed):
    """GPT-2's: normal numbers of size 0.02, those of values and of the MLP's second layer smaller with the depth."""
    random = np.random.default_rng([width, mlp == "relu", seed])
    small = (DEPTH * (1 if mlp == "none" else 2)) ** -0.5

    def normal(*shape, size=0.02):
        return size * random.standard_normal(shape)

    p = {"embed_w": normal(D + 1, width), "embed_b": np.zeros(width), "place": normal(TOKENS, width)}
    for layer in range(DEPTH):
        values = normal(width, width, size=0.02 * small)
        own = {"norm_w": np.ones(width), "norm_b": np.zeros(width), "out": normal(width, width),
               "qkv": np.concatenate([normal(width, 2 * width), values], 1)}  # fmt: skip
        if mlp == "relu":
            own |= {"mlp_norm_w": np.ones(width), "mlp_norm_b": np.zeros(width), "in": normal(width, 4 * width),
                    "in_b": np.zeros(4 * width), "back": normal(4 * width, width, size=0.02 * small),
                    "back_b": np.zeros(width)}  # fmt: skip
        p |= {f"{name}{layer}": value for name, value in own.items()}
    p |= {"final_w": np.ones(width), "final_b": np.zeros(width), "read_w": normal(width), "read_b": np.zeros(())}
    return {name: value.astype(np.float32) for name, value in p.items()}


RECIPES = {"constant": (1e-4, 0), "cosine": (1e-3, 1)}


def first_state(width, mlp, seeds):
    """Random weights, one member per number in `seeds`, and Adam at rest."""
    each = [random_weights(width, mlp, seed) for seed in seeds]
    p = {name: jnp.asarray(np.stack([one[name] for one in each])) for name in each[0]}
    return p, *(jax.tree.map(jnp.zeros_like, p) for _ in range(2))


def train(out, width, mlp, recipe, means, seeds, steps):
    """One job: all members to their end; curve and risks, and the first seed's weights, into files."""
    began = time.monotonic()
    own = [(mean, seed) for mean in means for seed in seeds]
    state = first_state(width, mlp, [seed + 100 * (mean > 0) for mean, seed in own])
    law = jnp.array([mean for mean, _ in own])
    rate, anneal = RECIPES[recipe]
    rates, lengths = jnp.full(len(own), rate), jnp.full(len(own), float(anneal * steps))
    key = jax.random.key(width + 1000 * (mlp == "relu") + 10000 * anneal + 100_000 * seeds[0], impl="rbg")
    name = f"{width}-{mlp}-{recipe}-{steps}-{seeds[0]}"
    Path(out).mkdir(parents=True, exist_ok=True)
    curve, done, started = [], 0, time.monotonic()
    while done < steps:
        count = min(CHUNK, steps - done)
        state, losses = chunk(state, law, rates, lengths, key, done, count, dtype=jnp.bfloat16, attend=attend_fused)
        done += count
        curve.append([done, *np.asarray(losses, np.float64).tolist()])
        if len(curve) % 10 == 0:
            pace = (time.monotonic() - started) / done
            print(f"{name} {done}: {pace * 1e3:.2f} ms", *(f"{loss:.4g}" for loss in curve[-1][1:]), flush=True)
            (Path(out) / f"{name}.curve.json").write_text(json.dumps(curve))  # Should the machine be lost.
    found = {"width": width, "mlp": mlp, "recipe": recipe, "means": list(means), "seeds": list(seeds), "steps": done,
             "lr": rate, "curve": curve, "risks": risks(state[0], law),
             "seconds": time.monotonic() - began}  # fmt: skip
    (Path(out) / f"{name}.json").write_text(json.dumps(found))
    keep = len(own) - len(seeds)  # The first seed at the last mean.
    first = {leaf: np.asarray(value[keep]) for leaf, value in state[0].items()}
    np.savez(Path(out) / f"{name}.npz", allow_pickle=False, **first)
    print(f"{name} ended after {found['seconds']:.0f} s:", *(f"{risk:.5g}" for risk, _ in found["risks"]))


# The long run of `softmax-blocks`, in the order in which it was run: width, MLP, recipe, means, seeds, steps.
JOBS = [
    (64, "none", "cosine", MEANS, range(4), 40_000),
    (64, "relu", "cosine", MEANS, range(4), 40_000),
    (128, "none", "cosine", MEANS, range(4), 40_000),
    (128, "none", "constant", MEANS[1:], range(3), 200_000),
    (128, "relu", "constant", MEANS[1:], range(5), 200_000),
    (128, "none", "constant", MEANS[1:], range(3, 5), 200_000),
    (64, "none", "constant", MEANS[1:], range(3), 200_000),
    (64, "relu", "constant", MEANS[1:], range(3), 200_000),
]

if __name__ == "__main__":
    out, *chosen = sys.argv[1:]
    for number in map(int, chosen or range(len(JOBS))):
        train(out, *JOBS[number])
