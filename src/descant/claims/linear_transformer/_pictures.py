"""Series and panels that several figures of this paper share: one colour for a kind of network, everywhere."""

from .. import Axis, Baseline, Panel, Series
from ._measured import Measured
from ._networks import Networks
from ._printed import LAW_NAMES

KINDS = {"gd++": "GD++", "diag": "DIAG", "full": "FULL"}
RIDGES = {"const": "ConstRR", "ada": "AdaRR", "tuned": "TunedRR", "bayes": "Bayes"}
LOSS = "adjusted half-MSE"
# Losses of zero (noiseless ridge) have no place on a logarithmic axis.
LEAST = 1e-6


def depth_panel(law: str, found: list[Networks]) -> Panel:
    """Loss against depth, one curve per kind of network, ridges and Bayes as levels: a panel of figure 1."""
    series = []
    for networks in found:
        for kind in ("gd++", "diag", "full"):
            names = sorted(name for name in networks.models if name.split()[0] == kind)
            if names:
                losses = [networks.measured.ordinary_mean(name) for name in names]
                layers = tuple(float(name.split()[1]) for name in names)
                values, errors = zip(*losses, strict=True)
                series.append(Series(KINDS[kind], layers, values, errors))
    measured = found[0].measured
    levels = [Baseline(label, value) for name, label in RIDGES.items() if (value := measured.mean(name)[0]) > LEAST]
    return Panel(LAW_NAMES[law], Axis("layers"), Axis(LOSS, log=True), tuple(series), tuple(levels))


def profile_series(
    label: str, measured: Measured, name: str, layer: int | None = None, top: float = 100.0, family: str = ""
) -> Series:
    """Loss against the noise level, where there is any."""
    points = zip(measured.sigmas, *measured.profile(name, layer), strict=True)
    shown = [(sigma, value, error) for sigma, value, error in points if sigma <= top and value > LEAST]
    x, y, error = zip(*shown, strict=True) if shown else ((), (), ())
    return Series(label, x, y, error, family=family)


def ridge_profiles(
    measured: Measured, names: tuple[str, ...] = tuple(RIDGES), top: float = 100.0
) -> tuple[Series, ...]:
    """The same for ridge regressions and Bayes, dashed."""
    found = []
    for name in names:
        series = profile_series(RIDGES[name], measured, name, top=top)
        found.append(Series(series.label, series.x, series.y, series.error, style="dashed"))
    return tuple(found)


SIGMA = Axis("noise level σ of the context")
PROFILE = Axis(LOSS, log=True)
