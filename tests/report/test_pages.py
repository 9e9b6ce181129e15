"""The report, without a browser: what is written, what is kept, what the words and numbers look like."""

import hashlib
import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from descant.claims import Axis, Evidence, Figure, Lab, Panel, Table, _claim, equal
from descant.figures import bare
from descant.report import draw_figures, write_report
from descant.report._assets import VENDOR, assets
from descant.report._pages import together
from descant.report._words import line, measured, number, paragraphs
from tests.support import ROOT
from tests.support.report_claims import bars, claim, claims, judged, judgements


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_report(folder, claims(), judgements())
    return folder


class Page(HTMLParser):
    """Links, ids, text and embedded data of a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[Any] = []
        self.ids: list[Any] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(path.read_text())
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        self.ids += [given["id"]] if "id" in given else []

    def handle_data(self, data):
        self.words.append(data)


def pages(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.html"))


def test_there_is_a_page_for_every_claim(report):
    assert {path.stem for path in pages(report)} == {"index", *claims()}


def test_every_link_leads_somewhere(report):
    checked = 0
    for path in pages(report):
        for link in Page(path).links:
            if link.startswith(("https://arxiv.org/", "data:")):
                continue
            assert not re.match(r"\w+:", link), f"{link} in {path.name} leads out of the folder"
            file, _, anchor = link.partition("#")
            target = path.parent / file if file else path
            assert target.exists(), f"{link} in {path.name}"
            assert not anchor or anchor in Page(target).ids, f"{link} in {path.name}"
            checked += 1
    assert checked > 100


def test_ids_are_unique(report):
    for path in pages(report):
        ids = Page(path).ids
        assert len(ids) == len(set(ids)), path


def test_verdicts(report):
    verdicts = json.loads((report / "verdicts.json").read_text())
    assert [each["id"] for each in verdicts] == list(judgements())
    assert {frozenset(each) for each in verdicts} == {
        frozenset({"id", "paper", "whose", "identity", "verdict", "standing", "seconds"})
    }
    by_id = {each["id"]: each["verdict"] for each in verdicts}
    assert by_id["guess-refuted"] == "does-not-hold" and by_id["guess-open"] == by_id["elsa-failed"] == "undecided"


def test_the_front_page_says_what_does_not_hold_and_why(report):
    text = Page(report / "index.html").text
    assert "With a mean of rank one, d heads suffice" in text
    assert "we find 0.2718 ± 0.0030 . The paper prints gap ≥ bound." in text
    assert "ValueError: n is 0; expected more" in text and "descant reproduce lt-not-run" in text


def test_statements_are_counted_by_whose_they_are(report):
    text = Page(report / "index.html").text
    assert "11 statements of theirs are judged" in text and "1 of these is an identity of a construction" in text
    assert (
        "One statement beside theirs is ours, drawn from what they say or beyond it, and counted apart: 1 holds" in text
    )
    verdicts = {each["id"]: each for each in json.loads((report / "verdicts.json").read_text())}
    assert verdicts["ltb-maps"]["whose"] == "derived" and verdicts["elsa-plain"]["identity"]


def test_words_of_a_transcription_that_fail_are_not_called_false(report):
    verdicts = {each["id"]: each for each in json.loads((report / "verdicts.json").read_text())}
    assert verdicts["ltb-read"]["verdict"] == "does-not-hold" and verdicts["ltb-read"]["standing"] == "not-as-read"
    text, front = Page(report / "claims" / "ltb-read.html").text, Page(report / "index.html").text
    assert "not as transcribed" in text and "machine transcription, which may be corrupt" in text
    assert "does not hold" not in text
    card = front[front.index("What does not hold as it was transcribed") :]
    assert "Of two readings the other one holds." in card[: card.index("What is undecided")]


def test_what_our_networks_do_not_show_is_not_called_false(tmp_path):
    own = {
        "saw": claim("saw", "linear-transformer", "Networks go up", observed=True),
        "one": claim("one", "elsa", "One"),
    }
    results = {id: judged(id, Evidence((equal("a", 1, 2, tolerance=0, reason="-"),))) for id in own}
    write_report(tmp_path, own, results)
    verdicts = {each["id"]: each for each in json.loads((tmp_path / "verdicts.json").read_text())}
    assert [verdicts[id]["standing"] for id in own] == ["not-in-ours", "does-not-hold"]
    text, front = Page(tmp_path / "claims" / "saw.html").text, Page(tmp_path / "index.html").text
    assert "not in our networks" in text and "does not hold" not in text
    assert "It saw this in networks that it trained; judged here on ours." in text
    card = front[front.index("What papers saw in their networks, and ours don’t show") :]
    assert "Networks go up" in card[: card.index("All claims")]


def test_long_runs_rates_controls_and_origins_are_told(report):
    text = Page(report / "claims" / "lt-bars.html").text
    for words in (
        "from a long run",
        "descant reproduce lt-bars --budget full , 1 h 30 min on an accelerator, 2026-11-16",
        "; code 0123456789ab. In three parts.",
        "networks that fit: 18 of 20",
        "0.9 (0.",
        "loss that still fell control",
        "The paper’s; its words were seen in the abstract",
    ):
        assert words in text, words
    assert "it follows from what the paper states" in Page(report / "claims" / "ltb-maps.html").text
    assert "the experiment checks code" in Page(report / "claims" / "elsa-plain.html").text


def test_the_page_of_a_claim_has_everything(report):
    text = Page(report / "claims" / "lt-eight.html").text
    for words in (
        "Theorem 3.2 and Figure 4",
        "Max Vladymyrov",
        "A prior, a size or a number of heads for which the two differ",
        "4.54545 exact",
        "4.55",
        "Two exact formulas: rounding alone.",
        "sizes up to 10",
        "sizes up to 100, with ten seeds",
        "DESCANT_CLAIMS=tests.support.report_claims descant reproduce lt-eight --budget full --seed 3 --out again",
        "jaxlib 0.10.2",
        "cpu (x86_64)",
        "12 s",
        "@article{vladymyrov2024",
        "Wiggles grow with depth.",
    ):
        assert words in text, words


def test_a_refutation_does_not_read_like_a_statement(report):
    text = Page(report / "claims" / "ltb-refuted.html").text
    assert "0.2718 ± 0.0030 , but has to be" in text
    assert ", but has to be" not in Page(report / "claims" / "lt-eight.html").text


def test_a_reason_that_several_checks_share_stands_once():
    one, other = (equal(name, 1.0, 1.0, tolerance=0.1, reason=name) for name in ("one", "other"))
    looser = equal("one", 1.0, 1.0, tolerance=0.2, reason="one")
    assert [span for _, span in together([one, looser, one, other, one])] == [3, 0, 0, 1, 1]
    assert together([]) == []


def test_nothing_in_a_claim_becomes_markup(report):
    for name in ("ltb-refuted", "guess-refuted", "elsa-failed"):
        text = (report / "claims" / f"{name}.html").read_text()
        assert "<b>with</b>" not in text
        assert text.count("</script>") == Page(report / "claims" / f"{name}.html").tags.count("script")


def test_data_in_the_page_cannot_end_its_script(tmp_path):
    figure = Figure("x", "</script><script>alert(1)</script>", "<!--", (Panel("", Axis("<b>"), Axis("y"), ()),))
    own = {"one": claim("one", "elsa", "One")}
    write_report(
        tmp_path, own, {"one": judged("one", Evidence((equal("a", 1, 1, tolerance=0, reason="-"),), (figure,)))}
    )
    text = (tmp_path / "claims" / "one.html").read_text()
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert json.loads(data)["title"] == "</script><script>alert(1)</script>"
    assert "alert(1)</script>" not in text


def test_nothing_is_done_twice_and_a_change_is_seen(tmp_path):
    own = {id: each for id, each in claims().items() if id in ("guess-flat", "lt-bars")}
    results = {id: judgements()[id] for id in own}
    write_report(tmp_path, own, results)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    begin = time.monotonic()
    write_report(tmp_path, own, results)
    assert time.monotonic() - begin < 2
    rewritten = {path.name for path, when in times.items() if path.stat().st_mtime_ns != when}
    assert rewritten == {"index.html", "verdicts.json", ".written.json"}

    changed = {
        **results,
        "guess-flat": judged("guess-flat", Evidence(results["guess-flat"].evidence.checks, (bars(),))),
    }
    write_report(tmp_path, own, changed)
    found = {path.name for path in (tmp_path / "figures" / "guess-flat").iterdir()}
    assert found == {"bars.png", "bars.svg", "bars.csv", ".bars.drawn"}


def test_a_lost_picture_is_drawn_again(tmp_path):
    own, results = {"guess-flat": claims()["guess-flat"]}, {"guess-flat": judgements()["guess-flat"]}
    write_report(tmp_path, own, results)
    path = tmp_path / "figures" / "guess-flat" / "flat.svg"
    before = path.read_bytes()
    path.unlink()
    write_report(tmp_path, own, results)
    assert path.read_bytes() == before


def test_pages_of_claims_that_are_no_more_go_and_other_files_stay(tmp_path):
    own = {id: claims()[id] for id in ("elsa-plain", "guess-flat")}
    mine = [tmp_path / name for name in ("claims/mine.html", "figures/mine.png", "notes.txt")]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    write_report(tmp_path, own, {"guess-flat": judgements()["guess-flat"]})
    del own["guess-flat"]
    write_report(tmp_path, own, {})
    assert not (tmp_path / "claims" / "guess-flat.html").exists() and not (tmp_path / "figures" / "guess-flat").exists()
    assert (tmp_path / "claims" / "elsa-plain.html").exists() and all(path.read_text() == "mine" for path in mine)


def test_figures_drawn_ahead_are_found(tmp_path):
    judgement = judgements()["guess-flat"]
    draw_figures(tmp_path, judgement)
    drawn = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.name for path in drawn} >= {"flat.png", "flat-2.svg"}
    write_report(tmp_path, {"guess-flat": claims()["guess-flat"]}, {"guess-flat": judgement})
    assert all(path.stat().st_mtime_ns == when for path, when in drawn.items())
    draw_figures(tmp_path, judgements()["elsa-failed"])


def test_two_figures_of_one_name_have_files_of_their_own(report):
    assert (report / "figures" / "guess-flat" / "flat.png").exists()
    assert (report / "figures" / "guess-flat" / "flat-2.png").exists()


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (4.5454545454, 0.0, "4.54545"),
        (4.5454545454, 0.0031, "4.5455 ± 0.0031"),
        (1.2e-7, 3e-9, "(1.200 ± 0.030) × 10−7"),
        (1234567.0, 120.0, "(1.23457 ± 0.00012) × 106"),
        (-0.00123, 0.0001, "−0.00123 ± 0.00010"),
        (0.996, 0.0099, "0.9960 ± 0.0099"),
        (float("nan"), 0.0, "NaN"),
        (float("inf"), 0.0, "∞"),
        (5.0, float("inf"), "5 ± ∞"),
    ],
)
def test_numbers_have_the_digits_their_errors_allow(value, error, text):
    assert " ".join(measured(value, error).striptags().replace("\u202f", " ").split()) == text


def test_exact_is_said_where_it_was_said():
    assert measured(4.5, 0.0, exact=True).striptags() == "4.5 exact" and not measured(4.5, 0.0).striptags().strip(
        "4.5 "
    )


def test_numbers():
    assert [str(number(value)) for value in (3, 0.0, 1e-4, 999999.7, -2.5)] == ["3", "0", "0.0001", "1000000", "−2.5"]
    assert number(-3.5e-9) == "−3.5\u202f×\u202f10<sup>−9</sup>"


def test_mathematics_is_kept_from_markdown():
    text = paragraphs("Weights $a_1 * b_1 * c_{ij} < d$ and *words* with\n\n$$\\sum_i x_i$$\n")
    assert '<span class="math inline">a_1 * b_1 * c_{ij} &lt; d</span>' in text and "<em>words</em>" in text
    assert '<span class="math display">\\sum_i x_i</span>' in text
    assert '<span class="math inline">a + b - c</span>' in paragraphs("A sum $a\n  + b\n- c$ over lines.")
    assert paragraphs("One $ sign.\n\n- a list, $x$").count("<li>") == 1
    assert line("2 * 3 * 4 `x` <i>") == "2 * 3 * 4 <code>x</code> &lt;i&gt;"
    assert bare(r"risk / $\sigma^2$ at $\lambda_{max} \leq 10^{-3}$, `x`") == "risk / σ² at λ_max ≤ 10⁻³, x"


def test_the_example_of_the_documentation(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "report.md").read_text(), re.DOTALL)
    space: dict[str, Any] = {"__name__": "example"}
    exec(code, space)
    own = {"two-heads": _claim._FOUND.pop("two-heads")}
    evidence = space["two_heads"](Lab(tmp_path / "claim", tmp_path / "runs"))
    assert evidence.verdict == "holds"
    write_report(tmp_path / "report", own, {"two-heads": judged("two-heads", evidence)})


def test_vendored_files_are_what_they_were():
    """The README beside them lists each with its version and digest."""
    for folder in (VENDOR, Path(__file__).parent / "vendor"):
        listed = dict(
            re.findall(r"^\| `([^`]+)` \| `([0-9a-f]{64})` \|$", (folder / "README.md").read_text(), re.MULTILINE)
        )
        there = {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*")
            if path.is_file() and path.name != "README.md"
        }
        assert listed == there
    assert sum(path.stat().st_size for path in VENDOR.rglob("*")) < 3e6


def test_assets_hold_their_fonts():
    style = assets()["katex.css"].decode()
    assert style.count("data:font/woff2") == 20 and "fonts/" not in style
    assert "SIL OPEN FONT LICENSE" in assets()["LICENSES.txt"].decode().upper()


def test_a_table_with_one_column():
    table = Table("t", "t", ("±",), ((1.0,),))
    own = {"one": claim("one", "elsa", "One")}
    evidence = Evidence((equal("a", 1, 1, tolerance=0, reason="-"),), tables=(table,))
    from descant.report._pages import Entry, claim_page

    assert "<th" in claim_page(Entry(own["one"], judged("one", evidence)), None, None)
