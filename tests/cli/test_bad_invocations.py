"""A thousand bad invocations of all commands: one sentence, status 2, nothing lost, no hang."""

import signal
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from descant import _memory
from descant.cli import main
from tests.support.invocations import Bad, Sandbox, bad_invocations, commands

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


def verdict(bad: Bad, box: Sandbox, capsys, status: int = 2) -> str | None:
    """What is wrong with the answer to an invocation; None if nothing is."""
    before = box.contents()
    try:
        with alarm(LIMIT_S):
            main(bad.arguments)
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
    if not any(name in err for name in bad.names):
        return f"none of {bad.names} is named: {err[-300:]}"
    for word in INTERNAL:
        if word in err:
            return f"the internal word {word!r}: {err[-300:]}"
    after = box.contents()
    if after != before:
        changed = [name for name in {**before, **after} if before.get(name, 0) != after.get(name, 0)]
        return f"files changed: {changed}"
    return None


# Words of the code that a user of the commands has never seen.
INTERNAL = (
    "internal error",
    "random_starts",
    "refine_steps",
    "query_masked",
    "prior.",
    "inputs.",
    "noise.",
    "NoneType",
    "beartype",
)


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_invocations_are_one_sentence(name, box, capsys):
    wrong = {}
    for bad in bad_invocations(name, COMMANDS[name], box):
        reason = verdict(bad, box, capsys)
        if reason is not None:
            wrong[" ".join(map(repr, bad.arguments))[:300]] = reason
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(
        f"{arguments}\n    {reason}" for arguments, reason in wrong.items()
    )


def test_there_are_a_thousand(box):
    assert sum(1 for name in COMMANDS for _ in bad_invocations(name, COMMANDS[name], box)) >= 1000


LSA = ("risk", "lsa", "--d", "3", "--n", "5")
TRAIN = ("train", "lsa", "--d", "3", "--n", "5")
# Each was seen to abort, to hang, to print a traceback, or to answer what was not asked; and what it says now.
SEEN = [
    (("risk", "lsa", "--d", "100000", "--n", "5"), 2, "GB of memory"),
    (("risk", "lsa", "--d", "300", "--n", "5"), 2, "the search for the best heads in d = 300 dimensions would take"),
    (("risk", "bayes", "--d", "5", "--n", str(10**12), "--method", "tokens"), 2, "reduce n or d"),
    ((*LSA, "--samples", str(10**12)), 2, "samples is 1000000000000; expected at most 1000000000"),
    ((*LSA, "--seed", "9" * 25), 2, "--seed is 9999999999999999999999999; expected a whole number of at most 64 bits"),
    ((*LSA, "--seed", "-5"), 2, "--seed is -5; expected a whole number of at least 0"),
    (("risk", "lsa", "--d", "٣", "--n", "5"), 2, "--d is '٣'; expected a whole number"),
    (("reproduce", "elsa-property-2", "--seed", "-5"), 2, "--seed is -5"),
    (("risk", "lsa", "--d", "3", "--n", str(10**15)), 2, "beyond 10000000 tokens closed forms lose their digits"),
    ((*LSA, "--prior", "pool:1e12"), 2, "a pool of 1000000000000 tasks in d = 3 dimensions would take"),
    ((*LSA, "--prior-mean", "1e200"), 1, "prior mean is 1e+200; expected at most 1e+70: beyond it risks overflow"),
    ((*LSA, "--prior-scale", "1e308"), 1, "prior scale is 1e+308; expected at most 1e+70"),
    ((*LSA, "--noise", "1e200"), 1, "noise is 1e+200; expected at most 1e+70"),
    ((*TRAIN, "--d", "4"), 2, "--d specified multiple times"),
    ((*TRAIN, "--heads", str(10**10)), 2, "lsa with 1 layers and 10000000000 heads in d = 3 dimensions would take"),
    ((*TRAIN, "--seeds", str(10**8)), 2, "--seeds is 100000000; expected at most 5000"),
    (
        (*TRAIN, "--solver", "population", "--objective", "weights"),
        2,
        "the solver population minimises the risk itself",
    ),
    ((*TRAIN, "--solver", "adam", "--batch", str(10**11)), 2, "a batch of 100000000000 contexts of d = 3 and n = 5"),
    ((*TRAIN, "--solver", "adam", "--batch", "0"), 2, "--batch is 0"),
    ((*TRAIN, "--solver", "lm", "--steps", "0"), 2, "--steps is 0"),
    (("train", "diag", "--d", "3", "--n", "5", "--layers", "100000"), 2, "layers is 100000; expected at most 1000"),
    (("train", "softmax", "--d", "3", "--n", "5", "--layers", "101"), 2, "layers is 101; expected at most 100"),
    (("train", "softmax", "--d", "3", "--n", str(10**12)), 2, "reduce batch, seeds, n or d"),
    (
        ("train", "full", "--d", "200", "--n", "5", "--solver", "lm"),
        2,
        "least squares with 80802 parameters would take",
    ),
    (("crosscheck", "--samples", "0"), 2, "--samples is 0; expected a whole number of at least 2"),
    (("crosscheck", "--samples", str(10**12)), 2, "--samples is 1000000000000; expected at most"),
    (("compile", "ridge", "--set", "n=10", "d=200000", "T=2"), 2, "would take"),
    (("compile", "newton_schulz", "--set", "n=2", f"T={10**8}"), 2, "more than 300000 iterations"),
]


@pytest.mark.parametrize(("arguments", "status", "sentence"), SEEN, ids=lambda value: str(value)[:60])
def test_what_was_seen(arguments, status, sentence, box, capsys, monkeypatch):
    # The sentences do not depend on how much memory the machine of the day has.
    monkeypatch.setattr(_memory, "free", lambda: 2**33)
    assert verdict(Bad(list(arguments), (sentence,)), box, capsys, status) is None


def test_a_program_that_overflows_says_so_and_writes_nothing(box, capsys):
    np.savez(box.root / "large.npz", X=np.full((4, 2), 1e200), y=np.ones((4, 1)))
    bad = ["run", str(box.program), "--inputs", str(box.root / "large.npz"), "--out", "overflow.npz"]
    assert verdict(Bad(bad, ("ridge diverges, or overflows, on these inputs",)), box, capsys, 1) is None
