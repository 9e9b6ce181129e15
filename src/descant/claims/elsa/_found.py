"""Does training find it? The experiment that the claims on trained networks share."""

import numpy as np

from ..._sampling import standard_error
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most
from ._problems import Problem
from ._training import Kind, Settings, references, train

# Found: within this much of the construction's loss, in units of what predicting zero costs.
FOUND = 1e-3


def found_by_training(
    lab: Lab, problem: Problem, kinds: dict[str, Kind], settings: Settings, *, odd_floor: bool
) -> Evidence:
    """Train each kind from random weights; compare with the network by hand, with zero, and the floor without biases.

    Kinds are judged at their best step size. With `odd_floor`, the kind without biases must stay above the floor.
    """
    key = lab.key("inputs")
    sizes = {name: kind.parameters(problem) for name, kind in kinds.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the networks have {sizes} parameters; expected as many in each.")
    zero, floor, hand = lab.keep("references", lambda: references(problem, key))
    runs = {}
    for index, (name, kind) in enumerate(kinds.items()):
        lab.tell(f"training {name}", (index + 0.1) / len(kinds))
        runs[name] = lab.keep(f"trained-{index}", lambda k=kind: train(problem, k, settings, key, zero))
    checks: list[Check] = [
        at_most(
            "loss of the network by hand",
            hand,
            1e-20 if odd_floor else 1.0,
            reason="Exact but for rounding, squared."
            if odd_floor
            else "A gradient step from zero is better than predicting zero.",
        )
    ]
    rows: list[tuple] = [("by hand", None, None, hand, None, None)]
    series = []
    for name, kind in kinds.items():
        final = np.array(runs[name]["final"])
        # A network that diverged has no loss; it counts as no better than predicting zero.
        final = np.where(np.isfinite(final), final, 1.0)
        means, errors = final.mean(axis=1), standard_error(final, axis=1)
        best = int(means.argmin())
        rows += [
            (
                f"{name}, {kind.heads} heads",
                sizes[name],
                rate,
                float(means[i]),
                float(errors[i]),
                int((final[i] <= hand + FOUND).sum()),
            )
            for i, rate in enumerate(settings.rates)
        ]
        series.append(_curve(name, np.array(runs[name]["curve"])[:, best], settings))
        if kind.bias:
            checks.append(
                at_most(
                    f"{name}: mean loss over {settings.seeds} seeds at the best step size, less the construction's",
                    float(means[best]) - hand,
                    FOUND,
                    error=float(errors[best]),
                    reason="In units of what predicting zero costs: a thousandth of the answer's mean square is called "
                    "found.",
                )
            )
            # Seeds differ so much that the mean of a few may decide nothing; that no seed found it at all would.
            checks.append(
                at_most(
                    f"{name}: loss of the best seed at the best step size, less the construction's",
                    float(final[best].min()) - hand,
                    FOUND,
                    reason="The same thousandth; one network, on so many inputs that its error is far below.",
                )
            )
        elif odd_floor:
            checks.append(
                at_least(
                    f"{name}: best loss of any seed and step size",
                    float(final.min()),
                    floor,
                    tolerance=1e-9,
                    reason="Measured on inputs together with their mirror images, where the floor holds for every odd "
                    "function: rounding alone.",
                )
            )
    rows.append(("predicting zero", None, None, 1.0, None, None))
    levels = [Baseline("found", hand + FOUND)]
    if odd_floor:
        rows.append(("floor without biases", None, None, floor, None, None))
        levels.append(Baseline("floor without biases", floor))
    else:
        levels.append(Baseline("by hand", hand))
    figure = Figure(
        "training",
        f"Training on {problem.name}, from random weights",
        "Losses during training at the best step size, mean over seeds with standard errors, "
        "in units of what predicting zero costs.",
        (
            Panel(
                problem.name,
                Axis("steps"),
                Axis("loss / loss of predicting zero", log=True),
                tuple(series),
                tuple(levels),
            ),
        ),
        columns=1,
    )
    table = Table(
        "trained",
        "Trained networks beside the network by hand",
        ("network", "parameters", "step size", "loss", "±", f"seeds that found it, of {settings.seeds}"),
        tuple(rows),
        f"Loss in units of what predicting zero costs, on {2 * 8192} fresh inputs; {settings.steps} steps of Adam on "
        f"{settings.batch} inputs each, step size falling to zero.",
    )
    return Evidence(tuple(checks), (figure,), (table,))


def _curve(name: str, curve: np.ndarray, settings: Settings) -> Series:
    """Mean over seeds, where it is a number."""
    steps = settings.every * (np.arange(len(curve)) + 0.5)
    mean, error = curve.mean(axis=1), standard_error(curve, axis=1)
    usable = np.isfinite(mean)
    return Series(name, tuple(steps[usable]), tuple(mean[usable]), tuple(error[usable]), "line")
