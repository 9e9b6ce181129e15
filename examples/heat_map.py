"""A sweep with a heat map: what a trainable guess is worth, over the mean of the tasks and the noise of the labels."""

import sys
from pathlib import Path

from descant import GaussianPrior, LinearRegression, best, risk
from descant.figures.static import png
from descant.sweeps import EXECUTORS, Store, find_evaluator, make_plan, picture, read_grid, run_sweep, to_table

GRID = """
evaluator = "heat_map:worth"
[task]
d = 4
n = 8
[grid]
task.mean = { from = 0, to = 2, count = 9 }
task.noise = { from = 0.1, to = 10, count = 9, log = true }
"""


def worth(point) -> dict:
    """By which factor a guess lowers the least risk of one head, exactly."""
    prior = GaussianPrior.isotropic(point["task.d"], mean=point["task.mean"])
    task = LinearRegression(point["task.d"], point["task.n"], prior, noise=point["task.noise"])
    without, with_guess = (risk(best(name, task), task, "exact").value for name in ("lsa", "yq-lsa"))
    return {"value": without / with_guess, "method": "exact"}


if __name__ == "__main__":
    Path("heat-map.toml").write_text(GRID)
    plan = make_plan(read_grid(Path("heat-map.toml")), find_evaluator("heat_map:worth"))
    workers = EXECUTORS[sys.argv[1] if len(sys.argv) > 1 else "local"](2, None)  # local, processes or ray
    *_, last = run_sweep(plan, Store("sweeps"), workers)
    workers.close()
    print(f"{last.total} points, {last.found} of them found from before, {len(last.failed)} failed")
    table = to_table(plan, last.outcomes, "heat-map")
    drawn = picture(table, {"name": "heat-map", "axes": []}, meaning="factor by which a guess lowers the risk")
    Path("heat-map.png").write_bytes(png(drawn.figure))
