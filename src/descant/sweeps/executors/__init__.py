"""Who does the jobs: this process, processes of this machine, or the workers of a Ray cluster."""

from collections.abc import Callable

from ._executor import AbstractExecutor as AbstractExecutor, Lost as Lost
from ._local import LocalExecutor as LocalExecutor
from ._processes import ProcessExecutor as ProcessExecutor
from ._ray import RayExecutor as RayExecutor

# How each is made: of the number of workers and the address of a cluster, either of which may be left out.
EXECUTORS: dict[str, Callable[[int | None, str | None], AbstractExecutor]] = {
    "local": lambda workers, address: LocalExecutor(),
    "processes": lambda workers, address: ProcessExecutor(workers),
    "ray": RayExecutor,
}
