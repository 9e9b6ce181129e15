"""The console of the README and of the documentation: every command on the pages can be typed as it stands."""

import re
import shlex

import pytest

from descant.cli import app
from tests.support import ROOT
from tests.support.commands import run

PAGES = ["README.md", *(f"{path.relative_to(ROOT).as_posix()}" for path in sorted((ROOT / "docs").rglob("*.md")))]
# In usage lines, and where the reader is to put something of their own.
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|\[|\.\.\.|…")


def commands(page: str) -> list[list[str]]:
    """What stands behind `$ descant` in a page's console blocks, without comments."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    lines = [line for block in blocks for line in re.sub(r"\\\n\s*", " ", block).splitlines()]
    found = [line.removeprefix("$ descant ") for line in lines if line.startswith("$ descant ")]
    return [shlex.split(line, comments=True) for line in found if not PLACEHOLDER.search(line)]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_is_understood(page):
    """Parsed down to the last flag; what it would do is not done."""
    for words in commands(page):
        command, bound, ignored = app.parse_args(words, print_error=False, exit_on_error=False)
        assert callable(command) and bound is not None and not ignored, words


def test_the_readme_in_a_folder_of_its_own(tmp_path, monkeypatch, capsys):
    """Its programs as a file, and its first command with the very numbers that stand below it."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "ridge.py").write_text(next(block for block in blocks if "def ridge" in block))
    compiling = [words for words in commands("README.md") if words[:2] == ["compile", "ridge.py"]]
    assert len(compiling) == 2
    ran = [run(*words, capsys=capsys) for words in compiling]
    assert [status for status, _, _ in ran] == [0, 0], ran
    assert "Written to compiled" in ran[-1][1] and (tmp_path / "compiled" / "network.safetensors").exists()
    first = commands("README.md")[0]
    status, out, err = run(*first, capsys=capsys)
    assert status == 0, err
    shown = re.search(r"```console\n\$ descant risk.*?\n(.*?)```", text, re.DOTALL)
    assert shown is not None
    assert [line.rstrip() for line in out.splitlines()][: shown[1].count("\n")] == shown[1].splitlines()
