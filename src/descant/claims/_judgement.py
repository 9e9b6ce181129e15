"""A claim, judged: evidence and verdict with everything needed to check them, on disk whole or absent."""

import hashlib
import inspect
import shutil
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import _kept
from .._checks import Check, Verdict
from .._code import code_digest
from .._names import file_name
from .._sealed import read_page, write_page
from ..figures import Axis, Baseline, Figure, HeatMap, Panel, Series
from ..runs import environment
from ._claim import Claim
from ._evidence import Evidence, Table
from ._lab import PARTS, Lab, silent

NAME = "judgement.json"
REMEDY = "delete it, and the same command judges the claim anew"


@dataclass(frozen=True)
class Judgement:
    """What came of a claim. Without evidence, `failure` says why the experiment did not end, and nothing is decided."""

    id: str
    budget: str
    seed: int
    seconds: float
    evidence: Evidence | None
    failure: str
    environment: dict[str, Any]

    def __post_init__(self):
        file_name("id of a judgement", self.id)  # it may come from a file, and names those of its figures

    @property
    def verdict(self) -> Verdict:
        """What the checks say."""
        return "undecided" if self.evidence is None else self.evidence.verdict


def judgement_path(root: Path, claim: Claim, budget: str, seed: int) -> Path:
    """Where a judgement lives: another budget, seed or version of the code is another place."""
    # Pages, pictures and commands may change without an experiment being another one.
    code = code_digest(without=("cli", "explorer", "figures", "report")), _own_code(claim)
    return root / "evidence" / claim.id / _kept.digest(claim.id, budget, seed, *code) / NAME


def _own_code(claim: Claim) -> str:
    """A fingerprint of the file of a claim that is not part of this package; of the others there is one already."""
    if claim.experiment.__module__.startswith(f"{__package__}."):
        return ""
    file = _file(claim)
    return hashlib.sha256(file.read_bytes()).hexdigest() if file else "typed"


def _file(claim: Claim) -> Path | None:
    """Where a claim is written; None if it was typed into a notebook or a console."""
    file = inspect.getsourcefile(inspect.unwrap(claim.experiment))
    return Path(file) if file and Path(file).is_file() else None


def kept(root: Path, claims: dict[str, Claim], *, budget: str = "quick", seed: int = 0) -> dict[str, Judgement]:
    """The judgements that a folder already has."""
    paths = {id: judgement_path(root, claim, budget, seed) for id, claim in claims.items()}
    return {id: load(path, (id, budget, seed)) for id, path in paths.items() if path.exists() and _file(claims[id])}


def judge(
    claim: Claim,
    root: Path,
    *,
    budget: str = "quick",
    seed: int = 0,
    tell: Callable[[str, float | None], None] = silent,
) -> Judgement:
    """Find the judgement, or run the experiment and keep what came of it.

    An experiment that fails is told but not kept: next time it is tried again. So is a claim that was typed into a
    notebook or a console: what its functions call may have changed, and no file says so.
    """
    path = judgement_path(root, claim, budget, seed)
    if _file(claim) is None:
        shutil.rmtree(path.parent, ignore_errors=True)
    elif path.exists():
        return load(path, (claim.id, budget, seed))
    lab = Lab(path.parent, root / "runs", budget, seed, tell)
    started, evidence, failure = time.monotonic(), None, ""
    try:
        evidence = claim.evidence(lab)
    except Exception:
        failure = traceback.format_exc(limit=-6)
    seconds = time.monotonic() - started + sum(lab.found)
    result = Judgement(claim.id, budget, seed, seconds, evidence, failure, environment())
    if evidence is not None:
        write_page(path, asdict(result))
        shutil.rmtree(path.parent / PARTS, ignore_errors=True)
    return result


def load(path: Path, asked: tuple[str, str, int]) -> Judgement:
    """Read the judgement of an id, a budget and a seed; a `ValueError` names a file that is not as it was written."""
    raw = read_page(path, REMEDY)
    try:
        evidence = raw.pop("evidence")
        found = Judgement(**raw, evidence=None if evidence is None else _evidence(evidence))
        sorts = {"seconds": (int, float), "failure": str, "environment": dict}
        odd = [name for name, sort in sorts.items() if not isinstance(getattr(found, name), sort)]
        if odd or (found.id, found.budget, found.seed) != asked:
            what = odd[0] if odd else f"{found.id}, {found.budget} budget, seed {found.seed}"
            raise ValueError(f"{what} is not what belongs here")
        return found
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} is no judgement of {asked[0]}: {error}; {REMEDY}.") from None


def _evidence(raw: dict[str, Any]) -> Evidence:
    tables = [
        Table(**{**table, "columns": tuple(table["columns"]), "rows": tuple(map(tuple, table["rows"]))})
        for table in raw["tables"]
    ]
    return Evidence(
        checks=tuple(Check(**_with_tuples(check)) for check in raw["checks"]),
        figures=tuple(_figure(figure) for figure in raw["figures"]),
        tables=tuple(tables),
        words=tuple(map(_text, raw["words"])),
        headline=_text(raw["headline"]),
        long_runs=tuple(map(dict, raw["long_runs"])),
    )


def _text(raw: Any) -> str:
    if not isinstance(raw, str):
        raise TypeError(f"words hold {raw!r}")
    return raw


def _figure(raw: dict[str, Any]) -> Figure:
    return Figure(**{**raw, "panels": tuple(_panel(panel) for panel in raw["panels"])})


def _panel(raw: dict[str, Any]) -> Panel | HeatMap:
    if "values" in raw:
        return HeatMap(raw["title"], tuple(map(tuple, raw["values"])), tuple(raw["rows"]), tuple(raw["columns"]))
    return Panel(
        title=raw["title"],
        x=_axis(raw["x"]),
        y=_axis(raw["y"]),
        series=tuple(Series(**_with_tuples(series)) for series in raw["series"]),
        baselines=tuple(Baseline(**each) for each in raw["baselines"]),
        shaded=None if raw["shaded"] is None else tuple(raw["shaded"]),
    )


def _with_tuples(raw: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()}


def _axis(raw: dict[str, Any]) -> Axis:
    limits = None if raw["limits"] is None else tuple(raw["limits"])
    return Axis(raw["label"], raw["log"], tuple((tick[0], tick[1]) for tick in raw["ticks"]), limits)
