"""Table 1, trained again."""

import itertools
import math

from .. import CONTROL, Check, Evidence, Figure, Lab, Table, at_least, at_most, claim, equal
from ._networks import Networks, is_shipped, networks, notes, task_of
from ._pictures import KINDS, depth_panel
from ._printed import LAW_NAMES, PRINTED_LAWS, printed_networks
from ._spectra import oracle_risk
from ._table1 import Cell, cells, sampling_error

# Training is not where two papers agree better than this.
RATIO = 0.03
# The table has three decimals where numbers are not tiny.
ROUNDING = 0.0005
ENTRIES = sum(len(printed_networks(kind, law)) for kind in KINDS for law in PRINTED_LAWS)
# What is trained again at the quick budget too, to show that the shipped networks come from nothing else.
AFRESH, AFRESH_LAYERS = "uniform:5", 3
# Laws on which our two layers of GD++ are lower than the paper's.
BASINS = ("0", *(f"uniform:{top}" for top in range(1, 5)), "1,3")
# How much lower is clearly lower.
CLEARLY = 0.9
# An entry that is reached is shown not to lie further below ours: the paper's own sampling errors allow no more.
OPEN = 1.2


@claim(
    "table-1",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Table 1",
    title="Table 1: our networks reach the printed losses wherever they are of the kind and depth, within errors",
    statement=r"""
        Trained on in-context regression with unknown noise ($d = 10$, $n = 20$, one head), GD++, DIAG and FULL networks
        reach the adjusted losses of Table 1, by noise law and number of layers, in every entry for which we have a
        network of the kind and depth (the words below count them; entries of GD++ below the bound of constant ridge
        have a claim of their own). Within errors: no entry is shown to lie more than 3% below ours, and none lies a
        fifth below.
    """,
    refuted_by={
        "unreached": "A judged entry that is shown to lie more than 3% below all of our networks of its class.",
        "open": "A judged entry that may lie a fifth below them.",
    },
    method=r"""
        GD++ and DIAG are trained by Levenberg-Marquardt, each depth from the one before; FULL by Adam from random dense
        weights. An entry of FULL is judged where we trained such a network, or one that is DIAG but for two input
        directions (axial); the best of these and of DIAG, which the class contains, counts. All are measured on fresh
        contexts. Adjusted half-MSE: half of the mean squared error less that of the ridge regression that knows
        $\sigma$ (the factor one half is not in the paper's formula; all of its entries show it). Contexts on which a
        network errs by more than ten times what predicting zero costs are left out and counted. An entry counts as
        reached unless ours is more than 3% above it, beyond rounding and three standard errors, the paper's own
        included. That alone would pass the more, the larger the errors are; so the largest distance that they leave
        open is judged, too. A fifth for it was set after a look: it is what the paper's 100,000 sequences can tell.
        That no judged entry of DIAG or FULL is below Bayes' loss, which no network can beat, is a control of the units.
    """,
    quick="networks from a long run, measured again: all ten laws, up to 5 layers (7 for U(0, 5) and {1, 3}, 3 without "
    "noise), FULL of 3 and 4 layers for a few laws; GD++ and DIAG of up to 3 layers on U(0, 5) trained afresh beside",
    full="all ten laws, GD++ and DIAG up to 7 layers, FULL up to 4 or 5, all trained here",
    seconds=60,
)
def table_1_claim(lab: Lab) -> Evidence:
    """Every entry that was trained beside the printed one."""
    checks: list[Check] = []
    rows, panels, used, left_out = [], [], [], []
    every: list[_Entry] = []
    counts: dict[str, int] = dict.fromkeys(("lower", "reached", "above", "bound"), 0)
    for law in PRINTED_LAWS:
        diag, others = _of_law(lab, law)
        used += [diag, *others]
        panels.append(depth_panel(law, [diag, *others]))
        oracle = oracle_risk(task_of(law))[0]
        judged = [_Entry(cell, oracle) for cell in cells(diag, law, diag)]
        best = _best_full(law, diag, others, oracle)
        for kind, group in itertools.groupby([*sorted(judged, key=lambda each: each.kind), *best], lambda e: e.kind):
            entries = list(group)
            fair = [entry for entry in entries if not entry.bounded and not entry.weak]
            left_out += [f"{KINDS[kind]} {entry.cell.layers}, {LAW_NAMES[law]}" for entry in entries if entry.weak]
            for entry in entries:
                rows.append(entry.row())
                counts[entry.verdict] += not entry.weak
            every += fair
            if fair:
                checks.append(max(fair, key=lambda entry: entry.excess).check())
            bayes, bayes_error = diag.measured.mean("bayes")
            if kind != "gd++" and bayes > 0:
                checks.append(min(entries, key=lambda entry: entry.cell.paper).possible(bayes, bayes_error))
    by_kind = {kind: [entry for entry in every if entry.kind == kind] for kind in KINDS}
    opened = [max(its, key=lambda entry: entry.most).left_open() for its in by_kind.values() if its]
    checks += [*opened, *_trained_afresh(lab)]
    figure = Figure(
        "table-1",
        "Table 1 as curves",
        "Loss against depth for the networks that were trained, with ridge regressions and the Bayes optimum.",
        tuple(panels),
    )
    table = Table(
        "table-1",
        "Adjusted half-MSE, ours beside the paper's",
        ("noise", "class", "layers", "ours", "±", "paper", "ours / paper", "our network", "ours is", "exploding share"),
        tuple(sorted(rows, key=lambda row: row[:3])),
        "Ours is the mean over contexts on which the network does not explode.",
    )
    total = sum(counts.values()) - counts["bound"]
    words = (
        f"Of {ENTRIES} entries for networks, {total} are judged: ours is clearly lower (by more than a tenth) "
        f"in {counts['lower']}, reaches the printed loss, within 3% and errors, in {counts['reached']}, lies above it "
        f"in {counts['above']}; {counts['bound']} of GD++ are printed below the bound of constant ridge, and not "
        "judged here (claim `table-1-gd-plus-plus`).",
        f"For {sum(entry.most <= 1 + RATIO for entry in every)} of them it is shown, all errors allowed for, that ours "
        f"is not more than 3% above; for all of them, that it is not more than {max(e.most for e in every) - 1:.0%}. "
        "What is left open is the paper's sampling error, up to "
        f"{max(entry.paper_error / entry.cell.paper for entry in every):.1%} of an entry, and its three decimals.",
        f"Not judged are {len(left_out)} entries of FULL at depths and laws for which we trained DIAG only, and those "
        "deeper than our networks.",
        "Reaching a printed loss shows that the class has such a network. It does not show that the paper's training "
        "finds the least loss of a class: where ours is clearly lower, it didn't (claim `table-1-not-least`).",
    )
    decisive = max(opened, key=lambda check: check.value + check.slack)
    return Evidence(tuple(checks), (figure,), (table,), words, headline=decisive.name, long_runs=notes(*used))


