"""What it takes to ask an endpoint: its address, without secrets in it, the key, and how often and how long."""

import os

from .. import _check

APIS = ("auto", "completions", "chat")
MOST_AT_A_TIME, LONGEST_TIMEOUT_S = 256, 86_400.0
PORTS = range(1, 65_536)
KEY = "OPENAI_API_KEY"


def check_manners(api: str, concurrency: int, timeout: float) -> None:
    """Check how an endpoint is to be asked, before anything is opened."""
    _check.one_of("api", api, APIS)
    _check.size("concurrency", concurrency)
    if concurrency > MOST_AT_A_TIME:
        raise ValueError(f"concurrency is {concurrency}; expected at most {MOST_AT_A_TIME} questions at a time.")
    if not 0 < timeout <= LONGEST_TIMEOUT_S:
        raise ValueError(f"timeout is {timeout}; expected seconds, above 0 and at most {LONGEST_TIMEOUT_S:.0f}.")


def key_from_environment() -> str:
    """The key, without the line break that a file or a shell put after it; empty if there is none."""
    key = os.environ.get(KEY, "").strip()
    for place, sign in enumerate(key, 1):
        if not " " <= sign <= "~":
            raise ValueError(
                f"{KEY} has a sign that no key has, at place {place} of {len(key)} (it is not shown here); expected "
                "letters, digits and signs of ASCII: copy the key again."
            )
    return key


def clean_address(base_url: str) -> str:
    """The address, without a slash at its end. It is kept with the answers, so there must be no secret in it."""
    import httpx  # pyright: ignore[reportMissingImports]

    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.userinfo or url.query or url.fragment or any(sign in base_url for sign in "@?#"):
        raise ValueError(
            "base-url holds more than an address: a user or password before @, or a query after ? or #, which would be "
            "kept with the answers (it is not shown here); expected http://127.0.0.1:8000/v1, say: the key goes into "
            f"the environment variable {KEY}, which is kept nowhere."
        )
    if url.scheme not in ("http", "https") or not url.host or not (url.port is None or url.port in PORTS):
        raise ValueError(f"base-url is {base_url!r}; expected an address such as http://127.0.0.1:8000/v1.")
    return base_url.rstrip("/")
