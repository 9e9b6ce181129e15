"""A claim of one's own: a statement, an experiment that could refute it, and a verdict."""

from pathlib import Path

from descant import LinearRegression, best, risk
from descant.claims import Axis, Evidence, Figure, Lab, Panel, Paper, Series, at_most, claim, find, judge
from descant.figures.static import png
from descant.tasks import SparsePrior


def least(name: str, p: float) -> float:
    task = LinearRegression(3, 8, prior=SparsePrior(p, 1.0, 1.0), noise=0.5)
    return risk(best(name, task), task, "exact").value


@claim(
    "own-start",
    paper=Paper("own-notes", "Own notes", "Notes on sparse tasks", "Ada Lovelace, Mary Somerville", 1843),
    where="page 1",
    title="A learnt start helps on sparse tasks too",
    statement=r"On tasks whose entries are $N(1, 1)$ with probability $p$, else 0, GD-$\beta$ has less risk than GD.",
    refuted_by="A $p$ at which it has not.",
    method="Both least risks are exact: they need two moments of the tasks.",
    quick="four values of p",
    full="the same",
    seconds=5,
)
def own_start(lab: Lab) -> Evidence:
    kept = lab.keep("risks", lambda: [[p, least("gd", p), least("gd-beta", p)] for p in (0.1, 0.25, 0.5, 1.0)])
    p, gd, learnt = zip(*kept, strict=True)
    check = at_most("largest ratio of the risks", max(b / a for _, a, b in kept), 0.99, reason="Both are exact.")
    panel = Panel("", Axis("p"), Axis("least risk"), (Series("gd", p, gd), Series("gd-beta", p, learnt)))
    return Evidence((check,), (Figure("own", "Least risks", "GD-beta is below GD.", (panel,), columns=1),))


if __name__ == "__main__":
    judged = judge(find(["own-start"])["own-start"], Path("judged"))
    assert judged.evidence is not None, judged.failure
    print(judged.verdict, *(f"{check.name}: {check.value:.3f}" for check in judged.evidence.checks))
    Path("own-claim.png").write_bytes(png(judged.evidence.figures[0]))
