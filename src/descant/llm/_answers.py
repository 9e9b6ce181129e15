"""Answers on disk: one folder per model, one line per answer, and nothing asked twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._disk import explained
from .._lock import locked
from ._lines import Lines
from ._prompts import Prompt
from ._reading import Reply

DECIMALS = 6


@dataclass(frozen=True)
class Key:
    """What an answer answers. `place` is how many demonstrations stand before the pair that is asked for.

    `template` holds a digest of its wording, `prompt` one of the whole text, and `data` one of all sentences and labels
    that could be shown or asked for: if any of them changes, it is another question.
    """

    model: str
    template: str
    guess: str
    where: str
    seed: int
    query: int
    place: int
    prompt: str
    data: str


@dataclass(frozen=True)
class Ask:
    """A question: its key, its prompt, and what is known about it. The label is for statistics; it is in no prompt.

    `scale` is the digest of what digits stand for: an answer is a mean over it.
    """

    key: Key
    prompt: Prompt
    shots: int
    together: int
    scale: str
    gold: float
    shown: float | None
    along_gold: tuple[float, ...] = ()
    along_shown: tuple[float, ...] = ()


class Answers:
    """The answers of one model."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._lines = Lines(folder / "answers.jsonl")
        self._known: dict[Key, dict[str, Any]] = {}
        self._by_prompt: dict[tuple[str, str, str, str], dict[str, Any]] = {}
        self._note(self._lines.rows)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows, in the order in which they came."""
        return self._lines.rows

    def __getitem__(self, key: Key) -> dict[str, Any] | None:
        return self._known.get(key)

    def missing(self, asks: list[Ask]) -> list[Ask]:
        """Those that have no answer yet."""
        return [ask for ask in asks if ask.key not in self._known]

    def keep(self, answered: list[tuple[Ask, Reply]]) -> None:
        """Keep answers, durably."""
        rows = [_row(ask, reply) for ask, reply in answered]
        self._lines.append(rows)
        self._note(rows)

    def reply(self, ask: Ask) -> Reply | None:
        """The answer to the same prompt on the same scale, if it was asked under another key."""
        row = self._by_prompt.get((ask.key.model, ask.key.template, ask.key.prompt, ask.scale))
        if row is None:
            return None
        along = tuple(row.get("along", ()))
        return Reply(row["answer"], row["status"], tuple(row["probabilities"]), row["mass"], along, row.get("text", ""))

    def _note(self, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            self._known[_key(row)] = row
            self._by_prompt[row["model"], row["template"], row["prompt"], row["scale"]] = row

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold the folder's lock, so that no other process asks the same."""
        with explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder):
            yield


def _row(ask: Ask, reply: Reply) -> dict[str, Any]:
    row = {
        **asdict(ask.key),
        "shots": ask.shots,
        "together": ask.together,
        "scale": ask.scale,
        "gold": ask.gold,
        "shown": ask.shown,
        "status": reply.status,
        "answer": _rounded(reply.answer),
        "mass": _rounded(reply.mass),
        "probabilities": [_rounded(each) for each in reply.probabilities],
    }
    if reply.along:
        row |= {
            "along": [_rounded(each) for each in reply.along],
            "along_gold": list(ask.along_gold),
            "along_shown": list(ask.along_shown),
        }
    if reply.text:
        row["text"] = reply.text
    return row


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)


def _key(row: dict[str, Any]) -> Key:
    return Key(**{name: row[name] for name in Key.__dataclass_fields__})
