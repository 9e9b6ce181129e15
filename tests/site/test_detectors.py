"""What the tests of the site look for is found where it is planted, and not where it isn't."""

from pathlib import Path

import pytest

from tests.support.public_names import public_names, without_entry
from tests.support.site_pages import CLIPPED, MISSING, UNTYPESET, Page, dead_links, quoted_examples, unrendered_latex

# As Material has it: what is too wide for the window is not to be scrolled to.
SHELL = "<!doctype html><style>html {{overflow-x: hidden}} {style}</style><article>{body}</article>"
LINE = "a_very_long_name_of_something = another_very_long_name_of_something + yet_another_very_long_name"


@pytest.mark.parametrize("words", [r"$x_i$", r"\(x\)", r"\alpha", r"a sum of \frac{1}{2}", "w_{ij}", "R^{d+1}"])
def test_latex_that_shows_is_seen(words):
    assert unrendered_latex(Page(f"<p>Let {words} be</p>")) == [f"Let {words} be"]


@pytest.mark.parametrize(
    "html",
    [
        r'<p>Let <span class="arithmatex">\(x_{i}\)</span> be.</p>',
        r"<p>Let <code>$x_{i}$</code> be, and <code>\alpha</code>.</p>",
        "<p>It costs $5 or $ 6.</p><pre>$ make</pre>",
        "<p>A file_name, w_hat and a^2.</p>",
    ],
)
def test_what_is_no_latex_or_is_typeset_is_not(html):
    assert unrendered_latex(Page(html)) == []


def test_examples_that_became_quotations_are_seen():
    """`>>> risk(...)` without a fence is a quotation in a quotation in a quotation."""
    quoted = "<blockquote><blockquote><blockquote><p>risk(task)</p></blockquote></blockquote></blockquote>"
    assert quoted_examples(Page(quoted)) == ["risk(task)"]
    assert quoted_examples(Page("<p>&gt;&gt;&gt; risk(task)</p>")) == ["&gt;&gt;&gt; risk(task)".replace("&gt;", ">")]
    assert quoted_examples(Page("<blockquote><p>Somebody's words.</p></blockquote>")) == []
    assert quoted_examples(Page("<pre><code>&gt;&gt;&gt; risk(task)</code></pre>")) == []


def test_links_that_lead_nowhere_are_seen(tmp_path):
    texts = {
        "index.html": '<a href="there/#here">a</a><a href="gone/">b</a><a href="there/#gone">c</a><img src="gone.png">',
        "there/index.html": '<h2 id="here"></h2><a href="../">d</a><a href="#gone">e</a><a href="../../up.html">f</a>'
        '<a href="https://descant.example/x">g</a><a href="/root/">h</a>',
    }
    (tmp_path / "there").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = {(tmp_path / name).resolve(): Page(text) for name, text in texts.items()}
    anchors = {path: page.anchors for path, page in found.items()}
    dead = [list(dead_links(page, path, tmp_path, anchors)) for path, page in found.items()]
    assert dead == [["gone/", "there/#gone", "gone.png"], ["#gone", "../../up.html", "/root/"]]


def test_names_without_an_entry_are_seen():
    source = "from ._a import A as A, hidden\nfrom .inner import B as B\n__all__ = ['C']\nD = 1\ndef e(): ...\n_f = 2\n"
    assert public_names(source) == {"A", "B", "C", "D", "e"}
    rooms = {"descant.a": {"A", "B", "C"}, "descant.a.inner": {"B", "E"}, "descant.b": {"A"}}
    reference = (
        "::: descant.a.A\n::: descant.a.B\n\nAlso here (`descant.b`): [`A`][descant.a.A],\n[`Z`][descant.a.A].\n"
    )
    assert without_entry(rooms, reference) == ["descant.a.C", "descant.a.inner.E"]


@pytest.fixture
def phone(browser):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    yield page
    page.close()


@pytest.mark.parametrize(
    ("body", "style"),
    [
        (f"<pre><code>{LINE}</code></pre>", "pre, code {display: block; overflow: hidden}"),
        (f"<pre><code>{LINE}</code></pre>", "pre, code {display: block; overflow: auto}"),
        (f'<pre><code class="aligned">{LINE}</code></pre>', "pre, code {display: block; overflow: hidden}"),
        (f"<p>{LINE.replace(' ', '')}</p>", ""),
        ("<div><table><tr><td>wide</td></tr></table></div>", "div {overflow: hidden} table {width: 500px}"),
        ('<img alt="" width="500" height="10">', ""),
    ],
)
def test_what_is_cut_off_is_seen(phone, body, style):
    phone.set_content(SHELL.format(body=body, style=style))
    assert phone.evaluate(CLIPPED)


@pytest.mark.parametrize(
    ("body", "style"),
    [
        (f"<pre><code>{LINE}</code></pre>", "pre > code {white-space: pre-wrap; overflow-wrap: anywhere}"),
        (f'<pre><code class="aligned">{LINE}</code></pre>', "pre, code {display: block; overflow-x: auto}"),
        ("<div><table><tr><td>wide</td></tr></table></div>", "div {overflow-x: auto} table {width: 500px}"),
    ],
)
def test_what_wraps_or_scrolls_is_not(phone, body, style):
    phone.set_content(SHELL.format(body=body, style=style))
    assert phone.evaluate(CLIPPED) == []


def test_formulas_that_are_not_typeset_are_seen(phone):
    typeset = '<span class="arithmatex"><span class="katex">x</span></span>'
    phone.set_content(f'{typeset}<span class="arithmatex">\\(y\\)</span>')
    assert phone.evaluate(UNTYPESET) == [r"\(y\)"]


def test_pictures_that_do_not_load_are_seen(phone, tmp_path):
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
    (tmp_path / "there.svg").write_text(svg)
    (tmp_path / "broken.png").write_text("no picture")
    path: Path = tmp_path / "index.html"
    path.write_text('<img src="there.svg"><img src="gone.png" loading="lazy"><img src="broken.png">')
    phone.goto(path.as_uri())
    assert phone.evaluate(MISSING) == ["gone.png", "broken.png"]
