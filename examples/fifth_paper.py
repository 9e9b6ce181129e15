"""A claim of a paper that Descant doesn't know, with its own experiment, judged and shown like the others.

DESCANT_CLAIMS=fifth_paper descant reproduce sparse-start --out fifth-report
"""

from descant import FixedNoise, LinearRegression, best, risk
from descant.claims import Axis, Evidence, Figure, Lab, Panel, Paper, Series, at_most, claim
from descant.tasks import SparsePrior

NOTES = Paper("own-notes", "Own notes", "Notes on sparse tasks", "Ada Lovelace, Mary Somerville", 1843)
SHARES = (0.1, 0.25, 0.5, 1.0)


@claim(
    "sparse-start",
    paper=NOTES,
    where="page 1",
    title="A learnt start helps on sparse tasks too",
    statement=r"On tasks whose entries are $N(1, 1)$ with probability $p$, else 0, GD-$\beta$ has less risk than GD.",
    refuted_by="A $p$ at which it has not.",
    method="Both least risks are exact: they need two moments of the tasks.",
    quick="four values of p",
    full="the same",
    seconds=5,
)
def sparse_start(lab: Lab) -> Evidence:
    """Two curves, one below the other."""

    def least(name: str, p: float) -> float:
        task = LinearRegression(3, 8, prior=SparsePrior(p, 1.0, 1.0), noise=FixedNoise(0.5))
        return risk(best(name, task), task, "exact").value

    curves = lab.keep("curves", lambda: {name: [least(name, p) for p in SHARES] for name in ("gd", "gd-beta")})
    ratio = max(learnt / zero for zero, learnt in zip(curves["gd"], curves["gd-beta"], strict=True))
    check = at_most(
        "largest risk of GD-beta over that of GD", ratio, 0.99, reason="Both are exact; a clear difference."
    )
    lines = tuple(Series(name, SHARES, tuple(risks)) for name, risks in curves.items())
    panel = Panel("d = 3, n = 8, noise 0.5", Axis("p"), Axis("least risk"), lines)
    return Evidence((check,), (Figure("sparse", "Least risks", "GD-beta is below GD.", (panel,), columns=1),))
