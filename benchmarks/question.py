"""CPU time of a question on the command line, and of 63 exact risks in Python, against what `import jax` alone takes.

Cold is with an empty folder of compiled programs; modules are in the cache of files and compiled to bytecode.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

QUESTIONS = {
    "risk lsa": "risk lsa --d 5 --n 5 --prior-mean 1",
    "risk lsa, noise": "risk lsa --d 5 --n 5 --prior-mean 1 --noise 0.5",
    "claims": "claims",
    "help": "--help",
}
REPEATS = 5
# A plot: 9 prior means by 7 noise levels at d = 20.
RISKS = """
import numpy as np
from descant import FixedNoise, GaussianPrior, LinearRegression, best, risk
for mean in np.linspace(-2, 2, 9):
    for sigma in np.linspace(0, 1, 7):
        task = LinearRegression(20, 20, GaussianPrior.isotropic(20, mean), noise=FixedNoise(sigma))
        risk(best("NAME", task), task).value
"""
CLASSES = ("lsa", "multi-head-lsa", "gd", "preconditioned-gd", "gd-beta", "yq-lsa", "ltb", "zero", "ols")


def cpu_seconds(*arguments: str, folder: str) -> float:
    """User and system time of a Python process, with all its threads."""
    environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": folder}
    before = os.times()
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def cold_and_warm(*arguments: str) -> tuple[float, float, float]:
    """Median times with no compiled programs and with those of the time before, and cold against `import jax`."""
    rows = []
    cpu_seconds(*arguments, folder=tempfile.gettempdir())  # compiles to bytecode
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = (cpu_seconds(*arguments, folder=folder) for _ in range(2))
            rows.append((cold, warm, cold / cpu_seconds("-c", "import jax", folder=folder)))
    cold, warm, ratio = np.median(rows, axis=0)
    return float(cold), float(warm), float(ratio)


def main() -> None:
    for name, words in QUESTIONS.items():
        cold, warm, ratio = cold_and_warm("-m", "descant", *words.split())
        print(f"question: {name}: {cold:.2f} s cold, {warm:.2f} s warm; against import jax {ratio:.2f}")
    for name in CLASSES:
        cold, warm, ratio = cold_and_warm("-c", RISKS.replace("NAME", name))
        print(f"question: 63 risks of {name}: {cold:.2f} s cold, {warm:.2f} s warm; against import jax {ratio:.2f}")


if __name__ == "__main__":
    main()
