"""Figure 2: loss at each noise level, inside and outside of what the network was trained on."""

import numpy as np

from ..._checks import Z
from ..._sampling import standard_error
from .. import Check, Evidence, Figure, Lab, Panel, Table, at_least, at_most, claim, worst_share
from ._contexts import Contexts
from ._measured import EXPLODES, Measured, ratio
from ._networks import D, Networks, networks, notes, task_of
from ._pictures import PROFILE, SIGMA, profile_series, ridge_profiles
from ._printed import LAW_NAMES

FULL_LAWS = tuple(f"uniform:{top}" for top in range(1, 8))
LAW, TOP = "uniform:5", 5.0
# A mean of which the ten worst contexts carry more than this is not known.
HEAVY = 0.25
# Contexts at each level; at the last one, where networks explode, more of them.
COUNT, TAIL_COUNT = (4_096, 32_768), (32_768, 131_072)


@claim(
    "noise-profiles",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Section 6, Figure 2",
    title="Two layers fit one noise level; from three on, the worst is fitted twice as well, explosions aside",
    statement=r"""
        Trained on $\sigma \sim U(0, 5)$, a two-layer DIAG network behaves akin to GD++ and models a single noise level
        in the middle of the range; with three layers and more the results improve across the range, which is read as:
        on contexts where the network does not explode, its worst loss over the levels 0, ½, ... 5 is at most half of
        two layers'. AdaRR is perfect without noise and struggles more as noise increases; TunedRR suffers in the
        mid-range, read as: its loss has a peak there, with a dip between it and the end of the range.
    """,
    refuted_by={
        "two": "A two-layer profile without a dip in the middle, or with another dip than GD++'s.",
        "deep": "A network with three layers or more whose worst loss is above half of two layers', explosions aside.",
        "ada": "AdaRR with a loss where there is no noise, or with less than twice the loss at 5 that it has at 1.",
        "tuned": "A TunedRR profile without a peak in the mid-range.",
    },
    method=r"""
        Trained networks on the same contexts at each level; the end of the range, $\sigma = 5$, is one of them. A
        network explodes on a context if it errs there by more than ten times what predicting zero costs in the mean:
        such contexts are left out, their share and what the ten worst carry are said. Ridge regressions as measured
        beside the networks. The half, and how TunedRR's peak is read, were set after a look at these profiles.
    """,
    quick="U(0, 5), GD++ and DIAG with 2 to 7 layers, 4,096 contexts per level, 32,768 at 5",
    full="U(0, 1) to U(0, 7), up to 7 layers, 32,768 contexts per level, 131,072 at 5",
    seconds=12,
)
def noise_profiles(lab: Lab) -> Evidence:
    """Profiles by depth, and of the deepest networks by law."""
    found = networks(lab, LAW)
    measured, depth = found.measured, found.depth
    levels = [sigma for sigma in measured.sigmas if sigma <= TOP]
    losses = _losses(lab, found, levels)
    checks = (*_two_layers(measured), *_deep(losses, depth), *_ridges(measured))
    panels = [
        _panel(f"DIAG and GD++, {layers} layers, {LAW_NAMES[LAW]}", measured, layers, TOP)
        for layers in range(2, depth + 1)
    ]
    if lab.budget == "full":
        for law in FULL_LAWS:
            other = networks(lab, law)
            panels.append(
                _panel(f"{other.depth} layers, {LAW_NAMES[law]}", other.measured, other.depth, float(law[-1]))
            )
    figure = Figure(
        "figure-2",
        "Figure 2: loss at each noise level; shaded: noise levels of the training",
        "Two layers are right at one level, as GD++ is at any depth. From three layers on, DIAG is low over the whole "
        "shaded range; means over all contexts, so that rare explosions show beyond it.",
        tuple(panels),
    )
    tables = (_against_two(losses, depth), _tails(losses, depth))
    return Evidence(
        checks,
        (figure,),
        tables,
        _words(losses, measured, depth),
        headline="worst loss, 3 layers over 2, explosions aside",
        long_runs=notes(found),
    )


