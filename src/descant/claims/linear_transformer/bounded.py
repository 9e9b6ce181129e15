"""GD++ is bounded by the best constant ridge; what Table 1 prints for it."""

from dataclasses import replace

import numpy as np

from ..._sampling import standard_error
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim, consistent
from ._contexts import Contexts, entry_errors
from ._networks import Networks, networks, notes, task_of
from ._pictures import LOSS
from ._printed import LAW_NAMES, PRINTED_LAWS, printed_networks, printed_ridge
from ._spectra import eigenvalues, gap_to_const_ridge

QUICK_LAWS = ("uniform:2", "uniform:5", "1,3", "1,3,5")
COUNT = (20_000, 200_000)
BOUND_COUNT = (4_000, 40_000)
# Bins of eigenvalues in which a function is fitted that may be anything.
BINS = 100
# Sequences over which the paper averages, one query each.
SEQUENCES = 100_000


@claim(
    "gd-plus-plus-bound",
    paper="linear-transformer",
    whose="derived",
    where="Section 5.1, Figure 1 and Table 1",
    title="GD++ can't beat the best constant ridge; our deepest networks on four laws come within a hundredth of it",
    statement=r"""
        For tasks $N(0, I)$ GD++ answers linearly in the labels, $\hat w = f(X^\top X)\,X^\top y$, so that over any law
        of the noise level its loss is never below that of ridge regression with the one constant $c = E\sigma^2$
        (ConstRR). Our deepest trained GD++ networks are within a hundredth of that loss, on $U(0, 2)$,
        $U(0, 5)$, $\{1, 3\}$ and $\{1, 3, 5\}$ ($d = 10$, $n = 20$).
    """,
    refuted_by={
        "below": "A function $f$ of the eigenvalues whose loss on fresh contexts is below ConstRR's.",
        "formula": "A measured distance of a trained one-layer network from ConstRR that is not the exact one.",
        "reached": "A deepest trained GD++ network that stays a hundredth of ConstRR's loss above it.",
    },
    method=r"""
        With $c = E\sigma^2$ the difference of the two losses is, exactly, half the mean of $\sum_i \lambda_i (\lambda_i
        + c)\bigl(f(\lambda_i) - 1/(\lambda_i + c)\bigr)^2$ over the eigenvalues of $X^\top X$: never negative. That
        can't fail, so it is not a check. What could: a function $f$ that is constant on each of 100 bins of
        eigenvalues, and otherwise free, is fitted by least squares on sampled contexts and measured on others, beside
        ConstRR on the same ones. And the formula is compared with the paired difference that trained one-layer networks
        have on sampled labels. The hundredth was set after a look: a first version had two.
    """,
    quick="U(0, 2), U(0, 5), {1, 3} and {1, 3, 5}, up to 7 layers",
    full="all ten noise laws, up to 7 layers",
    seconds=10,
)
def gd_plus_plus_bound(lab: Lab) -> Evidence:
    """The exact gap and the measured one, for every depth; and the best function there is."""
    laws = lab.pick(QUICK_LAWS, PRINTED_LAWS)
    checks, panels, rows, used = [], [], [], []
    for index, law in enumerate(laws):
        found = networks(lab, law)
        used.append(found)
        lab.tell(f"gaps on {law}", index / len(laws))
        const = found.measured.mean("const")[0]
        names = [f"gd++ {layers}" for layers in range(1, found.depth + 1)]
        gaps = [gap_to_const_ridge(found.models[name], task_of(law), lab.pick(*COUNT), lab.seed) for name in names]
        rows += [
            (LAW_NAMES[law], layers, *found.measured.ordinary_mean(name), *found.measured.mean("const"), *gap)
            for layers, (name, gap) in enumerate(zip(names, gaps, strict=True), start=1)
        ]
        if const > 0:
            checks += _law_checks(lab, found, law, gaps)
        panels.append(_panel(law, const, gaps))
    figure = Figure(
        "gd-plus-plus-bound",
        "GD++ against the best constant ridge",
        "GD++ falls to ConstRR with three layers or so and stays there, however deep. Standard errors are those of "
        "the distance to ConstRR. The paper's points for U(0, 5) lie below the bound (see `table-1-gd-plus-plus`).",
        tuple(panels),
    )
    table = Table(
        "gaps",
        "GD++, ConstRR, and the distance by the formula",
        ("noise", "layers", "GD++", "±", "ConstRR", "±", "distance", "±"),
        tuple(rows),
    )
    headline = next(check.name for check in checks if check.against == "below")
    return Evidence(tuple(checks), (figure,), (table,), headline=headline, long_runs=notes(*used))


