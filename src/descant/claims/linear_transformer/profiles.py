"""Figure 2: loss at each noise level, inside and outside of what the network was trained on."""

from .. import Evidence, Figure, Lab, Panel, at_least, at_most, claim
from ._measured import Measured, ratio
from ._networks import networks
from ._pictures import PROFILE, SIGMA, profile_series, ridge_profiles
from ._printed import LAW_NAMES

QUICK_LAWS = ("uniform:5",)
FULL_LAWS = tuple(f"uniform:{top}" for top in range(1, 8))
LAW, TOP = "uniform:5", 5.0
# Beyond the training range by one, as the paper draws it.
DRAWN = TOP + 1


@claim(
    "noise-profiles",
    paper="linear-transformer",
    where="Figure 2",
    title="From three layers on, the whole range of noise is fitted",
    statement=r"""
        Trained on $\sigma \sim U(0, 5)$, a two-layer DIAG network behaves like GD++: it is right at one noise level in
        the middle of the range. With three layers and more, the loss is low over the whole range. AdaRR is perfect
        without noise and degrades; TunedRR is worst in mid-range. Beyond the range (shaded) losses rise.
    """,
    refuted_by="A two-layer profile without a dip in the middle, or a deep one with a bad end; ridge profiles of "
    "another shape.",
    method=r"""
        Trained networks, measured at fixed noise levels. The shape is turned into numbers: the ratio of the largest
        loss of the range to the smallest, and where the smallest and the largest are.
    """,
    quick="U(0, 5), GD++ and DIAG with 2 to 5 layers, 4,096 contexts per level",
    full="U(0, 1) to U(0, 7), up to 7 layers, 32,768 contexts per level",
    seconds=110,
)
def noise_profiles(lab: Lab) -> Evidence:
    """Profiles by depth, and of the deepest networks by law."""
    found = networks(lab, LAW)
    measured, depth = found.measured, found.depth
    inside = [index for index, sigma in enumerate(measured.sigmas) if sigma <= TOP]

    def within(name: str) -> list[tuple[float, float, float]]:
        values, errors = measured.profile(name)
        return [(measured.sigmas[index], values[index], errors[index]) for index in inside]

    two = within("diag 2")
    dip = min(two, key=lambda point: point[1])
    tuned_peak = max((p for p in within("tuned") if p[0] < TOP), key=lambda point: point[1])
    ada = within("ada")
    worst_deep = max(within(f"diag {depth}"), key=lambda point: point[1])
    worst_two = max(two, key=lambda point: point[1])
    beyond_index = measured.sigmas.index(DRAWN)
    beyond = [part[beyond_index] for part in measured.profile(f"diag {depth}")]
    ada_ratio, ada_ratio_error = ratio(ada[-1][1:], next(point[1:] for point in ada if point[0] == 1.0))
    deep_ratio, deep_ratio_error = ratio(worst_deep[1:], worst_two[1:])
    beyond_ratio, beyond_ratio_error = ratio((beyond[0], beyond[1]), worst_deep[1:])
    checks = (
        at_least(
            "noise level at which DIAG with two layers is best",
            dip[0],
            1.5,
            reason="In the middle of (0, 5): neither in its lowest nor in its highest third.",
        ),
        at_most(
            "the same, from above",
            dip[0],
            3.5,
            reason="In the middle of (0, 5): neither in its lowest nor in its highest third.",
        ),
        at_most(
            f"worst loss inside the range: DIAG with {depth} layers over DIAG with two",
            deep_ratio,
            0.5,
            error=deep_ratio_error,
            reason="Fitting the whole range is read as halving the worst loss in it, at least.",
        ),
        at_most(
            "AdaRR without noise",
            ada[0][1],
            0.0,
            tolerance=1e-12,
            reason="Without noise the estimated noise is 0: rounding.",
        ),
        at_least(
            "AdaRR at the end of the range over AdaRR at σ = 1",
            ada_ratio,
            2.0,
            error=ada_ratio_error,
            reason="Degrading is read as at least doubling.",
        ),
        at_least(
            "noise level at which TunedRR is worst, below the end of the range",
            tuned_peak[0],
            1.0,
            reason="Mid-range: away from the lower end.",
        ),
        at_least(
            f"DIAG with {depth} layers beyond the range, σ = {DRAWN:g}, over its worst loss inside",
            beyond_ratio,
            1.0,
            error=beyond_ratio_error,
            reason="Rising beyond the range is being above everything inside, beyond standard errors.",
        ),
    )
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
        "Two layers are right at one level, as GD++ is at any depth. From three layers on, DIAG is low over the whole"
        " shaded range, and rises beyond it.",
        tuple(panels),
    )
    return Evidence(checks, (figure,))


def _panel(title: str, measured: Measured, layers: int, top: float) -> Panel:
    series = (
        profile_series("GD++", measured, f"gd++ {layers}", top=top + 1),
        profile_series("DIAG", measured, f"diag {layers}", top=top + 1),
        *ridge_profiles(measured, top=top + 1),
    )
    return Panel(title, SIGMA, PROFILE, series, shaded=(0.0, top))
