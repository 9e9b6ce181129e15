"""How commands end: whatever happens is one sentence and a status."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from descant import _memory
from descant._signals import Terminated
from descant._unknown import Unknown
from descant.cli._ending import status_of
from tests.support.commands import run


def raising(error: BaseException):
    def command() -> int:
        raise error

    return command


def rich_gave_up() -> int:
    try:
        raise BrokenPipeError
    except BrokenPipeError:
        raise SystemExit(1)  # noqa: B904, as Rich does it


ENDINGS = {
    "done": (lambda: 0, 0, ""),
    "a claim that failed": (lambda: 1, 1, ""),
    "a mistake": (raising(ValueError("d is 0;\n  expected more.")), 2, "descant: d is 0; expected more.\n"),
    "no such file": (raising(FileNotFoundError(2, "No such file", "x.npz")), 2, "descant: x.npz: No such file\n"),
    "a full disk": (raising(OSError(errno.ENOSPC, "No space left", "x")), 1, "descant: x: No space left\n"),
    "an overflow": (raising(OverflowError("the risk is nan.")), 1, "descant: the risk is nan.\n"),
    "memory": (
        raising(MemoryError("Unable to allocate 8 TB")),
        1,
        "descant: there is not enough memory (Unable to allocate 8 TB); ask for less at a time.\n",
    ),
    "memory of XLA": (
        raising(RuntimeError("RESOURCE_EXHAUSTED: Out of memory")),
        1,
        "descant: there is not enough memory (RESOURCE_EXHAUSTED: Out of memory); ask for less at a time.\n",
    ),
    "recursion": (
        raising(RecursionError("maximum recursion depth exceeded")),
        1,
        "descant: internal error, RecursionError: maximum recursion depth exceeded; set DESCANT_DEBUG=1 for the "
        "traceback.\n",
    ),
    "an error of JAX": (
        raising(TypeError("dot_general requires\n contracting dimensions.")),
        1,
        "descant: internal error, TypeError: dot_general requires contracting dimensions; set DESCANT_DEBUG=1 for the "
        "traceback.\n",
    ),
    "Ctrl-C": (
        raising(KeyboardInterrupt()),
        130,
        "descant: interrupted; what was finished is kept, the same command does the rest.\n",
    ),
    "SIGTERM": (
        raising(Terminated()),
        143,
        "descant: terminated; what was finished is kept, the same command does the rest.\n",
    ),
    "nobody reads": (raising(BrokenPipeError()), 141, ""),
    "nobody reads a table": (rich_gave_up, 141, ""),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_is_a_status_and_at_most_a_sentence(ending, capsys):
    command, status, said = ENDINGS[ending]
    assert status_of(command) == status
    assert capsys.readouterr().err == said


def test_the_traceback_is_there_for_who_asks(monkeypatch, capsys):
    monkeypatch.setenv("DESCANT_DEBUG", "1")
    assert status_of(raising(TypeError("odd"))) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err and err.splitlines()[-1].startswith("descant: internal error, TypeError: odd;")


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    assert 0 < _memory.free() < 2**60
    monkeypatch.setattr(_memory, "free", lambda: 10**9)
    _memory.need("a table", 10**8, "its rows")
    with pytest.raises(Unknown, match=r"^a table would take 8 GB of memory, and 1 GB are free; reduce its rows$"):
        _memory.need("a table", 10**9, "its rows")


def test_a_reader_that_leaves_ends_a_command_in_silence():
    """Also at the interpreter's end, where what is left is flushed."""
    for flags in ([], ["--json"]):
        command = [sys.executable, "-m", "descant", "programs", *flags]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 141


def test_sigterm_leaves_one_sentence_and_a_checkpoint(tmp_path):
    sizes = ["--d", "2", "--n", "4", "--batch", "4", "--steps", "1000000000", "--solver", "adam"]
    command = [sys.executable, "-m", "descant", "train", "lsa", *sizes, "--out", str(tmp_path / "run")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while process.poll() is None and not (tmp_path / "run" / "checkpoint.safetensors").exists():
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
        assert process.wait() == 143
    assert said == "descant: terminated; what was finished is kept, the same command does the rest.\n"


def test_a_signal_while_programs_are_compiled_is_no_crash(tmp_path):
    """An interpreter that ends while XLA compiles was seen to end in a segmentation fault."""
    sizes = ["--d", "2", "--n", "3", "--batch", "65", "--steps", "90000", "--solver", "adam"]
    command = [sys.executable, "-m", "descant", "train", "lsa", *sizes, "--out", str(tmp_path / "run")]
    fresh = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    fresh["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=fresh) as process:
        assert process.stderr is not None
        while process.poll() is None and not (tmp_path / "run" / "config.json").exists():
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read().startswith(b"descant: terminated; ")
        assert process.wait() == 143


def test_a_sentence_fits_on_a_screen(capsys):
    status, _, err = run("risk", "lsa", "--d", "3", "--n", "5", "--prior", "x" * 100_000, capsys=capsys)
    assert status == 2 and len(err) < 2000 and " … " in err


def test_json_of_a_sampled_overflow_is_no_result(capsys, monkeypatch):
    monkeypatch.setattr("descant.tasks.priors._spec._check.magnitude", lambda name, value: None)
    status, out, err = run(
        "risk", "zero", "--d", "2", "--n", "3", "--prior-mean", "1e200",
        "--method", "tokens", "--json", "--samples", "8", capsys=capsys,
    )  # fmt: skip
    assert status == 1 and out == ""
    assert "the risk of zero is inf: some of the contexts that were drawn overflow" in err
