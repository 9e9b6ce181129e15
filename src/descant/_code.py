"""Which code computed a result."""

import hashlib
from functools import lru_cache
from pathlib import Path


@lru_cache
def code_digest(without: tuple[str, ...] = ()) -> str:
    """A fingerprint of this package's source, without some rooms: results of other code are not reused.

    What long runs found is part of it, because claims are judged by that.
    """
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for path in sorted((*package.rglob("*.py"), *package.rglob("long_run.json"))):
        if path.relative_to(package).parts[0] in without:
            continue
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