def _losses(lab: Lab, found: Networks, levels: list[float]) -> dict[float, dict[str, np.ndarray]]:
    """Context by context, DIAG with two layers and more, at each level."""
    models = {name: found.models[name] for name in (f"diag {layers}" for layers in range(2, found.depth + 1))}
    drawn = {sigma: lab.pick(*(TAIL_COUNT if sigma == TOP else COUNT)) for sigma in levels}
    return {
        sigma: Contexts.draw(task_of(LAW), count, lab.seed + 1 + round(2 * sigma), sigma).network_losses(models)
        for sigma, count in drawn.items()
    }


def _ordinary(losses: np.ndarray) -> tuple[float, float]:
    """The mean without explosions, and its standard error."""
    kept = np.where(losses <= EXPLODES * D / 2, losses, 0.0)
    return float(kept.mean()), float(standard_error(kept))


def _two_layers(measured: Measured) -> list[Check]:
    inside = [index for index, sigma in enumerate(measured.sigmas) if sigma <= TOP]
    profile = list(zip(*measured.profile("diag 2"), strict=True))
    dips = {name: min(inside, key=lambda index: measured.profile(name)[0][index]) for name in ("diag 2", "gd++ 2")}
    dip = dips["diag 2"]
    ends = [ratio(profile[index], profile[dip]) for index in (inside[0], inside[-1])]
    lower = min(ends)
    middle = "In the middle of (0, 5): neither in its lowest nor in its highest third."
    return [
        at_least("noise level at which two layers are best", measured.sigmas[dip], 1.5, against="two", reason=middle),
        at_most("the same, from above", measured.sigmas[dip], 3.5, against="two", reason=middle),
        at_most(
            "its distance from the level at which GD++ with two layers is best",
            abs(measured.sigmas[dip] - measured.sigmas[dips["gd++ 2"]]),
            0.5,
            against="two",
            reason="Neighbours on the grid of levels.",
        ),
        at_least(
            "loss of two layers at the better end of the range over its smallest",
            lower[0],
            2.0,
            error=lower[1],
            against="two",
            reason="A single level is modelled if both ends cost twice as much, at least.",
        ),
    ]


def _deep(losses: dict[float, dict[str, np.ndarray]], depth: int) -> list[Check]:
    worst = {
        layers: max(_ordinary(each[f"diag {layers}"]) for each in losses.values()) for layers in range(2, depth + 1)
    }
    checks = []
    for layers in range(3, depth + 1):
        value, error = ratio(worst[layers], worst[2])
        checks.append(
            at_most(
                f"worst loss, {layers} layers over 2, explosions aside",
                value,
                0.5,
                error=error,
                against="deep",
                reason="The worst of the levels 0 to 5, the end included. Half, as the statement says.",
            )
        )
    return checks


def _ridges(measured: Measured) -> list[Check]:
    ada, tuned = (list(zip(*measured.profile(name), strict=True)) for name in ("ada", "tuned"))
    place = {sigma: index for index, sigma in enumerate(measured.sigmas)}
    peak = max((index for index, sigma in enumerate(measured.sigmas) if sigma < TOP), key=lambda index: tuned[index][0])
    dip = min(range(peak, place[TOP] + 1), key=lambda index: tuned[index][0])
    rise, rise_error = ratio(ada[place[TOP]], ada[place[1.0]])
    bump, bump_error = ratio(tuned[peak], tuned[dip])
    return [
        at_most(
            "AdaRR without noise",
            ada[0][0],
            0.0,
            tolerance=1e-27,
            against="ada",
            reason="The estimated noise is 0: rounding, squared.",
        ),
        at_least(
            "AdaRR at σ = 5 over AdaRR at σ = 1",
            rise,
            2.0,
            error=rise_error,
            against="ada",
            reason="Struggling more is read as doubling, at least.",
        ),
        at_least(
            "TunedRR's peak over its dip between the peak and the end of the range",
            bump,
            1.25,
            error=bump_error,
            against="tuned",
            reason="A peak, and not a plateau: a quarter higher.",
        ),
        at_least(
            "noise level of TunedRR's peak",
            measured.sigmas[peak],
            1.5,
            against="tuned",
            reason="Mid-range: above the lowest third; the dip lies between it and the end.",
        ),
    ]


