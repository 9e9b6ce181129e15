"""A process that does the work of the rooms: one job at a time, each a line of JSON in, and lines of JSON out.

It is started by `_jobs`, and ends when its parent is gone or closes the pipe, also in the middle of a job. It can't
allocate more than it is allowed to, so that no program or task that somebody sends takes the machine's memory.
"""

import json
import math
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

# Job to the module of this room, and the function in it, that does it.
JOBS = {
    "ask": "_ask:search",
    "check": "_compile:check",
    "compile": "_compile:compiled",
    "learn": "_learn:learn",
    "elsewhere": "_learn:elsewhere",
    "inside": "_inside:inside",
    "sources": "_inside:sources",
    "claim": "_claims:judged",
    "picture": "_pictures:picture",
}
# Imported before the first job, while nobody waits.
WARM = ("_learn", "_compile")
# Bytes of memory: what the process may have allocated in all, and for jobs that compile what somebody wrote.
MOST_MEMORY = 6 << 30
LESS_MEMORY = {"check": 3 << 30, "compile": 3 << 30}
# One that has taken so much gives little of it back: it does no other job.
SPENT = 2 << 30
# How XLA says that there is no more.
OUT_OF_MEMORY = "RESOURCE_EXHAUSTED"
NO_MEMORY = "there is not enough memory for this; ask for less."


def main() -> None:
    """Serve jobs until the parent is gone."""
    # What libraries print must not get between the lines of the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _limit_memory(MOST_MEMORY)
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(waiting,), daemon=True).start()
    for name in WARM:
        import_module(f".{name}", __package__)
    _tell(answers, {"event": "ready"})
    while True:
        asked = json.loads(waiting.get())
        _limit_memory(LESS_MEMORY.get(asked["job"], MOST_MEMORY))
        for event in answered(asked["job"], asked["asked"]):
            _tell(answers, {**event, "spent": _spent()} if event["event"] in ("done", "failed") else event)


def answered(job: str, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a job, the last of which says that it is done, or in a sentence why it failed."""
    module, _, name = JOBS[job].partition(":")
    try:
        work: Callable[[Any], Iterator[dict[str, Any]]] = getattr(import_module(f".{module}", __package__), name)
        yield from work(asked)
    except ValueError as error:
        yield {"event": "failed", "sentence": _sentence(error)}
    except MemoryError:
        yield {"event": "failed", "sentence": NO_MEMORY}
    except Exception as error:
        if OUT_OF_MEMORY in str(error):
            yield {"event": "failed", "sentence": NO_MEMORY}
            return
        # Nobody's mistake, but the person in front of the page has to know.
        words = f"internal error, {type(error).__name__}: {str(error)[:500].rstrip('.')}."
        yield {"event": "failed", "sentence": words}
    else:
        yield {"event": "done"}


def _limit_memory(size: int) -> None:
    """Let this process have no more memory than that; where there are no such limits, this does nothing."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _spent() -> bool:
    """Whether this process has taken so much memory that another one should do the next job."""
    return taken() > SPENT


def taken() -> int:
    """The most bytes of memory that this process ever had; 0 where that can't be known."""
    with suppress(OSError, LookupError):
        # Not `ru_maxrss`: in Linux a new process inherits that of the one that started it.
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return int(status["VmHWM"].split()[0]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _sentence(error: ValueError) -> str:
    return str(error)[:1500] or "the request can't be answered."


def _listen(waiting: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        waiting.put(line)
    os._exit(0)


def _sayable(value: Any) -> Any:
    """The same with None for numbers that JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _sayable(each) for name, each in value.items()}
    return [_sayable(each) for each in value] if isinstance(value, list | tuple) else value


def _tell(answers: TextIO, event: dict[str, Any]) -> None:
    answers.write(json.dumps(_sayable(event), allow_nan=False) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
