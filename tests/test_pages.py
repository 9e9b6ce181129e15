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


def test_the_first_command_of_the_readme_prints_what_stands_below_it(capsys):
    text = (ROOT / "README.md").read_text()
    status, out, err = run(*commands("README.md")[0], capsys=capsys)
    assert status == 0, err
    shown = re.search(r"```console\n\$ descant risk.*?\n(.*?)```", text, re.DOTALL)
    assert shown is not None
    assert [line.rstrip() for line in out.splitlines()][: shown[1].count("\n")] == shown[1].splitlines()


def test_a_program_of_the_pages_as_a_file(tmp_path, monkeypatch, capsys):
    """What stands on the page on programs, in a file of its own, is compiled from the shell, and parsed alone."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "programs.md").read_text(), re.DOTALL)
    written = re.search(r"@program\ndef ridge.*?return w\n", blocks[0], re.DOTALL)
    assert written is not None
    (tmp_path / "mine.py").write_text(f"from descant.programs import program\n\n\n{written[0]}")
    compiling = next(words for words in commands("docs/programs.md") if words[:2] == ["compile", "mine.py"])
    status, out, err = run(*compiling, capsys=capsys)
    assert status == 0, err
    assert "Written to compiled" in out and (tmp_path / "compiled" / "network.safetensors").exists()
