"""Train the networks that the package ships, and write them as a long run.

`python -m descant.claims.linear_transformer._ship` takes hours on one core; `... LAW KIND DEPTH` trains one of them
beside those that are shipped already.
"""

import sys
import time
from typing import Any

from ..._names import slug
from ..._trainer import to_end
from .. import long_run, write_long_run
from ._networks import SHIPPED
from ._training import found, trainer

# In the order in which one starts from the other.
PLANS = (
    *((law, "diag", 5) for law in ("1,3", "uniform:5", "uniform:2", "1,3,5")),
    ("0", "diag", 3),
    *((law, "diag", 5) for law in ("uniform:1", "uniform:3", "uniform:4", "uniform:6", "uniform:7")),
    *((law, "diag", 7) for law in ("uniform:5", "1,3")),
    *((law, "again", 5) for law in ("uniform:4", "uniform:6", "uniform:7")),
    ("1,3", "free", 4),
    *(("1,3", f"without-{omega}", 3) for omega in ("w_xx", "w_xy", "w_yy")),
    ("1,3", "axial", 4),
    ("1,3", "near", 4),
    *((law, "full", 3) for law in ("1,3", "uniform:5")),
    *((law, "full", 4) for law in ("1,3", "uniform:5", "1,3,5")),
    *((law, "axial", 4) for law in ("uniform:5", "1,3,5")),
)
# The law whose DIAG networks are tried as starts where deep ones ended in a poor minimum.
NEIGHBOUR = "uniform:5"
COMMAND = "python -m descant.claims.linear_transformer._ship"


def ship(plans: tuple[tuple[str, str, int], ...]) -> None:
    """Train what is missing, law by law, and write everything after each of them."""
    for law, kind, depth in plans:
        before = long_run(SHIPPED)
        index: dict[str, dict[str, list[str]]] = {} if before is None else before.numbers["networks"]
        seconds = 0.0 if before is None else before.note["seconds"]
        models = {} if before is None else {name: before.model(name) for name in before.models}
        known = {name: models[slug(f"{law} {name}")] for names in index.get(law, {}).values() for name in names}
        known |= (
            {f"there {layers}": models[slug(f"{NEIGHBOUR} diag {layers}")] for layers in (3, 4, 5)}
            if kind == "again"
            else {}
        )
        began = time.process_time()
        training = trainer(law, kind, depth, known, 0, long=False)
        made = {name: model for name, model in found(training, to_end(training)).items() if name not in known}
        if kind == "again":  # in the place of what was there
            made = {name.replace("again", "diag"): model for name, model in made.items()}
        else:
            add(index, law, kind, list(made))
        models |= {slug(f"{law} {name}"): model for name, model in made.items()}
        seconds += time.process_time() - began
        write_long_run(SHIPPED, command=COMMAND, seconds=seconds, numbers={"networks": index}, models=models)


def add(index: dict[str, Any], law: str, kind: str, names: list[str]) -> None:
    """Enter networks into the list of what is shipped."""
    index.setdefault(law, {}).setdefault(kind, []).extend(names)


if __name__ == "__main__":
    ship(((sys.argv[1], sys.argv[2], int(sys.argv[3])),) if len(sys.argv) > 1 else PLANS)
