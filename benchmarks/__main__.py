"""Run all benchmarks: each compares with a straightforward implementation in the same run and prints a ratio."""

from . import (
    best_heads,
    context_length,
    gradient_variance,
    linear_transformer,
    moment_risk,
    one_layer,
    papers_recipe,
    time_to_loss,
)

# The last two take a quarter of an hour, and one core only.
for benchmark in (
    context_length,
    moment_risk,
    best_heads,
    linear_transformer,
    gradient_variance,
    papers_recipe,
    time_to_loss,
    one_layer,
):
    benchmark.main()
