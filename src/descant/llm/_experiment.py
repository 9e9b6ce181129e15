"""The experiment: prompts for every query, draw of demonstrations and guess, and their answers."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

import numpy as np

from .. import _check
from ._answers import Answers, Ask, Key
from ._draws import Draw, draw, group_of, query_order, stranger
from ._guesses import GUESSES, NEED_EMBEDDING, Scene, check_guesses, guesses
from ._models import Model
from ._pairs import Benchmark, Pair
from ._prompts import Prompt, build
from ._reading import Scale
from ._results import Asked, Results
from ._similarity import Cosines, Line, fit_rows, jaccard
from ._templates import Template, find_template

WHERE = ("query", "all")
# A prompt takes kilobytes, and an answer a hundredth of a second at best.
MOST_QUESTIONS = 1_000_000
Progress = Callable[[str, int, int], None]
Encoder = Callable[[], tuple[str, Callable[[list[str]], np.ndarray]]]


@dataclass(frozen=True)
class Setting:
    """What is asked.

    `seeds` counts draws of demonstrations per query; `together` queries share each draw, whose demonstrations are then
    read once.
    """

    guesses: tuple[str, ...] = GUESSES
    where: str = "all"
    shots: int = 10
    queries: int = 120
    seeds: int = 1
    together: int = 10
    template: Template = field(default_factory=lambda: find_template("terse"))

    def __post_init__(self):
        check_guesses(self.guesses)
        _check.one_of("where", self.where, WHERE)
        _check.size("shots", self.shots, 0)
        _check.size("queries", self.queries)
        _check.size("seeds", self.seeds)
        _check.size("together", self.together)
        if self.queries * self.seeds * len(self.guesses) > MOST_QUESTIONS:
            raise ValueError(
                f"queries is {self.queries}, seeds {self.seeds}, and there are {len(self.guesses)} guesses: more than "
                f"{MOST_QUESTIONS:,} questions; expected fewer: lower one of them."
            )

    def check(self, benchmark: Benchmark) -> None:
        """Check that the benchmark has as many pairs as are asked for and shown."""
        if self.queries > len(benchmark.asked):
            raise ValueError(f"queries is {self.queries}; the file has {len(benchmark.asked)} pairs: ask for fewer.")
        if self.shots > len(benchmark.train):
            raise ValueError(f"shots is {self.shots}; the training file has only {len(benchmark.train)} pairs to show.")

    @property
    def wording(self) -> str:
        """The template's name, and a digest of its words."""
        return f"{self.template.name}@{hashlib.sha256(repr(astuple(self.template)).encode()).hexdigest()[:8]}"

    @property
    def design(self) -> str:
        """A short name for files: all but the wording."""
        return f"{self.where}-{self.shots}-by-{self.together}"


