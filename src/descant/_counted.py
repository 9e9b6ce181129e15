"""Counts in words."""


def counted(count: int, thing: str, things: str = "") -> str:
    """So many of a thing; `things` are more than one of it, if that is not an s at its end.

    >>> counted(1, "block"), counted(0, "head"), counted(2, "query", "queries")
    ('1 block', '0 heads', '2 queries')
    """
    return f"{count} {thing if count == 1 else things or thing + 's'}"
