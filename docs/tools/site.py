"""The hook of the site: pages whose code is run while it is built, and files that live elsewhere.

- A page with `run: true` in its head has its Python run, block by block. What a block prints is shown below it, and the
  files that it writes are files of the site beside the page: figures are always those of the code above them.
- KaTeX comes from where the report has it, changelog and contributing from the root, and the pages of the report from
  `report/`, if there are any.
"""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parents[2]))  # mkdocs loads this file alone

from docs.tools import built, docstrings, running

ROOT = Path(__file__).parents[2]
KATEX = ROOT / "src" / "descant" / "report" / "vendor" / "katex"
REPORT = ROOT / "report"
ELSEWHERE = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
# What `report.md` says where there is none.
NO_REPORT = (
    "The report is not part of this build of the site: `make reproduce` makes it, and then `make docs` includes it."
)
# Code in a line that is too long to stand on one anywhere: names of tests, paths.
LONG_NAME = re.compile(r"(?<=<code>)[^<>\s]{30,}(?=</code>)")
_ran: dict[str, running.Ran] = {}


def on_pre_build(config: MkDocsConfig) -> None:
    """Until it is done, nobody takes what is in the folder for a build of these sources."""
    if Path(config.site_dir) == built.SITE:
        built.STAMP.unlink(missing_ok=True)
        config.extra["inputs"] = built.inputs()  # of now: who edits a page meanwhile has another site


def on_post_build(config: MkDocsConfig) -> None:
    """Say which sources it was made of."""
    if Path(config.site_dir) == built.SITE:
        built.STAMP.write_text(config.extra["inputs"])


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Run what is to be run, and add what is not in `docs/`."""
    for path in sorted(KATEX.rglob("*")):
        if path.is_file():
            name = f"assets/katex/{path.relative_to(KATEX).as_posix()}"
            files.append(File.generated(config, name, abs_src_path=str(path)))
    for name, source in ELSEWHERE.items():
        text = re.sub(r"\]\(docs/", "](", (ROOT / source).read_text())
        text = re.sub(r"^## \[(.+?)\]", r"## \1", text, flags=re.MULTILINE)  # versions: brackets that are no link
        files.append(File.generated(config, name, content=text))
    if (REPORT / "index.html").exists():
        for path in sorted(REPORT.rglob("*")):
            # Judgements and networks stay at home; pages, figures and tables are for everybody.
            if path.is_file() and path.relative_to(REPORT).parts[0] not in ("evidence", "runs") and path.name[0] != ".":
                name = f"report/pages/{path.relative_to(REPORT).as_posix()}"
                files.append(File.generated(config, name, abs_src_path=str(path)))
    todo = [file for file in files.documentation_pages() if running.wanted(file.content_string)]
    with ThreadPoolExecutor(2) as threads:
        done = threads.map(lambda file: running.run(file.content_string, file.src_uri), todo)
        for file, ran in zip(todo, done, strict=True):
            _ran[file.src_uri] = ran
            for path in ran.files:
                name = (Path(file.src_uri).parent / path.name).as_posix()
                files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put what was printed below the code, and links behind names of the reference."""
    if page.file.src_uri in _ran:
        markdown = running.with_output(markdown, _ran[page.file.src_uri].printed)
    if page.file.src_uri == "report.md" and files.get_file_from_path("report/pages/index.html"):
        markdown = markdown.replace(NO_REPORT, "**[Open the report](report/pages/index.html)**, as it was last made.")
    return markdown if page.file.src_uri == "changelog.md" else docstrings.linked(markdown, rooms_only=True)


def on_page_content(html: str, **_: object) -> str:
    """Long names may break after their parts, and not in the middle of a word."""
    return LONG_NAME.sub(lambda found: re.sub(r"(?<=[\w.])(/|::|_)(?=\w)", r"\1<wbr>", found[0]), html)


def on_post_template(output: str, template_name: str, **_: object) -> str:
    """Who asks for a page that is not there finds the way to the others."""
    if template_name != "404.html":
        return output
    home = re.search(r'<a href="([^"]*)"[^>]*class="md-header__button md-logo"', output)
    assert home, "the page of errors has no link to the first page"
    words = f'<p>There is no such page. <a href="{home[1]}">The first page</a> leads to the others.</p>'
    return re.sub(r"<h1>404.*?</h1>", rf"<h1>Not found</h1>\n{words}", output)
