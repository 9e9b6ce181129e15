"""Run all benchmarks: each compares with a straightforward implementation in the same run and prints a ratio.

`--peers FOLDER` runs public codes that were cloned into the folder beside ours instead.
"""

import argparse
import sys
from pathlib import Path

from . import (
    best_heads,
    compile_time,
    compiled_ridge,
    context_length,
    crossover,
    explorer,
    gradient_variance,
    large_batches,
    linear_transformer,
    moment_risk,
    one_layer,
    papers_recipe,
    peers,
    question,
    small_matrices,
    sweep,
    time_to_loss,
)

parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
parser.add_argument("--peers", type=Path, metavar="FOLDER", help="a folder with clones of public codes")
asked = parser.parse_args()
if asked.peers is not None:
    peers.main(asked.peers)
    sys.exit()

for benchmark in (
    question,
    explorer,
    sweep,
    context_length,
    moment_risk,
    best_heads,
    linear_transformer,
    gradient_variance,
    small_matrices,
    crossover,
    papers_recipe,
    large_batches,
    compile_time,
    compiled_ridge,
    # These take a quarter of an hour; the last keeps to one core.
    time_to_loss,
    one_layer,
):
    benchmark.main()
