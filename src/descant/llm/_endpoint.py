"""Any server that speaks OpenAI's protocol: vLLM, llama.cpp, or a company's.

A completion endpoint gives the probabilities of the next token, and the score is their mean over the digits. A chat
endpoint gives a text, and the score is the number in it. What goes wrong is told apart:

| what | what is done |
|---|---|
| timeout, 408, 429, 5xx, no JSON | tried again, after `Retry-After` or a growing pause; then left for the next run |
| no connection, or many questions in a row without an answer | the run stops; what was answered is kept |
| 401, 403, 404, a redirect and other refusals of the request itself | the run stops: no prompt would fare better |
| a part of the request is refused: `max_tokens`, `temperature`, so many probabilities | put otherwise, from then on |
| completions are refused, and the chat was not ruled out | the chat is asked, from then on |
| a refusal, a text without a number, a number off the scale | an answer, but no score: kept, counted, not asked again |

A server is not trusted: it may be slow, endless or broken, may answer with anything, and may repeat the key.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from .. import _check
from ._access import KEY, check_manners, clean_address, key_from_environment
from ._manner import CHAT_TOKENS, Manner
from ._prompts import Prompt
from ._protocol import Malformed, chat, completion, first_choice
from ._reading import Reply, Scale, Wording
from ._redactor import Redactor, redactor

if TYPE_CHECKING:
    import httpx  # pyright: ignore[reportMissingImports]

CHAT = "/chat/completions"
AGAIN = (408, 409, 425, 429)
NOT_IMPLEMENTED = 501
# Servers that have no completions, or none of this model, say so in one of these ways.
NO_COMPLETIONS = (400, 404, 405, 422, 501)
LONGEST_PAUSE_S = 60.0
MOST_TOKENS = 100_000
# A reply to what we ask takes a few kilobytes; of a complaint, a few hundred characters are shown.
LARGEST_REPLY, LARGEST_COMPLAINT, SHOWN = 4 << 20, 4 << 10, 200
# So many questions in a row without an answer, each tried several times: it is not the question.
PATIENCE = 10
# A shorter key may well be a part of an address or of a name.
SHORTEST_KEY = 8


class _Refused(ValueError):
    """The request itself is not accepted, with a status and the server's words."""

    def __init__(self, sentence: str, status: int, said: str):
        super().__init__(sentence)
        self.status, self.said = status, said


class _Unanswered(Exception):
    """All tries failed; the text says how the last one did."""

    def __init__(self, reason: str, unreachable: bool):
        super().__init__(reason)
        self.unreachable = unreachable


