"""Run all benchmarks: each compares with a straightforward implementation in the same run and prints a ratio."""

from . import (
    best_heads,
    compiled_ridge,
    context_length,
    gradient_variance,
    linear_transformer,
    moment_risk,
    papers_recipe,
)

for benchmark in (
    *(context_length, moment_risk, best_heads, linear_transformer, gradient_variance, papers_recipe),
    compiled_ridge,
):
    benchmark.main()