def _panel(law: str, const: float, gaps: list[tuple[float, float]]) -> Panel:
    layers = tuple(range(1, len(gaps) + 1))
    values, errors = tuple(const + gap for gap, _ in gaps), tuple(error for _, error in gaps)
    printed = tuple(printed_networks("gd++", law)[: len(gaps)])
    series = (Series("GD++", layers, values, errors), Series("paper, GD++", layers, printed, style="points"))
    return Panel(LAW_NAMES[law], Axis("layers"), Axis(LOSS), series, (Baseline("ConstRR", const),))


def _law_checks(lab: Lab, found: Networks, law: str, gaps: list[tuple[float, float]]) -> list[Check]:
    """Whatever is linear against the bound; the formula against a measurement; the deepest network's distance."""
    task, name = task_of(law), LAW_NAMES[law]
    contexts = Contexts.draw(task, COUNT[0], lab.seed + 1)
    const = contexts.losses(contexts.ridge(float(task.noise.moment(2))))
    free = contexts.losses(_fitted(Contexts.draw(task, COUNT[0], lab.seed + 2))(contexts)) - const
    shallow = contexts.network_losses({"gd++ 1": found.models["gd++ 1"]})["gd++ 1"] - const
    checks = [
        at_least(
            f"loss of the best function of the eigenvalues, less ConstRR's, relative, {name}",
            free.mean() / const.mean(),
            0.0,
            tolerance=0.005,
            error=float(standard_error(free)) / const.mean(),
            against="below",
            reason="Fitted on other contexts, so a little above 0. A function that gains a two-hundredth would be "
            "seen.",
        ),
        at_most(
            f"distance of the deepest GD++ from ConstRR, relative, {name}",
            gaps[-1][0] / const.mean(),
            0.01,
            error=gaps[-1][1] / const.mean(),
            against="reached",
            reason="A hundredth, as the statement says.",
        ),
        consistent(
            f"measured distance of GD++ with one layer from ConstRR, {name}",
            float(shallow.mean()),
            gaps[0][0],
            error=float(standard_error(shallow)),
            bound_error=gaps[0][1],
            resolution=0.05 * gaps[0][0],
            against="formula",
            reason="The same quantity on other contexts, paired: standard errors alone may part them. A twentieth "
            "would "
            "be seen. Deeper networks are too near to ConstRR for that.",
        ),
    ]
    return checks


def _fitted(contexts: Contexts):
    """The best f that is constant on bins of eigenvalues: a regression of the oracle's weights on X^T y in each."""
    edges = np.quantile(contexts.values, np.linspace(0, 1, BINS + 1)[1:-1])
    bins = np.searchsorted(edges, contexts.values).ravel()
    oracle = contexts.ridge(contexts.sigmas**2)
    tops = np.bincount(bins, (contexts.products * oracle).ravel(), BINS)
    factors = tops / np.bincount(bins, contexts.products.ravel() ** 2, BINS)
    return lambda others: factors[np.searchsorted(edges, others.values)] * others.products


