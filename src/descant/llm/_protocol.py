"""Replies in OpenAI's protocol, in the forms that servers give them. Whatever else comes is no reply."""

import json
import math
from typing import Any

from ._prompts import Prompt
from ._reading import Reply, Scale, Wording
from ._replies import parse_score

# Of what is no reply, so much is repeated.
BEGINNING = 4 << 10
# Logarithms of probabilities may be above 0 by so much.
ROUNDING = 1e-3


class Malformed(Exception):
    """A reply that is none; the text says why, and holds the server's own words."""


def first_choice(content: bytes, field: str) -> dict[str, Any]:
    """The first choice of a reply, if it has the form that the protocol gives it, with a text or a message."""
    try:
        choice = json.loads(content)["choices"][0]
        if field == "text":
            text = choice[field]
        else:
            text = _joined(choice[field].get("content"))
            choice = choice | {field: choice[field] | {"content": text}}
        if isinstance(text, str | None):
            return choice
    except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError):
        pass
    begins = content[:BEGINNING].decode("utf-8", "replace")
    raise Malformed(f"no {field} in it, but {begins or 'nothing'}")


def _joined(content: Any) -> Any:
    """A message in parts, as servers of models that think send it: its text, without the parts that are thoughts."""
    if isinstance(content, list) and content and all(isinstance(part, dict) for part in content):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content


def completion(choice: dict[str, Any], prompt: Prompt, wording: Wording, scale: Scale) -> Reply:
    """The mean score under the next token's probabilities, where the server gives them; else the number in the text."""
    text = str(choice.get("text") or "")
    if choice.get("finish_reason") == "content_filter":
        return Reply(None, "refused", text=text)
    digits = scale.digits
    probabilities = [0.0] * len(digits)
    for token, logprob in _first_logprobs(choice.get("logprobs")):
        # Tokens such as " 3", "3" and, with some tokenizers, "3.".
        found = token.strip()
        # A logarithm of a probability is never above 0, but for rounding; and NaN is above nothing.
        if found[:1] in digits and found[1:] in ("", ".") and logprob <= ROUNDING:
            probabilities[digits.index(found[0])] += math.exp(logprob)
    answer = scale.expected(probabilities)
    if answer is None:
        # What comes after the end of a score is the next example, made up.
        return Reply(*_read(text.split(wording.end, maxsplit=1)[0] or text, prompt, wording, scale), text=text)
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
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        return []
    return []


def chat(choice: dict[str, Any], prompt: Prompt, wording: Wording, scale: Scale) -> Reply:
    """The number in a message, or that it holds none."""
    message = choice.get("message") or {}
    text = str(message.get("content") or "")
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        return Reply(None, "refused", text=str(message.get("refusal") or text))
    value, status = _read(text, prompt, wording, scale)
    # A model that was still thinking has said nothing yet, wherever the server puts its thoughts.
    if value is None and status == "not a number" and choice.get("finish_reason") == "length":
        status = "cut off"
    return Reply(value, status, text=text)


def _read(text: str, prompt: Prompt, wording: Wording, scale: Scale) -> tuple[float | None, str]:
    return parse_score(text, wording.score, low=scale.low, high=scale.high, stem=prompt.stems[-1])