class Endpoint:
    """A model behind an address.

    The key, if one is needed, is read from OPENAI_API_KEY, sent to that address alone, and kept, shown and logged
    nowhere, also if the server repeats it.
    """

    reads_along = False

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        api: str = "auto",
        concurrency: int = 8,
        timeout: float = 60.0,
        tries: int = 5,
        pause: float = 1.0,
        tokens: int = CHAT_TOKENS,
    ):
        check_manners(api, concurrency, timeout)
        _check.size("tokens", tokens)
        if tokens > MOST_TOKENS:
            raise ValueError(f"tokens is {tokens}; expected at most {MOST_TOKENS:,}.")
        try:
            import httpx  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ValueError("an endpoint needs httpx; install the extra, in a clone: pip install '.[llm]'.") from None
        if not model or not model.isprintable():
            raise ValueError(f"model is {'openai:' + model!r}; expected the model's name after openai:, in one line.")
        key = key_from_environment()
        self.model, self.base_url = model, clean_address(base_url)
        if len(key) >= SHORTEST_KEY and (key in base_url or key in model):
            raise ValueError(f"base-url or model holds the key itself, and both are kept; expected it in {KEY} alone.")
        self._redact: Redactor = redactor(key)
        self._api, self._wanted = ("completions" if api == "auto" else api), api
        self._concurrency, self._timeout, self._tries, self._pause = concurrency, timeout, tries, pause
        self._manner, self._tokens = Manner(), tokens
        # Replies are asked for, and taken, as they are: what is packed small may be endless when it is unpacked.
        headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {key}"} if key else {})}
        limits = httpx.Limits(max_connections=concurrency)
        # A redirect could lead the key to somebody else. The key is in no attribute: those are shown by debuggers.
        self._open = lambda: httpx.Client(headers=headers, timeout=timeout, limits=limits, follow_redirects=False)
        self._client: httpx.Client | None = None
        self.name = model.rstrip("/").split("/")[-1]
        # An endpoint's weights can't be seen: its address and the model's name must do.
        self.identity = f"{api} {model} at {self.base_url}"
        self.failures: dict[str, int] = {}
        """How often something went wrong, by what; tries that were repeated with success are counted too."""
        self.unanswered = 0
        """Prompts that got no answer after all tries; another run asks them again."""
        self._in_a_row, self._last = 0, ""

    def replies(self, prompts: Sequence[Prompt], wording: Wording, scale: Scale) -> Iterator[tuple[int, Reply]]:
        """Answers as they come, several at a time. Prompts that fail for good are left out, and counted."""
        if prompts:
            with self._open() as self._client:
                yield from self._answers(prompts, wording, scale)

    def _answers(self, prompts: Sequence[Prompt], wording: Wording, scale: Scale) -> Iterator[tuple[int, Reply]]:
        self._in_a_row = 0
        # The first alone: it finds out which protocol is spoken, and a wrong address or key is met once,
        # not eight times.
        first = self._tolerant(prompts[0], wording, scale)
        if first is not None:
            yield 0, first
        with ThreadPoolExecutor(self._concurrency) as pool:
            waiting: dict[Future[Reply | None], int] = {}
            rest = iter(range(1, len(prompts)))
            try:
                while True:
                    for index in rest:
                        waiting[pool.submit(self._tolerant, prompts[index], wording, scale)] = index
                        if len(waiting) >= self._concurrency:
                            break
                    if not waiting:
                        break
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        index = waiting.pop(future)
                        reply = future.result()
                        if reply is not None:
                            yield index, reply
            finally:
                for future in waiting:
                    future.cancel()
        if self._in_a_row >= len(prompts):
            raise self._given_up()

    def _tolerant(self, prompt: Prompt, wording: Wording, scale: Scale) -> Reply | None:
        try:
            reply = self._ask(prompt, wording, scale)
        except _Unanswered as error:
            self._last = str(error)
            if error.unreachable:
                raise ConnectionError(
                    f"{self.base_url} can't be reached ({self._last}); what was answered is kept: the same command "
                    "goes on from there when the endpoint is back."
                ) from None
            self.unanswered += 1
            self._in_a_row += 1
            if self._in_a_row >= PATIENCE:
                raise self._given_up() from None
            return None
        self._in_a_row = 0
        return reply

    def _given_up(self) -> ConnectionError:
        return ConnectionError(
            f"{self.base_url} left {self._in_a_row} questions in a row unanswered, the last with {self._last}; what "
            "was answered is kept: the same command goes on from there when the endpoint is well."
        )

    def _ask(self, prompt: Prompt, wording: Wording, scale: Scale) -> Reply:
        if self._api == "completions":
            try:
                choice = self._post("/completions", lambda manner: manner.completion(self.model, prompt.text))
                return self._without_key(completion(choice, prompt, wording, scale))
            except _Refused as error:
                if self._wanted != "auto" or error.status not in NO_COMPLETIONS:
                    raise
            self._api = "chat"
        said = wording.chat + prompt.text
        choice = self._post(CHAT, lambda manner: manner.chat(self.model, said, self._tokens))
        return self._without_key(chat(choice, prompt, wording, scale))

    def _without_key(self, reply: Reply) -> Reply:
        return replace(reply, text=self._redact(reply.text))

    def _post(self, path: str, ask: Callable[[Manner], dict[str, Any]]) -> dict[str, Any]:
        """The first choice of the reply, to the request in a manner that the server takes."""
        while True:
            manner = self._manner
            body = ask(manner)
            try:
                return self._post_as_it_is(path, body)
            except _Refused as error:
                other = manner.otherwise(error.status, error.said, body)
                if other is None:
                    raise
                self._manner = other

    def _post_as_it_is(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        import httpx  # pyright: ignore[reportMissingImports]

        what, said, unreachable = "", "", False
        for attempt in range(self._tries):
            pause = min(self._pause * 2**attempt, LONGEST_PAUSE_S) * (0.5 + random.random() / 2)
            unreachable = False
            try:
                status, headers, content = self._send(path, body)
                if status == 200:
                    return first_choice(content, "message" if path == CHAT else "text")
                what, said = f"status {status}", self._words(content.decode("utf-8", "replace"))
                if status not in AGAIN and (status < 500 or status == NOT_IMPLEMENTED):
                    raise _Refused(_refusal(self.base_url + path, status, said), status, said)
                pause = retry_after(headers.get("Retry-After"), pause)
            except httpx.TimeoutException:
                what, said = "timeout", f"none within {self._timeout:g} s"
            except httpx.TransportError as error:
                what, said, unreachable = "no connection", self._words(str(error)), True
            except Malformed as error:
                what, said = "a malformed reply", self._words(str(error))
            self._count(what)
            if attempt + 1 < self._tries:
                time.sleep(pause)
        raise _Unanswered(f"{what}: {said}" if said else what, unreachable)

    def _send(self, path: str, body: dict[str, Any]) -> "tuple[int, httpx.Headers, bytes]":
        """Status, headers and content of a reply, read no longer and no further than is of use."""
        import httpx  # pyright: ignore[reportMissingImports]

        # The client's own timeout is for each part: a server that sends a byte a second would never meet it.
        deadline, late = time.monotonic() + self._timeout, False
        content = bytearray()
        assert self._client is not None
        with self._client.stream("POST", self.base_url + path, json=body) as response:
            fine = response.status_code == 200
            most = LARGEST_REPLY if fine else LARGEST_COMPLAINT
            for part in response.iter_raw():
                content += part
                late = time.monotonic() > deadline
                if late or len(content) > most:
                    break
        encoding = response.headers.get("Content-Encoding", "").strip().lower() or "identity"
        if fine and late:
            raise httpx.ReadTimeout("the whole reply took too long")
        if fine and len(content) > most:
            raise Malformed(f"it is longer than {most >> 20} MB")
        if fine and encoding != "identity":
            raise Malformed(f"it is packed ({encoding}), and was asked for as it is")
        return response.status_code, response.headers, bytes(content)

    def _words(self, text: str) -> str:
        """What was said, in one line, without the key."""
        return self._redact(" ".join(text.split()))[:SHOWN]

    def _count(self, what: str) -> None:
        self.failures[what] = self.failures.get(what, 0) + 1


def retry_after(header: str | None, otherwise: float) -> float:
    """How long a server wants us to wait: seconds, or a date. Never longer than a minute at a time.

    >>> retry_after("7", 1.0), retry_after(None, 1.0), retry_after("soon", 1.0), retry_after("86400", 1.0)
    (7.0, 1.0, 1.0, 60.0)
    """
    if header is None:
        return otherwise
    try:
        wanted = float(header)
    except ValueError:
        try:
            wanted = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return otherwise
    return otherwise if math.isnan(wanted) else min(max(wanted, 0.0), LONGEST_PAUSE_S)


def _refusal(address: str, status: int, said: str) -> str:
    hint = {
        401: f"set {KEY} to a key that it accepts",
        403: "use a key that may ask this model",
        402: "pay for what the model's owner asks, or ask another model",
        404: "check --base-url, which usually ends in /v1, and the model's name",
    }.get(status, "change the request, with fewer --shots or --tokens if it is too long")
    if 300 <= status < 400:
        hint = "redirects are not followed, because the key is for this address alone: give the other one as --base-url"
    return f"{address} answers with status {status}: {said or 'nothing more'}; {hint}."
