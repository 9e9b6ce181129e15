"""Files of a report for the browser: only kinds that a report has, only below its folder, and no links."""

from pathlib import Path, PurePosixPath

from .._names import file_name

KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".csv": "text/csv",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
# The folders of a report that its pages show; the evidence and the runs are no pages.
FOLDERS = ("assets", "claims", "figures", "tables")
DEPTH = 3
MOST_BYTES = 64 << 20


def report_file(report: Path, path: str) -> tuple[bytes, str] | None:
    """The content of a file of a report, and its type; None if there is no such file, whatever the path is."""
    parts = PurePosixPath(path).parts or ("index.html",)
    try:
        names = [file_name("path", part) for part in parts]
    except ValueError:
        return None
    kind = KINDS.get(PurePosixPath(names[-1]).suffix)
    if kind is None or len(names) > DEPTH or (len(names) > 1 and names[0] not in FOLDERS):
        return None
    found = report
    for name in names:
        found = found / name
        # A link could lead anywhere.
        if found.is_symlink():
            return None
    try:
        if not found.is_file() or found.stat().st_size > MOST_BYTES:
            return None
        return found.read_bytes(), kind
    except OSError:
        return None
