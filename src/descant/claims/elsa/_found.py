"""Does training find it? The experiment that the claims on trained networks share."""

from dataclasses import asdict

import numpy as np

from .. import (
    CONTROL,
    Axis,
    Baseline,
    Check,
    Figure,
    Lab,
    Panel,
    Series,
    Table,
    at_least,
    at_most,
    mean_over,
    often,
)
from ._problems import Problem
from ._training import TESTED, Kind, References, Settings, references, train

# Found: within this much of the construction's loss, in units of what predicting zero costs.
FOUND = 1e-3
# Of the networks trained, more than this share must have found it.
SHARE = 0.5
# Plain networks can't get below a floor, whatever their seed: a few show it.
PLAIN_SEEDS = 3
# Ten of some ten thousand inputs that carry more than this of a loss leave its mean to chance.
HEAVY = 0.25
REFUTED = {
    "found": "More than half of the random starts, if all were tried, that do not end within a thousandth.",
    "floor": "A network without biases below the floor of odd functions.",
    "hand": "A network by hand that is not exact.",
}


def trained(
    lab: Lab, problem: Problem, kinds: dict[str, Kind], settings: Settings, scales: tuple[float, ...] = ()
) -> tuple[References, dict[str, dict]]:
    """The references, and what became of each kind of network, all of one size."""
    key = lab.key("inputs")
    sizes = {name: kind.parameters(problem) for name, kind in kinds.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the networks have {sizes} parameters; expected as many in each.")
    beside = References(**lab.keep(f"references {problem.name}", lambda: asdict(references(problem, key))))
    runs = {}
    for index, (name, kind) in enumerate(kinds.items()):
        lab.tell(f"training {name}", (index + 0.1) / len(kinds))
        runs[name] = lab.keep(f"trained {problem.name} {name}", lambda k=kind: train(problem, k, settings, key, scales))
    return beside, runs


def found_by_training(
    lab: Lab,
    problem: Problem,
    kinds: dict[str, Kind],
    settings: Settings,
    scales: tuple[float, ...] = (),
) -> tuple[list[Check], Figure, Table, dict[str, dict]]:
    """Train each kind from random weights; compare with the network by hand, with zero, and the floor without biases.

    The answer is one that the network by hand gives exactly.
    """
    extended = {name: kind for name, kind in kinds.items() if kind.bias}
    plain = {name: kind for name, kind in kinds.items() if not kind.bias}
    few = Settings(**{**asdict(settings), "seeds": min(PLAIN_SEEDS, settings.seeds)})
    beside, runs = trained(lab, problem, extended, settings, scales)
    runs = {**runs, **trained(lab, problem, plain, few)[1]}
    checks: list[Check] = []
    for name in extended:
        final = finite(runs[name]["final"])
        checks += [
            often(
                f"{name}: networks within {FOUND:g} of the construction's loss",
                int((final <= beside.hand + FOUND).sum()),
                len(final),
                at_least=SHARE,
                against="found",
                reason="In units of what predicting zero costs. Starts differ; a share with its interval says how "
                "often it is found, a mean would not.",
            ),
            light_tailed(name, runs[name], below=beside.hand + FOUND),
        ]
    for name in plain:
        checks.append(
            at_least(
                f"{name}: best loss of any seed",
                float(finite(runs[name]["final"]).min()),
                beside.floor,
                against="floor",
                tolerance=1e-9,
                reason="Measured on inputs together with their mirror images, where the floor holds for every odd "
                "function: rounding alone.",
            )
        )
    checks.append(
        at_most(
            "loss of the network by hand",
            beside.hand,
            1e-30,
            against="hand",
            reason="Exact but for rounding (1e-15), squared.",
        )
    )
    levels = (Baseline("found", beside.hand + FOUND), Baseline("floor without biases", beside.floor))
    lowest = [("floor without biases", None, None, beside.floor, None, None, None)]
    table = losses_table(problem, kinds, runs, beside, settings, lowest)
    return checks, curves(problem, runs, settings, beside.zero, levels), table, runs


def finite(losses: list[float]) -> np.ndarray:
    """A network that diverged has no loss; it counts as no better than predicting zero."""
    found = np.asarray(losses, float)
    return np.where(np.isfinite(found), found, 1.0)


def light_tailed(name: str, run: dict, below: float = np.inf) -> Check:
    """Whether the means over inputs can be trusted: of the networks whose losses count because they are small."""
    shares = [share for loss, share in zip(run["final"], run["worst"], strict=True) if loss <= below]
    return at_most(
        f"{name}: largest share of a network's loss that its ten worst inputs carry",
        max(shares, default=0.0),
        HEAVY,
        against=CONTROL,
        reason=f"Of {2 * TESTED} inputs. If a few carry the mean, its size is left to chance.",
    )


def losses_table(
    problem: Problem,
    kinds: dict[str, Kind],
    runs: dict[str, dict],
    beside: References,
    settings: Settings,
    more: list[tuple],
) -> Table:
    """A row per kind of network."""
    rows: list[tuple] = [("by hand", None, None, beside.hand, None, None, None)]
    for name, run in runs.items():
        final, kind = finite(run["final"]), kinds[name]
        mean = mean_over(final)
        found = int((final <= beside.hand + FOUND).sum())
        size = kind.parameters(problem)
        rows.append((f"{name}, {kind.heads} heads", size, len(final), mean.value, mean.error, found, max(run["worst"])))
    rows += [("predicting zero", None, None, 1.0, None, None, None), *more]
    return Table(
        "trained",
        "Trained networks beside the network by hand",
        (
            "network",
            "parameters",
            "seeds",
            "mean loss",
            "±",
            "no worse than by hand",
            "ten worst inputs, largest share",
        ),
        tuple(rows),
        f"{problem.name}. Loss in units of what predicting zero costs, on {2 * TESTED} fresh inputs; {settings.steps} "
        f"steps of Adam on {settings.batch} inputs each, step size {settings.rate:g} falling to zero. No "
        f"worse: by less than {FOUND:g}.",
    )


def curves(
    problem: Problem, runs: dict[str, dict], settings: Settings, zero: float, levels: tuple[Baseline, ...]
) -> Figure:
    """Losses during training: the median over seeds, because a seed that diverges would carry a mean."""
    series = []
    for name, run in runs.items():
        curve = np.median(np.asarray(run["curve"]), axis=1) / zero
        steps, usable = settings.every * (np.arange(len(curve)) + 0.5), np.isfinite(curve)
        series.append(Series(name, tuple(steps[usable]), tuple(curve[usable]), style="line"))
    return Figure(
        "training",
        "Training from random weights",
        f"Losses while {problem.name} is trained, median over seeds, in units of what predicting zero costs.",
        (
            Panel(
                problem.name,
                Axis("steps"),
                Axis("loss / loss of predicting zero", log=True),
                tuple(series),
                levels,
            ),
        ),
        columns=1,
    )
