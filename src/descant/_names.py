"""Names that become files and folders: whoever gave them, they are checked, or made safe, here."""

import re

# In bytes. File systems take 255; a name gets a suffix, and a prefix while its file is being written.
LONGEST = 200
_SAFE = re.compile(r"\w(?:[\w.-]*[\w-])?")
# What Windows takes for a device, whatever its suffix; reports are read there, too.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def file_name(what: str, name: str) -> str:
    """The name, if a file or folder may be called so; else a sentence about `what`.

    No separator, no step upwards, nothing hidden, no control character, nothing that looks like an option.

    >>> file_name("template", "terse")
    'terse'
    >>> file_name("template", "../evil")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: template is '../evil', which names files; expected at most 200 letters, digits, ...
    """
    if not _SAFE.fullmatch(name) or _DEVICE.fullmatch(name) or len(name.encode()) > LONGEST:
        shown = name if len(name) <= LONGEST else name[:LONGEST] + "…"
        raise ValueError(
            f"{what} is {shown!r}, which names files; expected at most {LONGEST} letters, digits, dots, hyphens and "
            "underscores, beginning with a letter or digit, and no device such as nul."
        )
    return name


def slug(text: str, most: int = 60) -> str:
    """A safe name made of any text, for people to recognise; two texts may have the same.

    >>> slug("org/Model 2.5"), slug("../..")
    ('org-Model-2.5', 'unnamed')
    """
    made = re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:most].strip("-.") or "unnamed"
    return f"_{made}" if _DEVICE.fullmatch(made) else made
