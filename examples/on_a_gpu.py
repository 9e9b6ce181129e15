"""Train on whatever device JAX has: a GPU if its plugin is installed, else the CPU. The script is the same."""

import sys
import time

import jax

from descant import LinearRegression, UniformNoise
from descant.attention import make_model
from descant.training import AdamTrainer, to_end

if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    device = jax.devices()[0]
    print(f"{len(jax.devices())} x {device.device_kind} ({device.platform})")

    task = LinearRegression(d=10, n=20, noise=UniformNoise(5.0))
    # Four networks in one program, in float32: more members and larger batches are what fills a GPU.
    models = [make_model("full", task, layers=2, key=jax.random.key(seed)) for seed in range(4)]
    trainer = AdamTrainer(models, task, objective="posterior", key=jax.random.key(9), steps=steps, batch=256, lr=1e-3)

    started, told = time.perf_counter(), []
    to_end(trainer, each=lambda state, rows: told.extend(rows))
    print(f"{steps / (time.perf_counter() - started):.0f} steps/s, compilation included; last row: {told[-1]}")
