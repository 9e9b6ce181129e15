"""How a request is put, and how it is put otherwise where a server refuses a part of it.

Servers that speak one protocol take different parts of it: newer models of companies want `max_completion_tokens` and
no temperature, others give five probabilities at most, or none. What is refused is found in the server's own words.
"""

from dataclasses import dataclass, replace
from typing import Any

# Refusals of a part of the request, in words, come with these.
REFUSALS = (400, 422)
# Most servers give twenty probabilities, some five at most.
LOGPROBS: tuple[int | None, ...] = (20, 5, None)
# How much a completion may write: a score, and what may stand around it.
COMPLETION_TOKENS = 6
# How much a chat may write: enough for a model that thinks before it answers.
CHAT_TOKENS = 1024
LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class Manner:
    """Which parts a request has."""

    limit: str = LIMITS[0]
    temperature: bool = True
    logprobs: int | None = LOGPROBS[0]

    def completion(self, model: str, prompt: str) -> dict[str, Any]:
        """The body that asks for what comes after a prompt, with probabilities."""
        body = {"model": model, "prompt": prompt, **self._common(COMPLETION_TOKENS)}
        return body | ({} if self.logprobs is None else {"logprobs": self.logprobs})

    def chat(self, model: str, text: str, tokens: int) -> dict[str, Any]:
        """The body that asks a chat."""
        return {"model": model, "messages": [{"role": "user", "content": text}], **self._common(tokens)}

    def _common(self, tokens: int) -> dict[str, Any]:
        return {self.limit: tokens} | ({"temperature": 0} if self.temperature else {})

    def otherwise(self, status: int, said: str, body: dict[str, Any]) -> "Manner | None":
        """Another manner, if the words of a refusal name a part of the request that can be put otherwise; else None.

        >>> Manner().otherwise(400, "Use 'max_completion_tokens' instead of 'max_tokens'.", {"max_tokens": 6}).limit
        'max_completion_tokens'
        """
        if status not in REFUSALS:
            return None
        said = said.casefold()
        # "max_tokens is too large" and "reduce your max_tokens" are about the number.
        number = any(word in said for word in ("too large", "too long", "at most", "maximum context", "reduce"))
        if self.limit in said and self.limit in body and not number:
            other = LIMITS[1 - LIMITS.index(self.limit)]
            return replace(self, limit=other) if self.limit == LIMITS[0] else None
        if "temperature" in said and "temperature" in body:
            return replace(self, temperature=False)
        if "logprob" in said and "logprobs" in body:
            return replace(self, logprobs=LOGPROBS[LOGPROBS.index(self.logprobs) + 1])
        return None
