"""The cells of Table 1 of Vladymyrov et al. (2024): what the trained networks reach, beside what the paper prints.

Half of the adjusted risk, as the paper prints it: half the mean squared error less the oracle ridge's. With little
noise, the networks that the paper's values belong to explode on about one context in a hundred thousand, and nothing
but that context is left in the mean. So every cell has the mean, and beside it the part of the mean that ordinary
contexts make up and the share of the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .._lab import Lab
from ._networks import Networks, networks
from ._printed import printed_networks

LAWS = ("0", "uniform:1", "uniform:3", "uniform:5", "uniform:7", "1,3")
FULL_LAWS = ("uniform:5", "1,3")
# As good as the paper: at most this much above its printed value, or within so many of our standard errors of it.
RATIO, ERRORS = 1.03, 3.0
# The paper evaluates on so many sequences, one query each.
SEQUENCES = 100_000


def sampling_error(printed: float, oracle: float) -> float:
    """The standard error of a printed loss, from its own size and the oracle ridge's."""
    return (2 * printed * (oracle + printed) / SEQUENCES) ** 0.5


@dataclass(frozen=True)
class Cell:
    """One cell: ours with its standard error, the paper's, and the best constant ridge, below which no GD++ can be.

    `value` is the mean over all contexts; `ordinary` what is left of it without the share `exploding` of the contexts.
    """

    law: str
    model: str
    layers: int
    value: float
    error: float
    ordinary: float
    ordinary_error: float
    exploding: float
    paper: float
    const_ridge: float

    @property
    def verdict(self) -> str:
        """How ours compares, on ordinary contexts."""
        value, error = self.ordinary, self.ordinary_error
        if value < self.paper / RATIO - ERRORS * error:
            return "better"
        if value <= RATIO * self.paper or value <= self.paper + ERRORS * error:
            return "equal"
        # The paper's number may lie below what any network of the class can reach.
        bounded = self.model == "gd++" and self.paper < self.const_ridge - ERRORS * error
        return "bound" if bounded and value <= RATIO * self.const_ridge else "worse"


def cells(found: Networks, law: str, diag: Networks, *, printed_as: str = "") -> list[Cell]:
    """The cells of trained networks; beside the law's DIAG networks the constant ridge was measured.

    `printed_as` names a larger class, among whose entries those of the networks are looked up.
    """
    made = []
    for name in found.models:
        kind, layers = name.split()
        if printed_as and kind == "gd++":
            continue  # DIAG is better
        printed = printed_networks(printed_as or kind, law)
        if int(layers) <= len(printed):
            measured = found.measured
            made.append(
                Cell(
                    law,
                    kind,
                    int(layers),
                    *measured.mean(name),
                    *measured.ordinary_mean(name),
                    exploding=measured.exploding_share(name),
                    paper=printed[int(layers) - 1],
                    const_ridge=diag.measured.mean("const")[0],
                )
            )
    return made


def table_1(lab: Lab, laws: tuple[str, ...], full_laws: tuple[str, ...], layers: int | None) -> Iterator[list[Cell]]:
    """The cells of each law: of GD++ and DIAG, then of FULL, trained where `descant reproduce` has not done so yet."""
    for law in laws:
        diag = networks(lab, law, layers=layers)
        yield cells(diag, law, diag)
        if law in full_laws:
            yield cells(networks(lab, law, "full", layers=layers), law, diag)
