"""The server: pages, questions that are answered at once, and jobs whose events are streamed."""

import asyncio
import base64
import hashlib
import json
import tempfile
import traceback
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import anyio
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ._event_stream import EventStream
from ._guard import Access, Guard
from ._jobs import Event, Full, Jobs
from ._pages import File, files, linked, page
from ._refusals import refusal, wants_page
from ._report_files import report_file
from ._until_gone import Gone, until_gone

# Jobs that a page may ask for as a stream.
STREAMS = ("ask", "learn", "elsewhere", "inside", "sources", "compile", "claim")
# Rooms whose pages will soon ask for a process.
NEED = {"learn": False, "inside": False, "compile": True}
# Questions that are computed at once in this process, and answers that are remembered.
AT_ONCE, REMEMBERED = 2, 512
# Trained models that are kept in memory, so that a link to one need not train it again.
MODELS, MOST_MODEL = 32, 4 << 20
TYPES = {"png": "image/png", "svg": "image/svg+xml"}


class Explorer:
    """The state of one server: its jobs, the models it has seen trained, and the folder of the report."""

    def __init__(self, report: Path):
        self.report, self.jobs = report, Jobs()
        self._limit: anyio.CapacityLimiter | None = None
        self._models: OrderedDict[str, bytes] = OrderedDict()

    async def page(self, request: Request) -> Response:
        """A room."""
        name = request.path_params.get("room", "")
        if not name:
            return RedirectResponse("/ask", 307)
        found = page(name)
        if found is None:
            return _missing(request, "there is no such page.")
        if name in NEED:
            self.jobs.warm(quick=NEED[name])
        return _sent(request, linked(found) if _from_elsewhere(request) else found)

    async def file(self, request: Request) -> Response:
        """Style, scripts and fonts."""
        name = request.path_params["name"]
        return _sent(request, files()[name]) if name in files() else _missing(request, "there is no such file.")

    async def report_file(self, request: Request) -> Response:
        """A file of the report, if there is one."""
        found = await run_sync(report_file, self.report, request.path_params["path"])
        return _missing(request, "the report has no such file.") if found is None else _sent(request, File.of(*found))

    async def ask(self, request: Request) -> Response:
        """Exact risks, at once."""
        asked = await _json(request)
        if self._limit is None:
            self._limit = anyio.CapacityLimiter(AT_ONCE)
        async with self._limit:
            # Whoever has moved the slider on no longer waits for this one.
            if await request.is_disconnected():
                return Response(status_code=204)
            return Response(await run_sync(_exact, asked), media_type="application/json")

    async def claims(self, request: Request) -> Response:
        """The list of the claims."""
        del request
        return JSONResponse(await run_sync(_listing, self.report))

    async def check(self, request: Request) -> Response:
        """What is wrong with a program, while it is typed."""
        found = await self._last(request, "check")
        return found if isinstance(found, Response) else JSONResponse(found)

    async def picture(self, request: Request) -> Response:
        """A figure as a picture."""
        found = await self._last(request, "picture")
        if isinstance(found, Response):
            return found
        return Response(base64.b64decode(found["content"]), media_type=TYPES[found["suffix"]])

    async def model(self, request: Request) -> Response:
        """The weights of a model that was trained here."""
        content = self._models.get(request.path_params["digest"])
        if content is None:
            return _missing(request, "this model is not kept any more; train it again.")
        named = {"content-disposition": 'attachment; filename="model.safetensors"'}
        return Response(content, media_type="application/octet-stream", headers=named)

    async def stream(self, request: Request) -> Response:
        """A job, as server-sent events; it ends when nobody listens."""
        job, asked = request.path_params["job"], await _json(request)
        if job not in STREAMS:
            return _sentence(404, "there is no such job.")
        if not isinstance(asked, dict):
            return _sentence(400, "the request is no object of named values.")
        return EventStream(self._events(job, asked))

    async def _last(self, request: Request, job: str) -> Event | Response:
        """What a short job found, or the answer that says why not; the job ends when its page goes."""
        asked = await _json(request)
        try:
            found = await until_gone(request.receive, self.jobs.last(job, asked))
        except Full as error:
            return _sentence(503, str(error))
        except Gone:
            return Response(status_code=204)
        return _sentence(400, found["sentence"]) if found["event"] == "failed" else found

    async def _events(self, job: str, asked: dict[str, Any]) -> AsyncGenerator[dict[str, Any] | None, None]:
        with tempfile.TemporaryDirectory(prefix="descant-", ignore_cleanup_errors=True) as folder:
            asked = {**asked, "folder": folder} if job == "claim" else self._with_weights(asked)
            try:
                async with aclosing(self.jobs.stream(job, asked)) as events:
                    async for event in events:
                        yield None if event is None else self._kept(asked, event)
            except Full as error:
                yield {"event": "failed", "sentence": str(error)}

    def _with_weights(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A request about a trained model, with its weights if they are still here; never those that a page sends."""
        source = asked.get("source")
        if not isinstance(source, dict) or "training" not in source:
            return asked
        kept = self._models.get(_digest(source["training"]))
        weights = {} if kept is None else {"weights": base64.b64encode(kept).decode()}
        return {**asked, "source": {"training": source["training"], **weights}}

    def _kept(self, asked: dict[str, Any], event: dict[str, Any]) -> dict[str, Any]:
        """Keep the weights of what was trained, and tell the page where they are instead."""
        if event["event"] != "trained":
            return event
        source = asked.get("source")
        digest = _digest(source["training"] if isinstance(source, dict) else asked)
        content = base64.b64decode(event.pop("weights"))
        if len(content) <= MOST_MODEL:
            self._models[digest] = content
            self._models.move_to_end(digest)
            while len(self._models) > MODELS:
                self._models.popitem(last=False)
        return {**event, "model": digest}


def make_app(access: Access, report: Path = Path("report")) -> Guard:
    """The application behind its guard: `access` says who may ask, `report` is the folder of `descant reproduce`."""
    explorer = Explorer(report)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        loading = asyncio.create_task(run_sync(_load))
        yield
        await asyncio.gather(loading, return_exceptions=True)
        await explorer.jobs.close()

    get, post = partial(Route, methods=["GET"]), partial(Route, methods=["POST"])
    routes = [
        get("/", explorer.page),
        get("/files/{name}", explorer.file),
        get("/report/{path:path}", explorer.report_file),
        get("/models/{digest}", explorer.model),
        get("/claims/list", explorer.claims),
        post("/ask", explorer.ask),
        post("/check", explorer.check),
        post("/picture", explorer.picture),
        post("/jobs/{job}", explorer.stream),
        get("/{room}", explorer.page),
    ]
    handlers = {404: _unknown, 405: _unknown, ValueError: _mistaken, Exception: _failed}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    return Guard(app, access)


async def _json(request: Request) -> Any:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise ValueError("the request is no JSON.") from None


# The rooms' own modules load NumPy, which takes longer than to show the page: they are loaded while a browser reads it.
def _load() -> None:
    from . import _ask, _claims  # noqa: F401


def _exact(asked: Any) -> bytes:
    from ._ask import Question

    return _answered(Question.read(asked))


@lru_cache(REMEMBERED)
def _answered(question: Any) -> bytes:
    from ._ask import answer

    return json.dumps(answer(question), allow_nan=False).encode()


def _listing(report: Path) -> dict[str, Any]:
    from ._claims import listing

    return listing(report)


def _digest(asked: Any) -> str:
    plain = json.dumps(asked, sort_keys=True, allow_nan=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


def _sentence(status: int, sentence: str) -> Response:
    return JSONResponse({"sentence": sentence}, status)


def _missing(request: Request, sentence: str) -> Response:
    content, headers = refusal(404, sentence, page=wants_page(request.headers.getlist("accept")))
    return Response(content, 404, headers)


def _from_elsewhere(request: Request) -> bool:
    # A browser that doesn't say where a link stood may have it from anywhere.
    return request.headers.get("sec-fetch-site") not in ("same-origin", "none")


async def _unknown(request: Request, error: Exception) -> Response:
    """What no route is for, or not with this method."""
    status = getattr(error, "status_code", 404)
    words = "there is no such page." if status == 404 else f"{request.method} means nothing here."
    content, headers = refusal(status, words, page=wants_page(request.headers.getlist("accept")))
    return Response(content, status, headers)


async def _mistaken(request: Request, error: Exception) -> Response:
    del request
    return _sentence(400, str(error)[:1500])


async def _failed(request: Request, error: Exception) -> Response:
    del request
    traceback.print_exception(error)
    return _sentence(500, f"internal error, {type(error).__name__}; see the terminal of descant explore.")


def _sent(request: Request, file: File) -> Response:
    # Our own files change with the version: a browser asks each time, and mostly hears that it has them.
    headers = {"etag": file.tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.kind, headers=headers)