@claim(
    "table-1-gd-plus-plus",
    paper="linear-transformer",
    whose="derived",
    where="Table 1, rows GD++ with 3 to 7 layers",
    title="The printed GD++ losses respect the bound of constant ridge",
    statement=r"""
        Table 1's entries for GD++, with three layers and more, are not below the loss of the best constant ridge
        regression by more than three standard errors of an evaluation on 100,000 sequences. That loss bounds every
        network of this kind in population.
    """,
    refuted_by="A printed entry that lies below the bound by more than three of its standard errors, whether or not "
    "the oracle's loss was taken from the same sequences.",
    method=r"""
        ConstRR's population loss by quadrature over noise and sampled eigenvalues, $\tfrac12 E \sum_i \lambda_i
        \bigl((\lambda_i + c)^{-1} - (\lambda_i + \sigma^2)^{-1}\bigr)^2 (\lambda_i + \sigma^2)$. The paper averages
        over 100,000 sequences, one query each, and subtracts the oracle ridge's loss. How uncertain an entry is depends
        on what the paper does not say: if the oracle was measured on the same sequences, most of the spread cancels; if
        on others, it does not. Both standard errors are computed (the query averaged by hand), and the check has to
        come out the same with both.
    """,
    quick="all nine noisy laws, 20,000 contexts",
    full="the same, 200,000 contexts",
    seconds=6,
)
def table_1_gd_plus_plus(lab: Lab) -> Evidence:
    """Printed entries against the bound, law by law, in standard errors of either kind."""
    checks, rows, scatter = [], [], np.zeros(2)
    laws = [law for law in PRINTED_LAWS if law != "0"]
    for law in laws:
        lab.tell(law, None)
        bound, bound_error = _const_ridge_loss(law, lab)
        contexts = Contexts.draw(task_of(law), lab.pick(*COUNT), lab.seed)
        const = contexts.ridge(float(task_of(law).noise.moment(2)))
        errors = np.hypot(entry_errors(contexts, const, SEQUENCES), bound_error)
        printed = min(printed_networks("gd++", law)[2:])
        paired, apart = (printed - bound) / errors
        scatter += ((printed_ridge("const", law) - bound) / errors) ** 2
        rows.append((LAW_NAMES[law], printed, printed_ridge("const", law), bound, bound_error, *errors, paired, apart))
        check = at_least(
            f"smallest printed GD++ entry above the bound, in standard errors, {LAW_NAMES[law]}",
            paired,
            -3.0,
            reason="An entry is a sample. From three of its standard errors if the oracle was measured on the same "
            "sequences, to three if on others.",
            printed=f"{printed} (bound {bound:.4f})",
        )
        checks.append(replace(check, interval=(float(min(paired, apart)), float(max(paired, apart)))))
    low = min(rows, key=lambda row: row[7])
    words = (
        f"The smallest entry, relative to its error, is {low[1]} at {low[0]}; the bound is {low[3]:.4f}, and the same "
        f"table prints {low[2]} for ConstRR. It lies {-low[7]:.1f} standard errors below if the oracle was measured on "
        f"the same sequences ({low[5]:.4f}), and {-low[8]:.1f} if on others ({low[6]:.4f}). The text does not say "
        "which, so the question is open.",
        "What would decide it is the paper's own evaluation: whether the oracle's loss comes from the same sequences, "
        "or the losses by sequence. Neither is printed, and nothing that is computed here can stand for it.",
        "Two traces in the table point in different directions. At U(0, 4) GD++ is printed as .258 with four layers, "
        "as "
        ".265 with five and more, and ConstRR as .265: if those networks are as near to ConstRR as ours, they could "
        "not "
        "differ by that on the same sequences, so they were evaluated on different ones. But the printed ConstRR "
        "values lie "
        f"close to ours: the squares of their distances in standard errors add up to {scatter[0]:.1f} over {len(laws)} "
        f"laws if the oracle was measured on the same sequences, and to {scatter[1]:.1f} if on others, where about "
        f"{len(laws)} is expected of independent ones.",
    )
    return Evidence(
        tuple(checks), (_printed_figure(laws, rows),), (_printed_table(rows),), words, headline=checks[4].name
    )


def _printed_figure(laws: list[str], rows: list[tuple]) -> Figure:
    positions = tuple(float(index) for index in range(len(laws)))
    ticks = tuple((float(index), LAW_NAMES[law]) for index, law in enumerate(laws))
    ratios = tuple(row[1] / row[3] for row in rows)
    bars = {"oracle on other sequences": 6, "oracle on the same sequences": 5}
    shifts = (-0.1, 0.1)
    series = tuple(
        Series(
            f"paper, GD++; {label}",
            tuple(x + shift for x in positions),
            ratios,
            tuple(row[column] / row[3] for row in rows),
            style="points",
        )
        for shift, (label, column) in zip(shifts, bars.items(), strict=True)
    )
    panel = Panel(
        "smallest entry with 3 to 7 layers / ConstRR",
        Axis("noise law", ticks=ticks),
        Axis("printed / bound"),
        series,
        (Baseline("bound", 1.0),),
    )
    caption = (
        "One standard error of an evaluation on 100,000 sequences, for both readings of what was subtracted. U(0, 5) "
        "is "
        "the only entry for which it matters."
    )
    return Figure("table-1-gd-plus-plus", "Printed GD++ losses relative to the bound", caption, (panel,))


def _printed_table(rows: list[tuple]) -> Table:
    return Table(
        "printed",
        "The bound, what Table 1 prints, and standard errors if the oracle was measured on the same or on other "
        "sequences",
        (
            "noise",
            "GD++, smallest",
            "ConstRR, printed",
            "bound",
            "±",
            "s.e., same",
            "s.e., other",
            "in s.e., same",
            "other",
        ),
        tuple(rows),
    )


def _const_ridge_loss(law: str, lab: Lab) -> tuple[float, float]:
    """The adjusted half-MSE of the best constant ridge: exact given eigenvalues and noise level."""
    task = task_of(law)
    values = eigenvalues(task, lab.pick(*BOUND_COUNT), lab.seed)
    c = float(task.noise.moment(2))
    levels = [float(part) for part in law.removeprefix("uniform:").split(",")]
    sigmas = [levels[0] * (index + 0.5) / 100 for index in range(100)] if ":" in law else levels
    losses = np.zeros(len(values))
    for s in sigmas:
        losses += (values * (values + s * s) * (1 / (values + c) - 1 / (values + s * s)) ** 2).sum(axis=1) / 2
    losses /= len(sigmas)
    return float(losses.mean()), float(standard_error(losses))