@claim(
    "table-1-not-least",
    paper="linear-transformer",
    whose="extension",
    where="Table 1",
    title="Up to $U(0, 4)$ and on two levels, two layers of GD++ can do clearly better than Table 1 says",
    statement=r"""
        Without noise, for $U(0, 1)$ to $U(0, 4)$ and for $\{1, 3\}$ there is a two-layer GD++ network whose loss is
        more than a tenth below the printed one.
    """,
    refuted_by="A law among the six for which our two-layer GD++ is not a tenth below the printed loss.",
    method="The networks of claim `table-1`, measured on fresh contexts; errors with those of the paper's 100,000 "
    "sequences. The six laws are those for which it was seen: of the four others nothing is claimed.",
    quick="networks from a long run, measured again",
    full="networks trained here",
    seconds=8,
)
def table_1_not_least(lab: Lab) -> Evidence:
    """Ratios of two-layer GD++ networks to the printed ones."""
    checks, rows, used = [], [], []
    for law in BASINS:
        found = networks(lab, law)
        used.append(found)
        value, error = found.measured.ordinary_mean("gd++ 2")
        printed = printed_networks("gd++", law)[1]
        theirs = sampling_error(printed, oracle_risk(task_of(law))[0])
        rows.append((LAW_NAMES[law], value, error, printed, theirs, value / printed))
        checks.append(
            at_most(
                f"GD++ with two layers over the printed loss, {LAW_NAMES[law]}",
                value / printed,
                CLEARLY,
                error=math.hypot(error, value / printed * theirs) / printed,
                reason="A tenth is far beyond standard errors and rounding.",
                printed=f"{printed:g}",
            )
        )
    table = Table("basins", "Two layers of GD++", ("noise", "ours", "±", "paper", "±", "ours / paper"), tuple(rows))
    return Evidence(tuple(checks), tables=(table,), long_runs=notes(*used))


