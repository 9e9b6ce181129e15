"""Claims are judged in processes of their own: whatever happens to one, the rest goes on; nothing is done twice."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.fake_claims import PARTS

PARENT_SEEN_MISSING_S = 5.0


# A shell starts what is in its background deaf to Ctrl-C, the tests themselves perhaps: the command heeds it again.
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from descant.cli import main
main()
"""


class Runner:
    """`descant reproduce` on invented claims, in a folder of its own."""

    def __init__(self, folder: Path):
        self.out, self.log = folder / "report", folder / "log"
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.environment = {
            **os.environ,
            "DESCANT_CLAIMS": "tests.support.fake_claims",
            "FAKE_LOG": str(self.log),
            "PYTHONPATH": path,
            "JAX_PLATFORMS": "cpu",
            "OPENBLAS_NUM_THREADS": "1",
        }

    def start(self, *ids: str) -> subprocess.Popen:
        command = [sys.executable, "-c", COMMAND, "reproduce", *ids, "--out", str(self.out), "--processes", "2"]
        return subprocess.Popen(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C goes to all processes of a terminal: they are a group of their own here
        )

    def run(self, *ids: str) -> tuple[int, str, str]:
        process = self.start(*ids)
        out, err = process.communicate()
        return process.returncode, out, err

    def notes(self) -> list[list[str]]:
        return [line.split() for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def wait_for_notes(self, count: int) -> None:
        while len(self.notes()) < count:
            time.sleep(0.005)

    def verdicts(self) -> dict[str, str]:
        return {each["id"]: each["verdict"] for each in json.loads((self.out / "verdicts.json").read_text())}


@pytest.fixture
def runner(tmp_path) -> Runner:
    return Runner(tmp_path)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def assert_all_gone(pids: set[int]) -> None:
    deadline = time.monotonic() + PARENT_SEEN_MISSING_S
    while any(map(alive, pids)):
        assert time.monotonic() < deadline, "a process outlived the one that started it"
        time.sleep(0.02)


@pytest.mark.slow
def test_what_goes_wrong_is_told_and_the_rest_goes_on(runner):
    ids = ("fake-raises", "fake-exits", "fake-killed", "fake-fine", "fake-left")
    status, out, err = runner.run(*ids)
    assert status == 1, err
    assert runner.verdicts() == dict.fromkeys(ids, "undecided") | {"fake-fine": "holds", "fake-left": "holds"}
    assert "fake-raises: ValueError: n is 0; expected more." in out
    assert "fake-exits: its process died" in out and "fake-killed: its process died" in out
    assert not err, err
    for id in ids:
        assert (runner.out / "claims" / f"{id}.html").exists()

    before = len(runner.notes())
    # What failed is tried again, what was judged is found.
    status, _, _ = runner.run(*ids)
    again = {words[0] for words in runner.notes()[before:]}
    assert status == 1 and again == {"fake-raises", "fake-exits", "fake-killed"}

    # A run over one claim keeps the pages of the others.
    status, _, _ = runner.run("fake-fine")
    assert status == 0
    assert runner.verdicts() == {"fake-fine": "holds", "fake-left": "holds"}
    front = (runner.out / "index.html").read_text()
    assert 'href="claims/fake-left.html"' in front and "descant reproduce fake-raises" in front


@pytest.mark.slow
def test_killed_at_random_moments_it_continues(runner, draw):
    ids = ("fake-left", "fake-right")
    kills = 0
    for _ in range(3):
        count = len(runner.notes())
        process = runner.start(*ids)
        runner.wait_for_notes(count + draw.randrange(1, 5))
        process.kill()
        process.communicate()
        kills += 1
        assert_all_gone({int(words[-1]) for words in runner.notes()})
    status, _, err = runner.run(*ids)
    assert status == 0 and not err, err
    # A part may be lost if its process died between computing and keeping it; one per process and kill at most.
    computed = Counter(tuple(words[:2]) for words in runner.notes())
    for id in ids:
        assert computed[id, "done"] == 1
        repeated = sum(computed[id, str(index)] - 1 for index in range(PARTS))
        assert all(computed[id, str(index)] >= 1 for index in range(PARTS)) and repeated <= kills
    before = runner.notes()
    assert runner.run(*ids)[0] == 0
    assert runner.notes() == before


def test_interrupted(runner):
    process = runner.start("fake-left", "fake-right")
    runner.wait_for_notes(2)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err == "descant: interrupted; what was finished is kept, the same command does the rest.\n"
    assert_all_gone({int(words[-1]) for words in runner.notes()})


def test_own_claims_that_are_not_there(runner):
    runner.environment["DESCANT_CLAIMS"] = "no_such_claims"
    status, _, err = runner.run()
    assert status == 2
    expected = "DESCANT_CLAIMS names 'no_such_claims', which can't be found; is it in this folder or on PYTHONPATH?"
    assert err == f"descant: {expected}\n"
