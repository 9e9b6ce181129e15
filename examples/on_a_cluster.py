"""A sweep on a cluster of Ray: the one at an address, or one that is started here for as long as it takes."""

import sys
from pathlib import Path

from descant import LinearRegression, best, risk
from descant.sweeps import Store, find_evaluator, make_plan, read_grid, run_sweep
from descant.sweeps.executors import RayExecutor

GRID = """
evaluator = "on_a_cluster:least"
[grid]
d = [2, 4, 8]
noise = { from = 0.1, to = 10, count = 16, log = true }
"""


def least(point) -> dict:
    """The least risk of one head, exactly."""
    task = LinearRegression(point["d"], 2 * point["d"], noise=point["noise"])
    return {"value": risk(best("lsa", task), task, "exact").value, "method": "exact"}


if __name__ == "__main__":
    Path("cluster.toml").write_text(GRID)
    plan = make_plan(read_grid(Path("cluster.toml")), find_evaluator("on_a_cluster:least"))
    cluster = RayExecutor(workers=2, address=sys.argv[1] if len(sys.argv) > 1 else None)  # "auto", or host:port
    print(f"{len(plan.points)} points on {cluster.in_words()}")
    try:
        # This process keeps the answers, in a folder or in any store that fsspec knows; workers need no common disk.
        *_, last = run_sweep(plan, Store("sweeps"), cluster)
    finally:
        cluster.close()
    print(f"{last.total} points, {last.found} found from before, {len(last.failed)} failed")
