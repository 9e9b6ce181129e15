"""A claim of a paper that Descant doesn't know, with its own experiment, judged and shown like the others.

DESCANT_CLAIMS=fifth_paper PYTHONPATH=. descant reproduce sparse-start --out fifth-report
"""

from descant import FixedNoise, LinearRegression, best, risk
from descant.claims import Axis, Evidence, Figure, Lab, Level, Panel, Paper, Series, at_most, claim, equal
from descant.tasks import SparsePrior

NOTES = Paper("own-notes", "Own notes", "Notes on sparse tasks", "Ada Lovelace, Mary Somerville", 1843, venue="Memoirs")
SHARES = (0.1, 0.25, 0.5, 1.0)


@claim(
    "sparse-start",
    paper=NOTES,
    where="page 1",
    title="A learnt start helps on sparse tasks too",
    statement=r"On tasks whose entries are $N(1, 1)$ with probability $p$, else 0, GD-$\beta$ has less risk than GD.",
    refuted_by="A $p$ at which it has not; another risk than that of Gaussian tasks at $p = 1$.",
    method="Both least risks are exact: they need two moments of the tasks.",
    quick="four values of p",
    full="the same",
    seconds=5,
)
def sparse_start(lab: Lab) -> Evidence:
    """Two curves, and the known end of one."""

    def least(name: str, p: float) -> float:
        task = LinearRegression(3, 8, prior=SparsePrior(p, 1.0, 1.0), noise=FixedNoise(0.5))
        return risk(best(name, task), task, "exact").value

    curves = lab.keep("curves", lambda: {name: [least(name, p) for p in SHARES] for name in ("gd", "gd-beta")})
    ratio = max(b / a for a, b in zip(curves["gd"], curves["gd-beta"], strict=True))
    gaussian = 3 * (3 + 1 + 0.25) / (8 + 3 + 1 + 0.25)  # d (d + 1 + sigma^2) / (n + d + 1 + sigma^2)
    end = equal("GD-beta, p = 1", curves["gd-beta"][-1], gaussian, tolerance=1e-9, reason="Exact: rounding alone.")
    below = at_most(
        "largest risk of GD-beta over that of GD", ratio, 0.99, reason="A clear difference; both are exact."
    )
    lines = tuple(Series(name, SHARES, tuple(risks)) for name, risks in curves.items())
    panel = Panel(
        "d = 3, n = 8",
        Axis("share p of entries that are not 0"),
        Axis("least risk"),
        lines,
        (Level("Gaussian", gaussian),),
    )
    return Evidence((below, end), (Figure("sparse", "Least risks", "GD-beta is below GD.", (panel,), columns=1),))
