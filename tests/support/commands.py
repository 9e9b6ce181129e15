"""Run `descant` as a user would, here or in a new interpreter."""

import os
import subprocess
import sys

import pytest

from descant.cli import main


def run(*arguments: str, capsys) -> tuple[int, str, str]:
    """Run in this process: no second import of JAX."""
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    output = capsys.readouterr()
    return int(stop.value.code or 0), output.out, output.err


def fresh(code: str) -> str:
    """Run in a new interpreter, without this one's import hook."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ})
    assert done.returncode == 0, done.stderr
    return done.stdout