class _Asker:
    """Makes the questions of one model; knows the benchmark, and what can be known of each pair."""

    def __init__(self, model: Model, benchmark: Benchmark, setting: Setting):
        self.model, self.benchmark, self.setting = model, benchmark, setting
        setting.check(benchmark)
        self.template = setting.template.on(benchmark.low, benchmark.high)
        self.scale = Scale.of([each.score for each in benchmark.train], self.template, benchmark.low, benchmark.high)
        self.queries = rows = query_order(benchmark)[: setting.queries]
        self.draws = [
            draw(benchmark, row, shots=setting.shots, seed=seed, group=group_of(place, row, setting.together))
            for seed in range(setting.seeds)
            for place, row in enumerate(rows)
        ]
        self._overlap = Line.fit(*self._on_train(jaccard))
        self._embedding: Callable[[Pair], float] | None = None

    def learn_cosines(self, cosines: Cosines, encode: Callable[[list[str]], np.ndarray], progress: Progress) -> None:
        """Compute the cosines of all pairs that may be shown, and put them on the scale of scores."""
        train, asked = self.benchmark.train, self.benchmark.asked
        rows = {row for each in self.draws for row in each.demonstrations} | set(fit_rows(self.benchmark))
        others = {stranger(self.benchmark, each.query, seed=each.seed) for each in self.draws} | set(self.queries)
        pairs = [*(train[row].pair for row in sorted(rows)), *(asked[row].pair for row in sorted(others))]
        cosines.learn(pairs, encode, lambda done, total: progress("embeddings", done, total))
        line = Line.fit(*self._on_train(cosines))
        self._embedding = lambda pair: line(cosines(pair))

    def _on_train(self, similarity: Callable[[Pair], float]) -> tuple[list[float], list[float], float, float]:
        known = [self.benchmark.train[row] for row in fit_rows(self.benchmark)]
        ends = self.benchmark.low, self.benchmark.high
        return [similarity(each.pair) for each in known], [each.score for each in known], *ends

    def scene(self, kind: str, each: Draw, own: tuple[float, ...] = ()) -> Scene:
        """What a guess may be made from; the label of the query only for gold."""
        shown = [self.benchmark.train[row] for row in each.demonstrations]
        pairs = [*(item.pair for item in shown), self.benchmark.asked[each.query].pair]
        embedded: tuple[float, ...] = ()
        other = 0.0
        if kind in NEED_EMBEDDING and self._embedding is not None:
            embedded = tuple(map(self._embedding, pairs))
            other = self._embedding(self.benchmark.asked[stranger(self.benchmark, each.query, seed=each.seed)].pair)
        return Scene(
            seed=each.seed,
            query=each.query,
            labels=tuple(item.score for item in shown),
            overlap=tuple(self._overlap(jaccard(pair)) for pair in pairs),
            embedding=embedded,
            stranger=other,
            own=own,
            gold=self.benchmark.asked[each.query].score if kind == "gold" else None,
            group=each.group,
            low=self.benchmark.low,
            high=self.benchmark.high,
        )

    def ask(self, kind: str, each: Draw, own: tuple[float, ...] = ()) -> Ask:
        """The question with a guess of a kind."""
        template, everywhere = self.template, self.setting.where == "all"
        demonstrations = [self.benchmark.train[row] for row in each.demonstrations]
        query = self.benchmark.asked[each.query]
        scene = self.scene(kind, each, own)
        shown = guesses(kind, scene)
        prompt = build(template, demonstrations, query.pair, shown, everywhere=everywhere)
        # What is on the page counts, not what was rounded for it.
        seen = () if shown is None else tuple(float(template.write(value)) for value in shown)
        return Ask(
            key=self._key(kind, each, prompt, self.setting.shots),
            prompt=prompt,
            shots=self.setting.shots,
            together=self.setting.together,
            scale=self.scale.digest,
            gold=query.score,
            shown=seen[-1] if seen else None,
            along_gold=scene.labels,
            along_shown=seen[:-1] if everywhere else (),
        )

    def parts(self, each: Draw) -> Iterator[Ask]:
        """Without guesses, the questions at the demonstrations, for a model that can't answer them on its way."""
        whole = self.ask("none", each)
        for place in range(self.setting.shots):
            prompt = whole.prompt.cut(place)
            key = self._key("none", each, prompt, place)
            label = self.benchmark.train[each.demonstrations[place]].score
            yield Ask(key, prompt, self.setting.shots, self.setting.together, self.scale.digest, label, None)

    def own(self, answers: Answers, each: Draw) -> tuple[float, ...] | None:
        """The model's answers without a guess: at the demonstrations, then at the query; None if one is missing."""
        row = answers[self.ask("none", each).key]
        if row is None or row["answer"] is None:
            return None
        along: Sequence[float | None] = row.get("along", [])
        if self.setting.where == "query":
            along = [row["answer"]] * self.setting.shots  # not shown
        elif not along:
            rows = [answers[part.key] for part in self.parts(each)]
            along = [None if found is None else found["answer"] for found in rows]
        values = [value for value in along if value is not None]
        return (*values, row["answer"]) if len(values) == self.setting.shots else None

    def _key(self, kind: str, each: Draw, prompt: Prompt, place: int) -> Key:
        # Without a guess it makes no difference where one is shown.
        where = "nowhere" if kind == "none" else self.setting.where
        wording = self.setting.wording
        return Key(
            self.model.identity,
            wording,
            kind,
            where,
            each.seed,
            each.query,
            place,
            prompt.digest,
            self.benchmark.digest,
        )


