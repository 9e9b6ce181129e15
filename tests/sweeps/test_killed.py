"""Workers, drivers and nodes that are killed: nothing finished is lost or done again, and the rest goes on."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support import ROOT

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is an extra")
EXECUTORS = ["processes", pytest.param("ray", marks=[needs_ray, pytest.mark.slow])]
GRID = 'evaluator = "tests.support.sweep_points:gated"\n[grid]\nx = { from = 0, to = 47, count = 48 }\n'
# Two jobs of sixteen points are done when the third waits at its gate.
KEPT, GATE = range(32), 40
# A shell starts what is in its background deaf to Ctrl-C, the tests themselves perhaps: the command heeds it again.
COMMAND = "import signal; signal.signal(2, signal.default_int_handler); from descant.cli import main; main()"


class Sweep:
    """`descant sweep` on a question that waits at a gate, in a folder of its own."""

    def __init__(self, folder: Path, executor: str, *more: str):
        self.folder, self.log, self.gate = folder, folder / "log", folder / "gate"
        (folder / "squares.toml").write_text(GRID)
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        names = {"SWEEP_LOG": str(self.log), "SWEEP_GATE": str(self.gate)}
        self.environment = {**os.environ, **names, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}
        self.command = [sys.executable, "-c", COMMAND, "sweep", "squares.toml", "--executor", executor, *more]

    def start(self) -> subprocess.Popen:
        return subprocess.Popen(
            self.command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C goes to all processes of a terminal: they are a group of their own here
        )

    def run(self) -> str:
        process = self.start()
        out, err = process.communicate()
        assert process.returncode == 0, err
        return out

    def notes(self) -> list[tuple[int, int]]:
        """Points that were asked for, and by which process."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(int(x), int(process)) for x, process in map(str.split, lines)]

    def at_the_gate(self, process: subprocess.Popen) -> int:
        """Wait until all other points are kept; the process that waits."""
        while True:
            waiting = [worker for x, worker in self.notes() if x == GATE]
            if waiting and len(list((self.folder / "sweeps" / "points").glob("*.jsonl"))) == 2:
                return waiting[-1]
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)

    def check(self) -> None:
        """All is there, and nothing that was kept was asked for twice."""
        table = pq.read_table(self.folder / "sweeps" / "squares" / "results.parquet").to_pydict()
        assert table["value"] == [float(x * x) for x in range(48)] and set(table["status"]) == {"done"}
        asked = Counter(x for x, _ in self.notes())
        assert {asked[x] for x in KEPT} == {1} and asked[GATE] == 2


def _wait_for_the_end_of(worker: int) -> None:
    while Path(f"/proc/{worker}").exists():
        time.sleep(0.02)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_worker_that_is_killed_costs_its_points_in_flight(executor, tmp_path):
    sweep = Sweep(tmp_path, executor, "--workers", "2")
    process = sweep.start()
    os.kill(sweep.at_the_gate(process), signal.SIGKILL)
    sweep.gate.touch()
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert "48 of 48 points are done" in out
    sweep.check()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_driver_that_is_killed_takes_its_workers_along_and_is_continued(executor, tmp_path):
    sweep = Sweep(tmp_path, executor, "--workers", "2")
    process = sweep.start()
    worker = sweep.at_the_gate(process)
    process.kill()
    process.communicate()
    _wait_for_the_end_of(worker)
    sweep.gate.touch()
    assert "48 of 48 points are done, 32 of them found" in sweep.run()
    sweep.check()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_after_ctrl_c_the_same_command_does_the_rest(executor, tmp_path):
    sweep = Sweep(tmp_path, executor, "--workers", "2")
    process = sweep.start()
    worker = sweep.at_the_gate(process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130 and "the same command does the rest" in err
    _wait_for_the_end_of(worker)
    rows = pq.read_table(tmp_path / "sweeps" / "squares" / "results.parquet").to_pydict()
    assert rows["status"] == ["done"] * 32 + ["left"] * 16
    sweep.gate.touch()
    sweep.run()
    sweep.check()


# A head without workers, and two nodes with one each, until nobody listens any more.
CLUSTER = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
for _ in range(2):
    cluster.add_node(num_cpus=1)
print("address", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@needs_ray
@pytest.mark.slow
def test_a_node_that_is_lost_costs_its_points_in_flight(tmp_path):
    """On a cluster that is there already: the node whose worker waits at the gate is killed."""
    sweep = Sweep(tmp_path, "ray")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", CLUSTER], env=sweep.environment, text=True, **pipes) as cluster:
        told = cluster.stdout
        assert told is not None
        address = next(line.split()[1] for line in told if line.startswith("address"))
        sweep.command += ["--address", address]
        process = sweep.start()
        worker = sweep.at_the_gate(process)
        raylet = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
        for each in (raylet, worker):  # a worker outlives its node for as long as it has something to do
            os.kill(each, signal.SIGKILL)
        sweep.gate.touch()
        out, err = process.communicate()
        cluster.stdin.close()
    assert process.returncode == 0, err
    assert "48 of 48 points are done" in out
    sweep.check()
