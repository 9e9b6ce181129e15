"""The folder of the report, written file by file, each whole; the front page last."""

import contextlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from .._disk import write_whole
from .._kept import digest
from .._output import note, written as noted
from .._plain import page
from ..claims import Claim, Judgement
from ..figures import Figure, drawing
from ..figures.static import drawer, pictures
from ._assets import assets
from ._pages import Entry, by_stem, claim_page, front_page
from ._tables import figure_csv, table_csv

# What a report is made of, in its folder.
NAMES = ("index.html", "verdicts.json", "assets", "claims", "evidence", "figures", "tables")


def write_report(folder: Path, claims: dict[str, Claim], judgements: dict[str, Judgement]) -> Path:
    """Write the pages and `verdicts.json`; the path of the front page. Claims without a judgement are shown as not run.

    Pictures whose data have not changed are not drawn again.
    """
    entries = [Entry(claim, judgements.get(id)) for id, claim in claims.items()]
    written = [path.relative_to(folder).as_posix() for path in _files(folder, entries)]
    _remove_old(folder, written)
    verdicts = [
        {
            "id": entry.claim.id,
            "paper": entry.claim.paper,
            "whose": entry.claim.whose,
            "identity": entry.claim.identity,
            "verdict": entry.judgement.verdict,
            "standing": entry.standing,
            "seconds": round(entry.judgement.seconds, 1),
        }
        for entry in entries
        if entry.judgement is not None
    ]
    write_whole(folder / "verdicts.json", page("verdicts", verdicts))
    write_whole(folder / "index.html", front_page(entries))
    return folder / "index.html"


def draw_figures(folder: Path, judgement: Judgement) -> None:
    """Draw the figures of a judgement ahead of its page, so that writing the report finds them."""
    figures = judgement.evidence.figures if judgement.evidence else ()
    # A figure that can't be drawn fails when the report is written, where it is seen,
    # and not in the middle of other work.
    with contextlib.suppress(Exception):
        for stem, figure in by_stem(figures).items():
            list(_figure_files(folder / "figures" / judgement.id / stem, figure))


def _files(folder: Path, entries: list[Entry]) -> Iterator[Path]:
    """Write everything but the front page, and say what was written."""
    for name, content in assets().items():
        yield _written(folder / "assets" / name, content)
    for index, entry in enumerate(entries):
        for stem, figure in entry.figures.items():
            yield from _figure_files(folder / "figures" / entry.claim.id / stem, figure)
        for stem, table in entry.tables.items():
            yield _written(folder / "tables" / entry.claim.id / f"{stem}.csv", table_csv(table).encode())
        previous = entries[index - 1] if index else None
        following = entries[index + 1] if index + 1 < len(entries) else None
        text = claim_page(entry, previous, following)
        yield _written(folder / "claims" / f"{entry.claim.id}.html", text.encode())


def _figure_files(stem: Path, figure: Figure) -> Iterator[Path]:
    yield _written(stem.with_suffix(".csv"), figure_csv(figure).encode())
    ready = drawing(figure)
    # Drawing takes most of the time of writing a report; the note beside the pictures says of what they are.
    asked = digest(ready, drawer())
    note = stem.with_name(f".{stem.name}.drawn")
    paths = {suffix: stem.with_suffix(f".{suffix}") for suffix in ("png", "svg")}
    if not (note.exists() and note.read_text() == asked and all(path.exists() for path in paths.values())):
        note.unlink(missing_ok=True)
        for suffix, content in pictures(ready).items():
            write_whole(paths[suffix], content)
        write_whole(note, asked)
    yield from (*paths.values(), note)


def _written(path: Path, content: bytes) -> Path:
    """Write a file unless it is there already: most don't change from one run to the next."""
    if not (path.exists() and path.read_bytes() == content):
        write_whole(path, content)
    return path


def _remove_old(folder: Path, written: list[str]) -> None:
    """Remove files of claims that are no more, if a report wrote them: the folder may hold its owner's own things."""
    old = noted(folder)
    # Files stand in folders of the report; names without a folder are those of whole outputs, another command's too.
    for name in set(old) - set(written):
        parts = PurePosixPath(name).parts
        if len(parts) > 1 and parts[0] in NAMES and ".." not in parts:
            (folder / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # not empty, or gone
                (folder / name).parent.rmdir()
    note(folder, [*(name for name in old if "/" not in name), *NAMES, *written])