def _against_two(losses: dict[float, dict[str, np.ndarray]], depth: int) -> Table:
    """Level by level: the stronger reading of "improve across the range"."""
    rows = []
    for sigma, found in losses.items():
        row: list[float] = [sigma, *_ordinary(found["diag 2"])]
        for layers in range(3, depth + 1):
            row += _ordinary(found[f"diag {layers}"])
        rows.append(tuple(row))
    columns = [column for layers in range(2, depth + 1) for column in (f"{layers} layers", "±")]
    return Table("levels", "Loss at each level, explosions aside", ("σ", *columns), tuple(rows))


def _tails(losses: dict[float, dict[str, np.ndarray]], depth: int) -> Table:
    rows = []
    for layers in range(2, depth + 1):
        each = losses[TOP][f"diag {layers}"]
        shares = float((each > EXPLODES * D / 2).mean()), float(worst_share(each))
        rows.append((layers, float(each.mean()), float(standard_error(each)), *_ordinary(each), *shares))
    columns = ("layers", "all contexts", "±", "explosions aside", "±", "share that explodes", "share of the ten worst")
    return Table("tails", "The end of the range, σ = 5", columns, tuple(rows))


def _words(losses: dict[float, dict[str, np.ndarray]], measured: Measured, depth: int) -> tuple[str, ...]:
    heavy = [
        f"{layers} layers have {each.mean():.3f} ± {standard_error(each):.3f} over all contexts, of which the ten "
        "worst "
        f"carry {worst_share(each):.0%}, and {_ordinary(each)[0]:.3f} ± {_ordinary(each)[1]:.3f} explosions aside"
        for layers in range(2, depth + 1)
        if worst_share(each := losses[TOP][f"diag {layers}"]) > HEAVY
    ]
    tuned = dict(zip(measured.sigmas, zip(*measured.profile("tuned"), strict=True), strict=True))
    peak = max((sigma for sigma in tuned if sigma < TOP), key=lambda sigma: tuned[sigma][0])
    return (
        f"At $\\sigma = 5$ ({len(losses[TOP]['diag 2'])} contexts), samples don't tell the mean of "
        f"{'these networks: ' + '; '.join(heavy) if heavy else 'no network'}.",
        f"Improving at *every* level would be more than that. {_worse(losses, depth)}",
        f"TunedRR has {tuned[peak][0]:.3f} ± {tuned[peak][1]:.3f} at its peak, $\\sigma$ = {peak:g}, but it is not "
        "worst "
        f"there: at the end of the range it has {tuned[TOP][0]:.3f} ± {tuned[TOP][1]:.3f}.",
    )


def _worse(losses: dict[float, dict[str, np.ndarray]], depth: int) -> str:
    """Levels at which deeper networks do worse than two layers beyond three standard errors, on shared contexts."""
    found = []
    for sigma, each in losses.items():
        for layers in range(3, depth + 1):
            more, two = each[f"diag {layers}"], each["diag 2"]
            ordinary = np.maximum(more, two) <= EXPLODES * D / 2
            value, error = (more - two)[ordinary].mean(), standard_error((more - two)[ordinary])
            if value > Z * error:
                found.append(f"{layers} layers at $\\sigma$ = {sigma:g} ({value:+.4f} ± {error:.4f})")
    if not found:
        return (
            "On these contexts, no deeper network is worse than two layers at any level beyond three standard errors."
        )
    return f"Beyond three standard errors, these are worse than two layers, on the same contexts: {', '.join(found)}."


def _panel(title: str, measured: Measured, layers: int, top: float) -> Panel:
    series = (
        profile_series("GD++", measured, f"gd++ {layers}", top=top + 1),
        profile_series("DIAG", measured, f"diag {layers}", top=top + 1),
        *ridge_profiles(measured, top=top + 1),
    )
    return Panel(title, SIGMA, PROFILE, series, shaded=(0.0, top))