def run(
    model: Model,
    benchmark: Benchmark,
    setting: Setting,
    folder: Path,
    *,
    encoder: Encoder | None = None,
    on_progress: Progress = lambda stage, done, total: None,
) -> Results:
    """Ask what has no answer yet, and give all answers. Interrupted at any moment, the same call does the rest.

    `encoder` gives the sentence encoder's identity and the encoder; it is called only if a guess needs it.
    """
    answers = Answers(folder)
    with answers.working():
        answers = Answers(folder)  # another process may have written while we waited
        asker = _Asker(model, benchmark, setting)
        if set(setting.guesses) & set(NEED_EMBEDDING):
            if encoder is None:
                raise ValueError("guess has embedding or shuffled, which need a sentence encoder, and there is none.")
            identity, encode = encoder()
            asker.learn_cosines(Cosines(folder / "cosines.jsonl", identity), encode, on_progress)
        # The model's own answers come from the prompts without a guess.
        kinds = [kind for kind in GUESSES if kind in setting.guesses or (kind == "none" and "self" in setting.guesses)]
        asks = [asker.ask(kind, each) for each in asker.draws for kind in kinds if kind != "self"]
        if "self" in kinds and setting.where == "all" and not model.reads_along:
            asks += [part for each in asker.draws for part in asker.parts(each)]
        later = len(asker.draws) if "self" in kinds else 0
        _answer(model, answers, asks, asker, on_progress, later)
        if "self" in kinds:
            owned = [(each, asker.own(answers, each)) for each in asker.draws]
            own = [asker.ask("self", each, found) for each, found in owned if found is not None]
            _answer(model, answers, [*asks, *own], asker, on_progress, later - len(own))
            asks += own
    asked = Asked(
        model=model.identity,
        template=setting.wording,
        guesses=tuple(kind for kind in GUESSES if kind in setting.guesses),
        where=setting.where,
        shots=setting.shots,
        together=setting.together,
        data=benchmark.digest,
        split=benchmark.split,
        queries=tuple(asker.queries),
        seeds=setting.seeds,
        width=benchmark.width,
        prompts=_prompts_by_guess(asks, setting),
    )
    return Results.of(answers.rows, asked)


def _prompts_by_guess(asks: list[Ask], setting: Setting) -> dict[str, list[str]]:
    """The digests of the prompts, by guess: an answer to any other text is no answer to this."""
    found: dict[str, list[str]] = {kind: [] for kind in setting.guesses}
    for ask in asks:
        if ask.key.place == setting.shots and ask.key.guess in found:
            found[ask.key.guess].append(ask.key.prompt)
    return found


def _answer(
    model: Model,
    answers: Answers,
    asks: list[Ask],
    asker: _Asker,
    on_progress: Progress,
    later: int,
) -> None:
    todo = answers.missing(asks)
    done, total = len(asks) - len(todo), len(asks) + later
    on_progress("answers", done, total)
    if not todo:
        return
    # Two questions may be one prompt: a demonstration that stands first in two prompts, say. It is asked once.
    alike: dict[str, list[Ask]] = {}
    for ask in todo:
        known = answers.reply(ask)
        if known is None:
            alike.setdefault(ask.key.prompt, []).append(ask)
        else:
            answers.keep([(ask, known)])
            done += 1
    groups = list(alike.values())
    for index, reply in model.replies([group[0].prompt for group in groups], asker.template, asker.scale):
        # On disk before the next is waited for: an answer may have cost money.
        answers.keep([(ask, reply) for ask in groups[index]])
        done += len(groups[index])
        on_progress("answers", done, total)
