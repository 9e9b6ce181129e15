"""Adam in batches that fill a GPU: FULL and DIAG, four layers, d = 10, sampling included.

`python -m benchmarks.large_batches [BATCH]`, of 16,384 contexts on a GPU and 2,048 elsewhere. Ours draws moments and
fits weight vectors, which has the same minimiser; the plain jitted JAX loop of `papers_recipe` draws tokens and reads
all n of them in every layer. Promises, on one H200: at least 4
times its steps at n = 20 and 20 times at n = 200; DIAG at least as fast as FULL; at n = 1,000,000 at most 1.3 times the
time of n = 20. Compilation is left out.
"""

import sys

import jax

from .papers_recipe import ours, plain_jax, rates

LAYERS, ROUNDS = 4, 7
SHORT, LONG, ENDLESS = 20, 200, 1_000_000


def main() -> None:
    device = jax.devices()[0]
    batch = int(sys.argv[1]) if len(sys.argv) > 1 else (16_384 if device.platform == "gpu" else 2_048)
    found = rates(
        [
            ours(LAYERS, "weights", n=SHORT, batch=batch),
            plain_jax(LAYERS, n=SHORT, batch=batch),
            ours(LAYERS, "weights", n=LONG, batch=batch),
            plain_jax(LAYERS, n=LONG, batch=batch),
            ours(LAYERS, "weights", n=ENDLESS, batch=batch),
            ours(LAYERS, "weights", n=SHORT, batch=batch, diagonal=True),
        ],
        ROUNDS,
    )
    short, plain_short, long, plain_long, endless, diagonal = found
    print(
        f"{device.device_kind}, batch {batch}, FULL-{LAYERS}: {short * batch / 1e6:.2f} million contexts/s\n"
        f"  against a plain loop over tokens: {short / plain_short:.1f} times at n = {SHORT}, "
        f"{long / plain_long:.1f} times at n = {LONG}\n"
        f"  n = {ENDLESS}: {short / endless:.2f} times the time of n = {SHORT}\n"
        f"  DIAG: {diagonal / short:.2f} times the steps of FULL"
    )


if __name__ == "__main__":
    main()