class _Entry:
    """An entry of the table with the network of its class that comes nearest, and what is known of errors."""

    def __init__(self, cell: Cell, oracle: float, *, kind: str = "", trained: bool = True):
        self.cell, self.kind = cell, kind or cell.model
        self.paper_error = sampling_error(cell.paper, oracle)
        self.bounded = self.kind == "gd++" and cell.paper + 3 * self.paper_error < cell.const_ridge
        self.both = (cell.ordinary_error**2 + self.paper_error**2) ** 0.5
        rounding = ROUNDING if cell.paper >= 2 * ROUNDING else 0.005 * cell.paper
        self.tolerance = RATIO * cell.paper + rounding
        self.excess = (cell.ordinary - cell.paper - self.tolerance - 3 * self.both) / cell.paper
        # Ours over the printed loss, at most.
        self.most = (cell.ordinary + 3 * self.both) / cell.paper
        # FULL contains DIAG, but a DIAG network that does not reach FULL's entry says nothing about it: so one that
        # does must not count either.
        self.weak = not trained

    @property
    def verdict(self) -> str:
        if self.bounded:
            return "bound"
        if self.cell.ordinary + 3 * self.both < CLEARLY * self.cell.paper - ROUNDING:
            return "lower"
        return "reached" if self.excess <= 0 else "above"

    def row(self) -> tuple:
        cell = self.cell
        said = "not judged" if self.weak else self.verdict
        ratio, numbers = cell.ordinary / cell.paper, (cell.ordinary, cell.ordinary_error, cell.paper)
        return (LAW_NAMES[cell.law], KINDS[self.kind], cell.layers, *numbers, ratio, cell.model, said, cell.exploding)

    def check(self) -> Check:
        cell = self.cell
        return at_most(
            f"{KINDS[self.kind]}, {LAW_NAMES[cell.law]}: the entry that ours is furthest above, {cell.layers} layers",
            cell.ordinary,
            cell.paper,
            error=cell.ordinary_error,
            bound_error=self.paper_error,
            # A check holds for all values within three standard errors; here it is enough that it may.
            tolerance=self.tolerance + 6 * self.both,
            reason="3% for training, half of the last printed digit, and three standard errors of the difference (six "
            "here, because a check must hold for all values within three): it fails where ours is shown to be above. "
            "How far above it may be is judged apart. The paper's own errors follow from its 100,000 sequences with "
            "one query each.",
            printed=f"{cell.paper:g}",
            against="unreached",
        )

    def left_open(self) -> Check:
        cell = self.cell
        return at_most(
            f"{KINDS[self.kind]}: ours over the printed loss, the entry for which errors allow most "
            f"({LAW_NAMES[cell.law]}, {cell.layers} layers)",
            cell.ordinary / cell.paper,
            OPEN,
            error=self.both / cell.paper,
            reason="A fifth, all errors allowed for: the paper's sampling errors and three decimals let nothing nearer "
            "be shown of its smallest entries.",
            printed=f"{cell.paper:g}",
            against="open",
        )

    def possible(self, bayes: float, bayes_error: float) -> Check:
        cell = self.cell
        return at_least(
            f"{KINDS[self.kind]}, {LAW_NAMES[cell.law]}: smallest judged entry against Bayes' loss",
            cell.paper,
            bayes,
            error=self.paper_error,
            bound_error=bayes_error,
            tolerance=ROUNDING + 6 * (self.paper_error**2 + bayes_error**2) ** 0.5,
            reason="Half of the last digit and three standard errors (six here, as above).",
            against=CONTROL,
        )


def _of_law(lab: Lab, law: str) -> tuple[Networks, list[Networks]]:
    kinds = ("full", "axial") if lab.budget == "full" else [k for k in ("full", "axial") if is_shipped(law, k)]
    return networks(lab, law), [networks(lab, law, kind) for kind in kinds]


def _best_full(law: str, diag: Networks, others: list[Networks], oracle: float) -> list[_Entry]:
    """For each depth the network of least loss that FULL contains."""
    made = [cell for found in (diag, *others) for cell in cells(found, law, diag, printed_as="full")]
    own = {cell.layers for cell in made if cell.model == "full"}
    by_depth = itertools.groupby(sorted(made, key=lambda cell: cell.layers), lambda cell: cell.layers)
    best = [min(group, key=lambda cell: cell.ordinary) for _, group in by_depth]
    return [_Entry(cell, oracle, kind="full", trained=cell.layers in own) for cell in best]


def _trained_afresh(lab: Lab) -> list[Check]:
    """Networks trained here against those that the claims look at."""
    kept = networks(lab, AFRESH).measured
    fresh = networks(lab, AFRESH, layers=AFRESH_LAYERS, afresh=True).measured
    checks = []
    for name in (f"gd++ {AFRESH_LAYERS}", f"diag {AFRESH_LAYERS}"):
        found = fresh.ratio(name, name, other=kept)
        checks.append(
            equal(
                f"{name.replace(' ', ', layers ')}, {LAW_NAMES[AFRESH]}: trained here over the shipped network",
                found.value,
                1.0,
                error=found.error,
                freedom=found.freedom,
                tolerance=RATIO,
                reason="What was shipped can be trained again; 3% for training.",
                against=CONTROL,
            )
        )
    return checks
