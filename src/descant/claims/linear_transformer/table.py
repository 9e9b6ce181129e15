"""Table 1, trained again."""

from .. import Check, Evidence, Figure, Lab, Table, at_most, claim
from ._networks import Networks, networks, task_of
from ._pictures import depth_panel
from ._printed import LAW_NAMES, PRINTED_LAWS
from ._spectra import oracle_risk
from ._table1 import Cell, cells

# In an order in which another process, that begins with {1, 3}, has finished when this one needs it.
QUICK_RUNS = (("uniform:5", "diag"), ("0", "diag"), ("1,3", "diag"), ("1,3", "full"))
FULL_RUNS = (*((law, "diag") for law in PRINTED_LAWS), *((law, "full") for law in PRINTED_LAWS))
# Training is not where two papers agree better than this.
RATIO = 0.03
SEQUENCES = 100_000


@claim(
    "table-1",
    paper="linear-transformer",
    where="Table 1",
    title="Table 1: what GD++, DIAG and FULL networks reach",
    statement=r"""
        Trained on in-context regression with unknown noise ($d = 10$, $n = 20$), GD++, DIAG and FULL networks reach the
        adjusted losses of Table 1, by noise law and number of layers.
    """,
    refuted_by="A cell whose printed loss our training does not reach, though no bound forbids it.",
    method=r"""
        Networks are trained by Levenberg-Marquardt on a pool of contexts, each depth from the one before (FULL from
        DIAG, with two input directions freed first), and measured on fresh contexts. Adjusted half-MSE: half of the
        mean squared error less that of the ridge regression that knows $\sigma$ (the factor one half is not in the
        paper's formula; all of its entries show it). Contexts on which a network errs by more than ten times what
        predicting zero costs are left out and counted: the deep networks at low noise, the paper's values included,
        belong to polynomials of high degree that explode on rare contexts.
    """,
    quick="a third: U(0, 5) and {1, 3} up to 5 layers, no noise up to 3; FULL with 3 and 4 layers on {1, 3}",
    full="all ten laws, GD++ and DIAG up to 7 layers, FULL up to 4 or 5",
    seconds=330,
)
def table_1_claim(lab: Lab) -> Evidence:
    """Every trained cell beside the printed one."""
    checks: list[Check] = []
    rows, panels = [], []
    by_law: dict[str, list[Networks]] = {}
    for law, kind in lab.pick(QUICK_RUNS, FULL_RUNS):
        found = networks(lab, law, kind)
        by_law.setdefault(law, []).append(found)
        oracle = oracle_risk(task_of(law))[0]
        for cell in cells(found, law, by_law[law][0]):
            value, theirs = cell.ordinary, cell.paper
            paper_error = (2 * theirs * (oracle + theirs) / SEQUENCES) ** 0.5
            rows.append(
                (
                    LAW_NAMES[law],
                    cell.model,
                    cell.layers,
                    value,
                    cell.ordinary_error,
                    theirs,
                    value / theirs,
                    cell.exploding,
                    cell.value,
                )
            )
            bounded = cell.model == "gd++" and theirs + 3 * paper_error < cell.const_ridge
            # FULL contains DIAG: where it ends above it, its training has not ended.
            diag = by_law[law][0].measured.ordinary_mean(f"diag {cell.layers}")[0]
            if not bounded and not (cell.model == "full" and value > diag):
                checks.append(_check(cell, paper_error))
    for law, found in by_law.items():
        panels.append(depth_panel(law, found))
    figure = Figure(
        "table-1",
        "Table 1 as curves",
        "Loss against depth for the cells that were trained, with ridge regressions and the Bayes optimum.",
        tuple(panels),
    )
    table = Table(
        "table-1",
        "Adjusted half-MSE, ours beside the paper's",
        (
            "noise",
            "network",
            "layers",
            "ours",
            "±",
            "paper",
            "ours / paper",
            "exploding share",
            "mean over all contexts",
        ),
        tuple(sorted(rows, key=lambda row: (row[0], row[1], row[2]))),
        "Ours is the mean over contexts on which the network does not explode; the last column is the mean over all.",
    )
    words = (
        "GD++ with two layers has two basins; ours is the better one, so several of our values are below the paper's."
        " Entries of GD++ that the paper prints below the bound of constant ridge are listed and not judged here "
        "(claim `table-1-gd-plus-plus`).",
        "FULL contains DIAG. Where our FULL ends above it, its training has not ended (the pool of the quick budget is "
        "small for almost a thousand weights); such cells are listed and not judged.",
        "Without noise, and at U(0, 1), deep networks explode on about one context in a hundred thousand; the column "
        "of means over all contexts then says nothing but that.",
    )
    return Evidence(tuple(checks), (figure,), (table,), words)


def _check(cell: Cell, paper_error: float) -> Check:
    both = (cell.ordinary_error**2 + paper_error**2) ** 0.5
    return at_most(
        f"{cell.model}, layers {cell.layers}, {LAW_NAMES[cell.law]}",
        cell.ordinary,
        cell.paper,
        error=cell.ordinary_error,
        bound_error=paper_error,
        tolerance=RATIO * cell.paper + 6 * both,
        reason="3% for training, and three standard errors of the difference (six here, because a check must hold for"
        " all values within three); the paper's own follow from its 100,000 sequences with one query each.",
        printed=f"{cell.paper:g}",
    )
