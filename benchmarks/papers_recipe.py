"""Steps per second of the papers' own recipe: fresh tokens, query objective, Adam, batch 2048, d = 10, n = 20.

Against a plain jitted JAX step that is called from Python, and (where PyTorch is installed) a plain PyTorch loop that
forms the n x n attention matrix, as public codes do; with one thread and with one per core, and the faster counts: on a
machine that has other work to do, threads that wait for each other are slower than one. Sampling is included
everywhere. Promises on two cores: 1.5 times the JAX loop; 3.3 times (one layer) and 3.5 times (four layers) the PyTorch
loop.
"""

import functools
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax

from descant import LinearRegression, UniformNoise
from descant._cores import cores
from descant.attention import Diag, Full
from descant.training import AdamTrainer

D, N, BATCH, STEPS = 10, 20, 2048, 10
ROUNDS = 20
Burst = Callable[[], object]


def ours(layers: int, objective: str = "query", *, n: int = N, batch: int = BATCH, diagonal: bool = False) -> Burst:
    """A chunk of steps of the trainer, with FULL or DIAG."""
    task = LinearRegression(D, n, noise=UniformNoise(5.0))
    key, scale = jax.random.key(0), 0.2 * (N / n) ** 0.5
    model = Diag.random(layers, key=key, scale=scale / 10) if diagonal else Full.random(D, layers, key=key, scale=scale)
    trainer = AdamTrainer(
        model, task, objective=objective, key=jax.random.key(1), steps=10**9, batch=batch, chunk=STEPS
    )
    state, _ = trainer.advance(trainer.init())
    return lambda: trainer.advance(state)


def plain_jax(layers: int, *, n: int = N, batch: int = BATCH) -> Burst:
    """Batched tokens, einsums over all of them, optax; one jitted step."""
    optimiser = optax.adam(1e-3)
    scale = 0.2 * (N / n) ** 0.5 / (D + 1)
    weights = scale * jax.random.normal(jax.random.key(0), (2, layers, D + 1, D + 1), jnp.float32)

    def loss(weights, key):
        key_x, key_w, key_noise, key_sigma = jax.random.split(key, 4)
        x = jax.random.normal(key_x, (batch, n + 1, D), jnp.float32)
        w = jax.random.normal(key_w, (batch, D), jnp.float32)
        sigma = 5 * jax.random.uniform(key_sigma, (batch, 1), jnp.float32)
        labels = jnp.einsum("bnd,bd->bn", x, w)
        y = labels[:, :-1] + sigma * jax.random.normal(key_noise, (batch, n), jnp.float32)
        tokens = jnp.concatenate([x, jnp.pad(y, ((0, 0), (0, 1)))[:, :, None]], axis=2)
        for p, q in zip(weights[0], weights[1], strict=True):
            gram = jnp.einsum("bni,bnj->bij", tokens[:, :-1], tokens[:, :-1])
            tokens = tokens + jnp.einsum("ij,bjl,lm,bnm->bni", p, gram, q, tokens)
        return jnp.mean((-tokens[:, -1, -1] - labels[:, -1]) ** 2)

    @jax.jit
    def step(weights, memory, key):
        value, gradient = jax.value_and_grad(loss)(weights, key)
        moves, memory = optimiser.update(gradient, memory)
        return optax.apply_updates(weights, moves), memory, value

    def burst() -> None:
        trained, memory = weights, optimiser.init(weights)
        for index in range(STEPS):
            trained, memory, _ = step(trained, memory, jax.random.key(index))
        jax.block_until_ready(trained)

    burst()
    return burst


def plain_torch(layers: int) -> list[Burst]:
    """The attention matrix of every head and layer, autograd, torch.optim.Adam."""
    try:
        import torch  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    except ImportError:
        return []
    torch.manual_seed(0)
    scale = 0.2 / (D + 1)
    weights = (scale * torch.randn(2, layers, D + 1, D + 1)).requires_grad_()
    optimiser = torch.optim.Adam([weights], lr=1e-3)

    def step() -> None:
        x = torch.randn(BATCH, N + 1, D)
        w = torch.randn(BATCH, D, 1)
        labels = (x @ w)[..., 0]
        y = labels[:, :-1] + 5 * torch.rand(BATCH, 1) * torch.randn(BATCH, N)
        tokens = torch.cat([x, torch.nn.functional.pad(y, (0, 1))[..., None]], dim=2)
        for p, q in zip(weights[0], weights[1], strict=True):
            context = tokens[:, :-1]
            scores = tokens @ q.T @ context.mT
            tokens = tokens + scores @ context @ p.T
        loss = ((-tokens[:, -1, -1] - labels[:, -1]) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def burst(threads: int) -> None:
        torch.set_num_threads(threads)
        for _ in range(STEPS):
            step()

    burst(1)
    return [functools.partial(burst, threads) for threads in dict.fromkeys((1, cores()))]


def rates(bursts: list[Burst], rounds: int = ROUNDS) -> list[float]:
    """Steps per second of each, the best of many short rounds, interleaved: other work on the machine only ever slows
    one down."""
    seconds = [float("inf")] * len(bursts)
    for _ in range(rounds):
        for index, burst in enumerate(bursts):
            began = time.perf_counter()
            burst()
            seconds[index] = min(seconds[index], time.perf_counter() - began)
    return [STEPS / each for each in seconds]


def main() -> None:
    for layers in (1, 4):
        fast, jax_rate, *others = rates([ours(layers), plain_jax(layers), *plain_torch(layers)])
        print(
            f"papers' recipe, {layers} layers: {fast:.0f} steps/s, {fast / jax_rate:.2f} times a plain JAX loop", end=""
        )
        told = ", ".join(f"{rate:.0f}" for rate in others)
        print(f", {fast / max(others):.2f} times a plain PyTorch loop ({told})" if others else " (no PyTorch here)")


if __name__ == "__main__":
    main()
