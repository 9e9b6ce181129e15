"""The notebooks: public names only, clean for marimo, and executed to the end with the numbers that they speak of."""

import ast
import importlib.util
import subprocess
import sys

import pytest
import yaml

from tests.support import ROOT

FOLDER = ROOT / "notebooks"
spec = importlib.util.spec_from_file_location("export", FOLDER / "export.py")
assert spec is not None and spec.loader is not None
export = importlib.util.module_from_spec(spec)
spec.loader.exec_module(export)
NAMES = export.NOTEBOOKS


def test_all_are_on_the_site():
    assert sorted(NAMES) == sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "export")
    # Tags of Python, as in emoji settings, are no plain YAML.
    lines = [line for line in (ROOT / "mkdocs.yml").read_text().splitlines() if "!!" not in line]
    (shown,) = [each["Notebooks"] for each in yaml.safe_load("\n".join(lines))["nav"] if "Notebooks" in each]
    assert [next(iter(each.values())) for each in shown] == [f"notebooks/{name}.md" for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_only_public_names(name):
    for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text())):
        if isinstance(node, ast.ImportFrom):
            parts = [*(node.module or "").split("."), *(each.name for each in node.names)]
            assert not [part for part in parts if part.startswith("_")], parts
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_"), node.attr


def test_marimo_finds_nothing_to_complain_about():
    words = [sys.executable, "-m", "marimo", "check", "--strict", *(str(FOLDER / f"{name}.py") for name in NAMES)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_prose_code_and_pictures(name):
    """Executed here, unless the site was built of the same sources before; its sentences are asserted in its cells."""
    folder = export.page(name)
    text = (folder / export.PAGE).read_text()
    assert text.startswith("# ") and "```python" in text and ("±" in text or "exact" in text)
    pictures = sorted(folder.glob("figure-*"))
    assert pictures and all(
        f"({name}/{picture.name})" in text and picture.stat().st_size > 2000 for picture in pictures
    )


def test_cells_are_read_as_they_are_written():
    source = (
        "with app.setup:\n    import a\n\n\n@app.cell\ndef _(x):\n    # why\n    y = x\n    y\n    return (y,)\n\n\n"
        "@app.cell(hide_code=True)\ndef _():\n    mo.md('hidden')\n    return\n"
    )
    assert [code for _, code in export._cells(source)] == ["import a", "# why\ny = x\ny", ""]
