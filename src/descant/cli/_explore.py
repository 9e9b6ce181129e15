"""`descant explore`: the laboratory in the browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ._flags import Json
from ._printing import print_json


def explore(
    *,
    port: int = 8765,
    browser: Annotated[bool, Parameter(name="--browser", show_default="--browser")] = True,
    host: str = "127.0.0.1",
    report: Path = Path("report"),
    json: Json = False,
) -> None:
    """Open the explorer: a page to ask, to train, to look inside, to compile, and to judge claims.

    It is served from this machine, to this machine alone, until Ctrl-C; nothing is fetched from elsewhere. Runs are
    those of the folder in the environment variable DESCANT_RUNS, else ./runs.

    Parameters
    ----------
    port
        Where to listen; 0 is any port that is free.
    browser
        Open the page in the browser.
    host
        Listen on another address of this machine, so that others can reach it: then it asks for a token, which is part
        of the address that is printed.
    report
        Folder of `descant reproduce`, for the room Claims.
    """
    try:
        from ..explorer import serve
    except ModuleNotFoundError as error:
        if error.name not in ("anyio", "h11", "starlette", "uvicorn"):
            raise
        raise ValueError(
            f"the explorer needs {error.name}, which is not installed; `pip install '.[explorer]'` in a clone gets it."
        ) from None

    def tell(words: str) -> None:
        if json:
            print_json("explore", {"words": words})
        else:
            print(words, flush=True)

    serve(port, host=host, report=report, browser=browser, tell=tell)
