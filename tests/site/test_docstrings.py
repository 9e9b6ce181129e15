"""Docstrings as the reference shows them: constants with words of their own, formulas that are typeset."""

import sys

import pytest

from docs.tools import formulas
from tests.support import ROOT
from tests.support.public_names import ENTRY

griffe = pytest.importorskip("griffe", reason="griffe is in the extra `docs`")
REFERENCE = "\n".join(path.read_text() for path in sorted((ROOT / "docs" / "reference").glob("*.md")))
EXTENSION = str(ROOT / "docs" / "tools" / "docstrings.py")


def load(name, folder):
    """A package as the reference reads it."""
    known = [*sys.path]
    try:
        return griffe.load(name, search_paths=[folder], extensions=griffe.load_extensions(EXTENSION))
    finally:
        sys.path[:] = known


def test_a_comment_is_handed_on_to_no_other_constant(tmp_path):
    (tmp_path / "known").mkdir()
    (tmp_path / "known" / "__init__.py").write_text("# How many there are\n# of them.\nMANY = 3\nFEW = 1\n")
    package = load("known", tmp_path)
    assert package["MANY"].docstring.value == "How many there are\nof them."
    assert package["FEW"].docstring is None


def test_every_constant_of_the_reference_has_words_of_its_own():
    package, bare, constants = load("descant", ROOT / "src"), [], 0
    for path in ENTRY.findall(REFERENCE):
        found = package[path.removeprefix("descant.")]
        found = found.final_target if found.is_alias else found
        if found.is_attribute:
            constants += 1
            bare += [] if found.docstring else [path]
    assert constants > 50 and bare == []


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("E sigma^power.", r"$E \sigma ^{\text{power}}$."),
        ("eigenvalues j^-exponent, j = 1", r"eigenvalues $j^{-\text{exponent}}$, j = 1"),
        ("scale^(power/2) in R^(d+1)", r"scale<sup>power/2</sup> in $\mathbb{R}^{d+1}$"),
        ("a degree of 3^L, J^-1 and (A + B)^-1", "a degree of 3<sup>L</sup>, $J^{-1}$ and (A + B)<sup>−1</sup>"),
        ("w ~ N(means_k, covs_k)", "w ~ N(means<sub>k</sub>, covs<sub>k</sub>)"),
        ("steps w <- w - step grad", "steps w ← w - step grad"),
        ("the guess of y_q-LSA", "the guess of $y_q$-LSA"),
        ("`w_k` and `a <- b`, `x^(d+1)`, a file_name_x.py", "`w_k` and `a <- b`, `x^(d+1)`, a file_name_x.py"),
    ],
)
def test_formulas_are_typeset(written, shown):
    assert formulas.typeset(written) == shown
