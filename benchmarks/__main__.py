"""Run all benchmarks: each compares with a straightforward implementation in the same run and prints a ratio."""

from . import best_heads, context_length, linear_transformer, moment_risk

for benchmark in (context_length, moment_risk, best_heads, linear_transformer):
    benchmark.main()
