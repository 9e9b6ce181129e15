"""`python -m descant.programs.studies FOLDER`: the documentation's tables on stdout, its picture into a folder."""

import sys
from pathlib import Path

from ..._disk import write_whole
from ...figures.static import png
from . import CONDITIONS, convergence, convergence_figure, input_format, table


def main(folder: Path) -> None:
    """Print and draw."""
    print(table(), end="\n\n")
    found = [convergence(condition) for condition in CONDITIONS]
    print("| condition number | slope | theory |\n|---|---|---|")
    for each in found:
        print(f"| {each.condition} | {each.slope:.5g} | {each.theory:.5g} |")
    print("\n| change | fixed network | error | compiled anew |\n|---|---|---|---|")
    for outcome in input_format():
        error = "takes no such input" if outcome.fixed is None else f"{outcome.fixed:.2g}"
        state = "broken" if outcome.broken else "unharmed"
        print(f"| {outcome.name} | {state} | {error if outcome.broken else 'rounding'} | rounding |")
    write_whole(folder / "convergence.png", png(convergence_figure(found)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
