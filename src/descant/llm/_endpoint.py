"""Any server that speaks OpenAI's protocol: vLLM, llama.cpp, or a company's.

A completion endpoint gives the probabilities of the next token, and the score is their mean over the digits. A chat
endpoint gives a text, and the score is the number in it. What goes wrong is told apart:

| what | what is done |
|---|---|
| timeout, 408, 429, 5xx, no JSON | tried again, after `Retry-After` or a growing pause; then left for the next run |
| no connection, several times over | the run stops; what was answered is kept |
| 401, 403, 404 and other refusals of the request itself | the run stops: no prompt would fare better |
| a refusal, a text without a number, a number off the scale | an answer, but no score: kept, counted, not asked again |
"""

import math
import os
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ._prompts import Prompt
from ._reading import DIGITS, Reply, Scale, parse_score
from ._templates import Template

if TYPE_CHECKING:
    import httpx  # pyright: ignore[reportMissingImports]

APIS = ("auto", "completions", "chat")
AGAIN = (408, 409, 425, 429)
# Servers that have no completions say so in one of these ways.
NO_COMPLETIONS = (404, 405, 501)
LONGEST_PAUSE_S = 60.0
# A score and what may stand around it; and, from a chat, a short sentence.
COMPLETION_TOKENS, CHAT_TOKENS = 6, 32
TOP_LOGPROBS = 20


class _Refused(ValueError):
    """The request itself is not accepted."""


class _Unanswered(Exception):
    """All tries failed; the text says how the last one did."""

    def __init__(self, reason: str, unreachable: bool):
        super().__init__(reason)
        self.unreachable = unreachable


