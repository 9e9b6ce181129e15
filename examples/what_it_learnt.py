"""What did it learn? Two layers, trained on two noise levels, read as an algorithm."""

from pathlib import Path

import jax

from descant import CategoricalNoise, LinearRegression
from descant.attention import make_model
from descant.figures.static import png
from descant.readout import explain, figures
from descant.training import train

if __name__ == "__main__":
    task = LinearRegression(d=3, n=8, noise=CategoricalNoise([0.5, 2.0]))
    start = make_model("diag", task, layers=2, key=jax.random.key(0))
    found = train(start, task, random_starts=1, pieces=2, samples=8192)
    print(f"risk {found.risk.value:.4f} ± {found.risk.standard_error:.4f}\n")

    explanation = explain(found.model, task, contexts=512)
    print(explanation.text)
    for figure in figures(explanation):
        Path(f"learnt-{figure.name}.png").write_bytes(png(figure))
