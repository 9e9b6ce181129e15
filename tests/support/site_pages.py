"""What a page of the site must not have, looked for in its HTML, and in a browser."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

VOID = {"meta", "link", "img", "br", "hr", "input", "source", "path", "col", "wbr"}
# What is shown as it is written, or typeset by a script.
CODE = {"code", "pre", "script", "style", "title", "svg"}
LATEX = re.compile(r"\$[^$\s](?:[^$]*[^$\s])?\$|\\[(\[)\]]|\\[a-zA-Z]{2,}|[_^]\{")


class Text(NamedTuple):
    """A piece of text, and the elements that it stands in."""

    words: str
    inside: tuple[str, ...]


class Page(HTMLParser):
    """Texts, links and anchors of a page."""

    def __init__(self, html: str):
        super().__init__()
        self.texts: list[Text] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links += [value for name in ("href", "src") if (value := given.get(name))]
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag not in VOID:
            self._open.append("arithmatex" if "arithmatex" in (given.get("class") or "") else tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self._open:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(Text(data, tuple(self._open)))


def unrendered_latex(page: Page) -> list[str]:
    """Formulas that no script will typeset."""
    seen = [each.words for each in page.texts if not CODE & set(each.inside) and "arithmatex" not in each.inside]
    return [words for words in seen if LATEX.search(words)]


def quoted_examples(page: Page) -> list[str]:
    """Examples that Markdown took for quotations in quotations, or for prose; one quotation alone may be one."""
    prose = [each for each in page.texts if not CODE & set(each.inside)]
    return [each.words for each in prose if each.inside.count("blockquote") > 1 or ">>>" in each.words]


def dead_links(page: Page, place: Path, site: Path, anchors: dict[Path, set[str]]) -> Iterator[str]:
    """Links to files of the site that aren't there, or to places that their pages don't have."""
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        if parts.path.startswith("/"):  # right on a server of the site's own, and nowhere else
            yield link
            continue
        target = (place.parent / unquote(parts.path)).resolve() if parts.path else place
        target = target / "index.html" if target.is_dir() else target
        there = target.is_relative_to(site.resolve()) and target.exists()
        known = anchors.get(target) if parts.fragment else None
        if not there or (known is not None and unquote(parts.fragment) not in known):
            yield link


# Code that is wider than its box, but for columns that scroll; whatever ends beyond the window's edge where nothing
# scrolls, and windows that do.
CLIPPED = """() => {
  const scrolls = (each) => each && (["auto", "scroll"].includes(getComputedStyle(each).overflowX)
    || scrolls(each.parentElement));
  const wide = (each) => each.matches("pre > code, .highlight") && each.scrollWidth > each.clientWidth + 1
    && !(each.matches(".aligned") && scrolls(each));
  const beyond = (each) => each.getBoundingClientRect().right > innerWidth + 1 && !scrolls(each.parentElement);
  const shown = [...document.querySelectorAll("article *")].filter((each) => each.getClientRects().length
    && !each.closest(".katex-mathml") && !each.closest("svg") && getComputedStyle(each).clip === "auto");
  const all = document.documentElement.scrollWidth > innerWidth ? [document.body] : [];
  return [...shown.filter((each) => wide(each) || beyond(each)), ...all]
    .map((each) => each.tagName + ": " + each.textContent.trim().slice(0, 60));
}"""
UNTYPESET = """() => [...document.querySelectorAll(".arithmatex")]
    .filter((each) => !each.querySelector(".katex") || each.querySelector(".katex-error"))
    .map((each) => each.textContent.slice(0, 80))"""
# Pictures that the browser could not show.
MISSING = """async () => {
  const pictures = [...document.querySelectorAll("img")];
  for (const each of pictures) each.loading = "eager";
  await Promise.all(pictures.map((each) => each.decode().catch(() => null)));
  return pictures.filter((each) => !each.naturalWidth).map((each) => each.getAttribute("src"));
}"""