class Endpoint:
    """A model behind an address. The key, if one is needed, is read from OPENAI_API_KEY and kept nowhere."""

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
    ):
        try:
            import httpx  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ValueError("an endpoint needs httpx; install the extra: pip install 'descant[llm]'.") from None
        if api not in APIS:
            raise ValueError(f"api is {api!r}; expected one of: {', '.join(APIS)}.")
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(f"base-url is {base_url!r}; expected an address such as http://127.0.0.1:8000/v1.")
        self.model, self.base_url = model, base_url.rstrip("/")
        self._api, self._wanted = ("completions" if api == "auto" else api), api
        self._concurrency, self._tries, self._pause = concurrency, tries, pause
        key = os.environ.get("OPENAI_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx.Limits(max_connections=concurrency)
        self._client = httpx.Client(headers=headers, timeout=timeout, limits=limits)
        self.name = model.rstrip("/").split("/")[-1]
        # An endpoint's weights can't be seen: its address and the model's name must do.
        self.identity = f"{api} {model} at {self.base_url}"
        self.failures: dict[str, int] = {}
        """How often something went wrong, by what; tries that were repeated with success are counted too."""
        self.unanswered = 0
        """Prompts that got no answer after all tries; another run asks them again."""

    def replies(self, prompts: Sequence[Prompt], template: Template, scale: Scale) -> Iterator[tuple[int, Reply]]:
        """Answers as they come, several at a time. Prompts that fail for good are left out, and counted."""
        if not prompts:
            return
        # The first alone: it finds out which protocol is spoken, and a wrong address or key is met once,
        # not eight times.
        first = self._tolerant(prompts[0], template, scale)
        if first is not None:
            yield 0, first
        with ThreadPoolExecutor(self._concurrency) as pool:
            waiting: dict[Future[Reply | None], int] = {}
            rest = iter(range(1, len(prompts)))
            try:
                while True:
                    for index in rest:
                        waiting[pool.submit(self._tolerant, prompts[index], template, scale)] = index
                        if len(waiting) >= self._concurrency:
                            break
                    if not waiting:
                        return
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        index = waiting.pop(future)
                        reply = future.result()
                        if reply is not None:
                            yield index, reply
            finally:
                for future in waiting:
                    future.cancel()

    def _tolerant(self, prompt: Prompt, template: Template, scale: Scale) -> Reply | None:
        try:
            return self._ask(prompt, template, scale)
        except _Unanswered as error:
            if error.unreachable:
                raise ConnectionError(
                    f"{self.base_url} can't be reached ({error}); what was answered is kept: the same command goes on "
                    "from there when the endpoint is back."
                ) from None
            self.unanswered += 1
            return None

    def _ask(self, prompt: Prompt, template: Template, scale: Scale) -> Reply:
        if self._api == "completions":
            body = {
                "model": self.model,
                "prompt": prompt.text,
                "max_tokens": COMPLETION_TOKENS,
                "temperature": 0,
                "logprobs": TOP_LOGPROBS,
            }
            reply = self._post("/completions", body, missing_is_fine=self._wanted == "auto")
            if reply is not None:
                return _completion(reply, scale)
            self._api = "chat"
        message = {"role": "user", "content": template.chat + prompt.text}
        body = {"model": self.model, "messages": [message], "max_tokens": CHAT_TOKENS, "temperature": 0}
        return _chat(self._post("/chat/completions", body) or {})

    def _post(self, path: str, body: dict[str, Any], *, missing_is_fine: bool = False) -> dict[str, Any] | None:
        """The first choice of the reply; None if the path is missing and that is fine."""
        import httpx  # pyright: ignore[reportMissingImports]

        reason, unreachable = "", False
        for attempt in range(self._tries):
            pause = min(self._pause * 2**attempt, LONGEST_PAUSE_S) * (0.5 + random.random() / 2)
            unreachable = False
            try:
                response = self._client.post(self.base_url + path, json=body)
                if response.status_code == 200:
                    return response.json()["choices"][0]
                if missing_is_fine and response.status_code in NO_COMPLETIONS:
                    return None
                reason = f"status {response.status_code}"
                if response.status_code not in AGAIN and response.status_code < 500:
                    raise _Refused(_refusal(self.base_url + path, response))
                pause = retry_after(response.headers.get("Retry-After"), pause)
            except httpx.TimeoutException:
                reason = "timeout"
            except httpx.TransportError as error:
                reason, unreachable = f"no connection: {error}", True
            except _Refused:
                raise
            except (KeyError, IndexError, TypeError, ValueError):
                reason = "a malformed reply"
            self._count(reason.split(":")[0])
            if attempt + 1 < self._tries:
                time.sleep(pause)
        raise _Unanswered(reason, unreachable)

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
        except ValueError:
            return otherwise
    return min(max(wanted, 0.0), LONGEST_PAUSE_S)


def _refusal(address: str, response: "httpx.Response") -> str:
    hint = {
        401: "set OPENAI_API_KEY to a key that it accepts",
        403: "use a key that may ask this model",
        404: "check --base-url, which usually ends in /v1, and the model's name",
    }.get(response.status_code, "change the request, with fewer --shots if it is too long")
    said = " ".join(response.text.split())[:200]
    return f"{address} answers with status {response.status_code}: {said or 'nothing more'}; {hint}."


def _completion(choice: dict[str, Any], scale: Scale) -> Reply:
    """The mean score under the next token's probabilities, where the server gives them; else the number in the text."""
    text = str(choice.get("text") or "")
    if choice.get("finish_reason") == "content_filter":
        return Reply(None, "refused", text=text)
    probabilities = [0.0] * len(DIGITS)
    for token, logprob in _first_logprobs(choice.get("logprobs")):
        # Tokens such as " 3", "3" and, with some tokenizers, "3.".
        found = token.strip()
        if found[:1] in DIGITS and found[1:] in ("", "."):
            probabilities[DIGITS.index(found[0])] += math.exp(logprob)
    answer = scale.expected(probabilities)
    if answer is None:
        return Reply(*parse_score(text), text=text)
    return Reply(answer, "ok", tuple(probabilities), sum(probabilities), text=text)


def _first_logprobs(logprobs: Any) -> list[tuple[str, float]]:
    """The most likely first tokens, in either of the two forms in which servers give them."""
    if not isinstance(logprobs, dict):
        return []
    try:
        top = logprobs.get("top_logprobs")
        if top:
            return [(str(token), float(value)) for token, value in top[0].items()]
        content = logprobs.get("content")
        if content:
            return [(str(each["token"]), float(each["logprob"])) for each in content[0]["top_logprobs"]]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return []
    return []


def _chat(choice: dict[str, Any]) -> Reply:
    message = choice.get("message") or {}
    text = str(message.get("content") or "")
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        return Reply(None, "refused", text=str(message.get("refusal") or text))
    return Reply(*parse_score(text), text=text)
