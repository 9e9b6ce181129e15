"""Whether the files of a run can be read; heads of files only, so that thousands of runs can be looked at."""

import pyarrow as pa
import pyarrow.parquet as pq
import safetensors

from ._checkpoint import mark_of
from ._run import CHECKPOINT, LINES, MODEL, PARQUET, Run


def trouble(run: Run) -> str | None:
    """What is wrong with a run, if anything."""
    finished = run.finished
    try:
        _look(run)
    except (ValueError, OSError, safetensors.SafetensorError, pa.ArrowException) as error:
        # It may have been finished, and tidied up, while we looked.
        return str(error) if run.finished == finished else trouble(run)
    return None


def _look(run: Run) -> None:
    if run.result is None:
        mark = mark_of(run.folder / CHECKPOINT)
        size = (run.folder / LINES).stat().st_size if mark.size else 0
        if size < mark.size:
            raise ValueError(f"{run.folder / LINES} has {size} bytes, its checkpoint counts on {mark.size}")
        return
    with safetensors.safe_open(run.folder / MODEL, framework="numpy"):
        pass
    pq.read_schema(run.folder / PARQUET)
