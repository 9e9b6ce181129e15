"""Notebooks as pages of the site: executed, their prose, code and pictures written as Markdown.

mkdocs calls `on_files`. A page is kept under `.cache/notebooks`, by a digest of the notebook and of the library, so a
build without changes executes nothing. By hand: `python notebooks/export.py NAME FOLDER`.
"""

import ast
import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
CACHE = ROOT / ".cache" / "notebooks"
# In the order in which they are to be read.
NOTEBOOKS = ("gradient_descent", "initial_guess", "unknown_noise", "write_an_algorithm", "task_diversity")
# Rooms that no notebook asks: a change there changes no page.
UNUSED = ("claims", "cli", "crosscheck", "explorer", "llm", "report", "runs", "sweeps")
PAGE = "page.md"
HEAD = """!!! note "A notebook"
    This page is what `notebooks/{name}.py` wrote when it was executed. To turn its knobs, in a clone:
    `pip install -e '.[notebooks]'`, then `marimo edit notebooks/{name}.py`.

"""


def digest(name: str) -> str:
    """What a page depends on."""
    found = hashlib.sha256()
    package = ROOT / "src" / "descant"
    sources = [path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in UNUSED]
    for path in (HERE / f"{name}.py", Path(__file__), ROOT / "constraints.txt", *sorted(sources)):
        found.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def page(name: str) -> Path:
    """The folder of a notebook's page; executed in a process of its own unless it is kept already."""
    folder = CACHE / f"{name}-{digest(name)}"
    if not (folder / PAGE).exists():
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
            "MPLBACKEND": "Agg",
            "JAX_COMPILATION_CACHE_DIR": str(CACHE / "xla"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2",
        }
        words = [sys.executable, str(Path(__file__)), name, str(folder)]
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"notebooks/{name}.py can't be executed:\n{done.stderr[-4000:]}")
        for old in CACHE.glob(f"{name}-*"):
            if old != folder:
                shutil.rmtree(old)
    return folder


def pages() -> dict[str, Path]:
    """The folders of all pages, two notebooks at a time."""
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(NOTEBOOKS, pool.map(page, NOTEBOOKS), strict=True))


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and their pictures to the site's."""
    from mkdocs.structure.files import File  # noqa: PLC0415  (only where the site is built)

    for name, folder in pages().items():
        files.append(File.generated(config, f"notebooks/{name}.md", content=(folder / PAGE).read_text()))
        for picture in sorted(folder.glob("figure-*")):
            place = f"notebooks/{name}/{picture.name}"
            files.append(File.generated(config, place, content=picture.read_bytes()))
    return files


def execute(name: str, folder: Path) -> None:
    """Run a notebook and write its page; the text last, so that a folder with a page is whole."""
    path = HERE / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    notebook = importlib.util.module_from_spec(spec)
    sys.modules[name] = notebook  # where marimo looks for the classes that cells share
    spec.loader.exec_module(notebook)
    outputs, _ = notebook.app.run()
    cells = _cells(path.read_text())
    shown = [cell for cell in cells if not isinstance(cell[0], ast.With)]
    assert len(outputs) == len(shown), f"{len(outputs)} outputs for {len(shown)} cells"
    folder.mkdir(parents=True, exist_ok=True)
    told = iter(outputs)
    parts, pictures = [], 0
    for node, code in cells:
        output = None if isinstance(node, ast.With) else next(told)
        if code:
            parts.append(f"```python\n{code}\n```")
        if output is not None:
            kind, content = _content(output)
            if kind != "md":
                pictures += 1
                file = f"figure-{pictures}.{kind}"
                (folder / file).write_bytes(content)
                parts.append(f"![{_title(output)}]({name}/{file})")
            else:
                parts.append(content.decode())
    title, rest = parts[0] if parts[0].startswith("# ") else parts[1], [*parts]
    rest.remove(title)
    heading, _, first = title.partition("\n")
    text = "\n\n".join([heading, HEAD.format(name=name).strip(), first.strip(), *rest])
    (folder / PAGE).write_text(text + "\n")


def _cells(source: str) -> list[tuple[ast.AST, str]]:
    """The cells of a notebook's text in their order, and the code of each that is to be seen."""
    found = []
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.With):
            found.append((node, _dedented(lines, node.body)))
        elif isinstance(node, ast.ClassDef):
            found.append((node, "\n".join(lines[node.lineno - 1 : node.end_lineno])))
        elif isinstance(node, ast.FunctionDef) and node.decorator_list:
            decorator = node.decorator_list[0]
            options = {each.arg: ast.literal_eval(each.value) for each in getattr(decorator, "keywords", ())}
            body = node.body[:-1] if isinstance(node.body[-1], ast.Return) else node.body
            found.append((node, "" if options.get("hide_code") else _dedented(lines, body)))
    return found


def _dedented(lines: list[str], body: list[ast.stmt]) -> str:
    first = min([body[0].lineno, *(each.lineno for each in getattr(body[0], "decorator_list", ()))])
    # Comments above the first statement are no statements.
    while lines[first - 2].strip().startswith("#"):
        first -= 1
    indent = body[0].col_offset
    return "\n".join(line[indent:] for line in lines[first - 1 : body[-1].end_lineno])


def _content(output: Any) -> tuple[str, bytes]:
    """What a cell shows: Markdown, a picture of matplotlib's, or one that is SVG already."""
    if hasattr(output, "savefig"):
        file = io.BytesIO()
        output.savefig(file, format="png", dpi=144, facecolor="white")
        return "png", file.getvalue()
    if hasattr(output, "_repr_markdown_"):
        return "md", output._repr_markdown_().encode()
    text = getattr(output, "text", "").strip()
    assert text.startswith("<svg"), f"a cell shows a {type(output).__name__}; expected Markdown, a figure or SVG"
    return "svg", text.encode()


def _title(output: Any) -> str:
    axes = getattr(output, "axes", None) or []
    return "; ".join(
        each.get_title() or each.get_ylabel() for each in axes if each.get_title() or each.get_ylabel()
    ) or ("The network as a picture")


if __name__ == "__main__":
    execute(sys.argv[1], Path(sys.argv[2]))
