"""All examples at once, in a page of the report: an own layer, trained by an own trainer under own laws, and the rest.

DESCANT_CLAIMS=all_together descant reproduce all-together --out all-together
"""

from descant import LinearRegression, risk
from descant.attention import load, save
from descant.claims import Evidence, Lab, Paper, Table, at_most, claim
from descant.estimators import Zero
from descant.training import train
from gated_attention import KIND, Gated
from log_uniform_noise import LogUniform
from nonlinear_task import Squares
from sgd_trainer import SGD
from shrunk_estimator import ShrunkOLS
from student_t_prior import HeavyTails


@claim(
    "all-together",
    paper=Paper("examples", "Examples", "Things of one's own", "Somebody", 2026),
    where="examples/",
    title="A layer, a prior, a noise law, a task, an estimator and a trainer of one's own",
    statement="The gated layer learns: its risk ends below 0.9 times that of the answer 0.",
    refuted_by="A larger risk.",
    method="Stochastic gradient descent on fresh prompts; risks on tokens, with standard errors.",
    **{"quick": "300 steps", "full": "the same"},  # pyright: ignore[reportArgumentType]
    seconds=20,
)
def all_together(lab: Lab) -> Evidence:  # train, save, load, measure
    task = LinearRegression(2, 8, HeavyTails(9.0), noise=LogUniform(0.1, 1.0))
    found = train(KIND.made(task, heads=2, key=lab.key("start")), task, solver=SGD, steps=300, lr=0.05, samples=4096)
    save(found.model, lab.folder / "gated.safetensors")
    pairs = (load(lab.folder / "gated.safetensors", kinds=Gated), task), (ShrunkOLS(), task), (Zero(), Squares(2, 8))
    gated, shrunk, squares, zero = (risk(*pair, samples=4096) for pair in (*pairs, (Zero(), task)))
    named = {"gated": gated, "shrunk least squares": shrunk, "zero on squares": squares, "zero": zero}
    rows = tuple((name, each.value, each.standard_error or None, each.method) for name, each in named.items())
    check = at_most("gated", gated.value, 0.9 * zero.value, error=gated.standard_error, reason="It learns.")
    return Evidence((check,), tables=(Table("risks", "Risks", ("predictor", "risk", "±", "method"), rows),))
