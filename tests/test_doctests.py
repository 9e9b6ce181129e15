"""Examples in docstrings, and the README's Python, do what they say."""

import doctest
import importlib
import pkgutil
import re

import pytest

import descant
from tests.support import ROOT

MODULES = [
    module.name for module in pkgutil.walk_packages(descant.__path__, "descant.") if "__main__" not in module.name
]


def test_docstring_examples():
    tried = 0
    for name in MODULES:
        if name.endswith("_torch_modules"):
            continue  # needs PyTorch, which is an extra
        result = doctest.testmod(importlib.import_module(name))
        assert result.failed == 0, name
        tried += result.attempted
    assert tried >= 8


@pytest.mark.parametrize("page", ["README.md", "docs/risks.md", "docs/training.md", "docs/programs.md"])
def test_python_of_the_pages_runs(page):
    text = (ROOT / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    names: dict = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_lazy_names_exist():
    for name in dir(descant):
        assert getattr(descant, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        descant.nonsense  # noqa: B018
