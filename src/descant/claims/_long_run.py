"""What took hours or a GPU, computed once and shipped: numbers and small models, with how they came about.

Each lies in a folder of its own under `long_runs/`: `long_run.json` with the note and the numbers, and a model per
safetensors file. Everything has a checksum. What a long run computed is computed again by `--budget full`.
"""

import datetime
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._code import code_digest
from .._names import file_name
from .._sealed import digest, read_page, write_page

HOME = Path(__file__).parent / "long_runs"
NAME = "long_run.json"
REMEDY = "install Descant again: it came with the package"


@dataclass(frozen=True)
class LongRun:
    """A long run: its `note` (name, command, machine, date, digest of the code, seconds, remark), and its `numbers`."""

    folder: Path
    note: dict[str, Any]
    numbers: Any
    models: dict[str, str]

    def model(self, name: str) -> Any:
        """One of its models."""
        from ..attention import load  # noqa: PLC0415, titles don't wait for JAX

        path = self.folder / f"{file_name('name of a model', name)}.safetensors"
        if digest(path.read_bytes()) != self.models[name]:
            raise ValueError(f"{path} is not the model that its long run made; {REMEDY}.")
        return load(path)


def long_run(name: str, home: Path = HOME) -> LongRun | None:
    """The long run of that name, or None if none was shipped."""
    folder = home / file_name("name of a long run", name)
    if not (folder / NAME).exists():
        return None
    raw = read_page(folder / NAME, REMEDY, {"note": dict, "models": dict})
    return LongRun(folder, raw["note"], raw["numbers"], raw["models"])


def write_long_run(
    name: str,
    *,
    command: str,
    seconds: float,
    numbers: Any,
    models: Mapping[str, Any] | None = None,
    remark: str = "",
    machine: str | None = None,
    home: Path = HOME,
) -> LongRun:
    """Write a long run; the files of an earlier one of that name are replaced.

    `command` is what computed it, `numbers` is anything that JSON holds, `models` are saved by `descant.attention`;
    `machine` is where, this one if left out; `remark` says what the rest of the note leaves out.
    """
    from ..attention import save  # noqa: PLC0415, titles don't wait for JAX
    from ..runs import environment  # noqa: PLC0415

    folder = home / file_name("name of a long run", name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).unlink(missing_ok=True)
    digests = {}
    for each, model in (models or {}).items():
        path = folder / f"{file_name('name of a model', each)}.safetensors"
        save(model, path)
        digests[each] = digest(path.read_bytes())
    for path in folder.glob("*.safetensors"):
        if path.stem not in digests:
            path.unlink()
    note = {
        "name": name,
        "command": shlex.join(shlex.split(command)),
        "machine": machine or f"{environment()['device']}, {platform.system()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "code": code_digest(),
        "seconds": float(seconds),
        "remark": remark,
    }
    write_page(folder / NAME, {"note": note, "numbers": numbers, "models": digests})
    found = long_run(name, home)
    assert found is not None
    return found
