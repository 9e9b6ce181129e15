"""A sweep against a process per point: 10,086 exact risks, and 1,000 trainings of one layer.

The sweep is run whole, with a process per core. One process per point is measured on a handful of points, spread over
the grid, as many side by side as there are cores, and scaled to all of them. Programs that JAX compiled are kept on
disk for both; the first of either finds none.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from descant._cores import cores

HANDFUL = 12
MEANS, NOISES = "{ from = 0, to = 2, count = 41 }", "{ from = 0.1, to = 10, count = 41, log = true }"
EXACT = f"""
[task]
d = 5
n = 10
[model]
name = "multi-head-lsa"
[grid]
model.heads = [1, 2, 3, 4, 5, 6]
task.prior_mean = {MEANS}
task.noise = {NOISES}
"""
TRAINED = """
[task]
d = 5
n = 10
[model]
name = "lsa"
[training]
solver = "population"
[grid]
model.heads = [1, 2]
task.prior_mean = { from = 0, to = 2, count = 20 }
task.noise = { from = 0.1, to = 10, count = 25, log = true }
"""
# The same questions one by one.
ALONE = {
    "exact": ("risk multi-head-lsa", (1, 2, 3, 4, 5, 6)),
    "trained": ("train lsa --solver population", (1, 2)),
}


def main() -> None:
    for name, grid, count in (("exact", EXACT, 10_086), ("trained", TRAINED, 1_000)):
        with tempfile.TemporaryDirectory() as folder:
            swept = sweep_seconds(grid, Path(folder))
            alone = alone_seconds(name, Path(folder)) * count / HANDFUL
        print(
            f"sweep of {count} {name} points: {swept:.0f} s, a process per point {alone:.0f} s "
            f"(scaled from {HANDFUL} points), ratio {swept / alone:.4f}, {alone / swept:.0f} times faster"
        )


def sweep_seconds(grid: str, folder: Path) -> float:
    (folder / "grid.toml").write_text(grid)
    return _seconds(["sweep", "grid.toml", "--executor", "processes"], folder, "swept")


def alone_seconds(name: str, folder: Path) -> float:
    command, heads = ALONE[name]
    points = [(heads[index % len(heads)], 2 * index / HANDFUL, 10 ** (index / HANDFUL)) for index in range(HANDFUL)]

    def one(number: int) -> None:
        count, mean, noise = points[number]
        words = f"{command} --d 5 --n 10 --heads {count} --prior-mean {mean:.3f} --noise {noise:.3f} --json".split()
        _seconds(words, folder, "alone")

    began = time.perf_counter()
    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(one, range(HANDFUL)))
    return time.perf_counter() - began


def _seconds(words: list[str], folder: Path, cache: str) -> float:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / cache)}
    began = time.perf_counter()
    command = [sys.executable, "-m", "descant", *words]
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
