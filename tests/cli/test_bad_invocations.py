"""A thousand bad invocations of all commands: one sentence, status 2, nothing lost, no hang."""

import os
import signal
import threading
from contextlib import contextmanager

import pytest

from descant.cli import main
from tests.support.invocations import Sandbox, bad_invocations, commands

# A hang, not a speed: the whole table takes half a minute.
LIMIT_S = 20
COMMANDS = dict(commands())


class Hung(BaseException):
    """An invocation took too long."""


@contextmanager
def alarm(seconds: int):
    """Raise `Hung` after so many seconds."""
    assert threading.current_thread() is threading.main_thread()

    def ring(*_):
        raise Hung

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    root = tmp_path_factory.mktemp("invocations")
    return Sandbox.made(root)


@pytest.fixture(autouse=True)
def inside(box, monkeypatch, tmp_path):
    monkeypatch.chdir(box.root)
    monkeypatch.setenv("DESCANT_RUNS", str(box.root / "runs"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")


def verdict(arguments: list[str], box: Sandbox, capsys, status: int = 2) -> str | None:
    """What is wrong with the answer to an invocation; None if nothing is."""
    before = box.contents()
    try:
        with alarm(LIMIT_S):
            main(arguments)
    except SystemExit as stop:
        code = stop.code
    except BaseException as error:
        return f"{type(error).__name__} came through: {error}"
    else:
        return "main returned"
    err = capsys.readouterr().err
    if code != status:
        return f"status {code}: {err[-300:]}"
    if not err.startswith("descant: ") or err.count("\n") != 1 or "Traceback" in err:
        return f"not one sentence: {err[-300:]}"
    for word in INTERNAL:
        if word in err:
            return f"the internal word {word!r}: {err[-300:]}"
    after = box.contents()
    if after != before:
        changed = [name for name in {**before, **after} if before.get(name, 0) != after.get(name, 0)]
        return f"files changed: {changed}"
    return None


# Words of the code that a user of the commands has never seen.
INTERNAL = ("internal error", "random_starts", "refine_steps", "query_masked", "prior.", "inputs.", "noise.", "NoneType", "beartype")


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_invocations_are_one_sentence(name, box, capsys):
    wrong = {}
    for arguments in bad_invocations(name, COMMANDS[name], box):
        reason = verdict(arguments, box, capsys)
        if reason is not None:
            wrong[" ".join(map(repr, arguments))[:300]] = reason
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(f"{arguments}\n    {reason}" for arguments, reason in wrong.items())


def test_there_are_a_thousand(box):
    assert sum(1 for name in COMMANDS for _ in bad_invocations(name, COMMANDS[name], box)) >= 1000
