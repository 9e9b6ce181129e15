"""Run all benchmarks: each compares with a straightforward implementation in the same run and prints a ratio."""

from . import (
    best_heads,
    compile_time,
    compiled_ridge,
    context_length,
    explorer,
    gradient_variance,
    linear_transformer,
    moment_risk,
    one_layer,
    papers_recipe,
    question,
    small_matrices,
    sweep,
    time_to_loss,
)

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
    papers_recipe,
    compile_time,
    compiled_ridge,
    # These take a quarter of an hour; the last keeps to one core.
    time_to_loss,
    one_layer,
):
    benchmark.main()
