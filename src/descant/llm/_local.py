"""A language model on this machine: scores are read from the probabilities of the next token.

One forward pass over a prompt answers its query and, on the way, each of its demonstrations from those before it. Only
the hidden states at these places are turned into logits. Prompts that begin alike (`--together`, `--where query`)
share one pass over what they have in common, through the key-value cache.
"""

import copy
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._cores import cores
from ._memory import sentence
from ._prompts import Prompt
from ._reading import Reply, Scale, Wording

# Tokens of one forward pass, padding included. On a CPU, each core reads a prompt of its own: a quarter faster than all
# cores on the same prompts, which wait for each other at every operation, and more than one prompt falls out of a
# core's cache.
CPU_TOKENS, GPU_TOKENS = 512, 32768
# A cached token is copied and attended to: it costs such a part of one that is read.
CACHED_COST = 16
# Prompts that are looked at together: enough to sort by length and to find common beginnings,
# few enough to lose little. A GPU reads some seventy of them in a pass.
WINDOW, GPU_WINDOW = 64, 1024
# Shared beginnings that are remembered: one for each guess, when all queries have the same demonstrations.
REMEMBERED = 16


@dataclass(frozen=True)
class ScoreTokens:
    """The tokens of the digits where a score begins, and how many characters before it the prompt must end.

    Most tokenizers cut "score: 3.8" before the digit. Those that put the space into the digit's token need a prompt
    that ends before the space.
    """

    ids: tuple[int, ...]
    back: int

    @classmethod
    def find(cls, tokenizer: Any, wording: Wording, scale: Scale) -> "ScoreTokens | None":
        """None if the digits don't begin tokens that tell them apart."""
        stem = wording.example
        for back in (0, len(stem) - len(stem.rstrip(" "))):
            start = _tokens(tokenizer, stem[: len(stem) - back])
            ids = []
            for digit in scale.digits:
                endings = {tuple(_tokens(tokenizer, stem + score)) for score in _written(wording, digit, scale.high)}
                firsts = {
                    each[len(start)] for each in endings if list(each[: len(start)]) == start and len(each) > len(start)
                }
                if len(firsts) != 1 or any(list(each[: len(start)]) != start for each in endings):
                    break
                ids.append(firsts.pop())
            if len(set(ids)) == len(scale.digits):
                return cls(tuple(ids), back)
        return None


def _written(wording: Wording, digit: str, high: float) -> list[str]:
    """Scores that begin with a digit, as they stand in a prompt."""
    decimals = [".0", ".2", ".8"] if wording.digits else [""]
    return [digit + decimal + wording.end for decimal in decimals if float(digit + decimal) <= high]


def _tokens(tokenizer: Any, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]


@dataclass(frozen=True)
class _Tokens:
    """A prompt as tokens: where its answers are read, and how many tokens come before the query's pair."""

    index: int
    ids: tuple[int, ...]
    places: tuple[int, ...]
    shared: int


class LocalModel:
    """A model of `transformers` with its tokenizer."""

    reads_along = True

    def __init__(self, model: Any, tokenizer: Any, *, name: str, identity: str, begin: tuple[int, ...] = ()):
        self.model, self.tokenizer = model, tokenizer
        self.name, self.identity = name, identity
        self._begin = begin
        self._cached: dict[tuple[int, ...], tuple[Any, Any]] = {}
        self._on_cpu = model.device.type == "cpu"
        self._budget = CPU_TOKENS if self._on_cpu else GPU_TOKENS
        self._cores = cores()
        self._workers = ThreadPoolExecutor(self._cores if self._on_cpu else 1, thread_name_prefix="descant-llm")
        # What a thread is reading at the moment: the places whose logits it wants.
        self._reading = threading.local()
        model.get_output_embeddings().register_forward_pre_hook(self._only_places)
        self._longest = getattr(model.config, "max_position_embeddings", None)

    def replies(self, prompts: Sequence[Prompt], wording: Wording, scale: Scale) -> Iterator[tuple[int, Reply]]:
        """Answers with the indices of their prompts, as they come."""
        found = ScoreTokens.find(self.tokenizer, wording, scale)
        if found is None:
            raise ValueError(
                f"{self.name} has no score tokens: its tokenizer doesn't begin a score with a digit of its own after "
                f"{wording.score!r}; choose another --template, or serve the model and ask it as a chat endpoint."
            )
        # Every operation runs on the thread that asks for it: it is the workers that run side by side.
        with _threads(1):
            size = WINDOW if self._on_cpu else GPU_WINDOW
            for start in range(0, len(prompts), size):
                window = [self._tokenize(i, prompts[i], found) for i in range(start, min(start + size, len(prompts)))]
                for index, probabilities in self._window(window, found):
                    yield index, _reply(probabilities, scale)

    def _tokenize(self, index: int, prompt: Prompt, score: ScoreTokens) -> _Tokens:
        ends = [end - score.back for end in prompt.places]
        coded = self.tokenizer(prompt.text[: ends[-1]], add_special_tokens=False, return_offsets_mapping=True)
        # The tokens that end at or before a place: the last of them is where the model says what comes next.
        stops = np.array([stop for _, stop in coded["offset_mapping"]])
        begin = len(self._begin)
        places = tuple(int(begin + np.searchsorted(stops, end, side="right") - 1) for end in ends)
        ids = (*self._begin, *coded["input_ids"])
        if self._longest is not None and len(ids) > self._longest:
            raise ValueError(
                f"a prompt has {len(ids)} tokens and {self.name} reads {self._longest}; use fewer --shots."
            )
        shared = begin + int(np.searchsorted(stops, len(prompt.before), side="right"))
        return _Tokens(index, ids, places, shared)

    def _window(self, window: list[_Tokens], score: ScoreTokens) -> Iterator[tuple[int, np.ndarray]]:
        """Probabilities (places, digits + 1) of each prompt; the last column is the probability of any other token."""
        groups: dict[tuple[int, ...], list[_Tokens]] = {}
        for each in window:
            groups.setdefault(each.ids[: each.shared], []).append(each)
        together = [before for before, group in groups.items() if self._worth_sharing(before, group)]
        alone = [each for before, group in groups.items() if before not in together for each in group]

        def read(batch: list[_Tokens]) -> list[np.ndarray]:
            return self._forward([each.ids for each in batch], [each.places for each in batch], score)

        yield from self._shared_out(read, list(self._batches(alone)))
        for before in together:
            yield from self._together(before, groups[before], score)

    def _worth_sharing(self, before: tuple[int, ...], group: list[_Tokens]) -> bool:
        """Whether to read a common beginning once.

        A GPU takes as long for a pass that is half empty: there, a few prompts are faster read whole among others.
        """
        if len(group[0].places) < 2 or not (len(group) > 1 or before in self._cached):
            return False
        return self._on_cpu or sum(len(each.ids) for each in group) > self._budget

    def _together(
        self, before: tuple[int, ...], group: list[_Tokens], score: ScoreTokens
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Prompts with the same demonstrations: those are read once."""
        if before not in self._cached:
            self._remember(before, group[0].places[:-1], score)
        cache, along = self._cached[before]

        def read(batch: list[_Tokens]) -> list[np.ndarray]:
            tails = [each.ids[len(before) :] for each in batch]
            copied = copy.deepcopy(cache)
            copied.batch_repeat_interleave(len(batch))
            found = self._forward(tails, [(each.places[-1] - len(before),) for each in batch], score, copied)
            return [np.concatenate([along, each]) for each in found]

        yield from self._shared_out(read, list(self._batches(group, len(before))))

    def _shared_out(
        self, read: Callable[[list[_Tokens]], list[np.ndarray]], batches: list[list[_Tokens]]
    ) -> Iterator[tuple[int, np.ndarray]]:
        """What the workers read in each batch, with the indices of the prompts."""
        for batch, found in zip(batches, self._workers.map(read, batches), strict=True):
            yield from ((each.index, probabilities) for each, probabilities in zip(batch, found, strict=True))

    def _remember(self, before: tuple[int, ...], places: tuple[int, ...], score: ScoreTokens) -> None:
        """Read demonstrations, and keep what later prompts need of them; the oldest are forgotten."""
        from transformers import DynamicCache  # pyright: ignore[reportMissingImports]

        cache = DynamicCache(config=self.model.config)
        # The workers wait for this one: it may have all cores.
        with _threads(self._cores):
            along = self._forward([before], [places], score, cache)[0]
        while len(self._cached) >= REMEMBERED:
            del self._cached[next(iter(self._cached))]
        self._cached[before] = cache, along

    def _batches(self, prompts: list[_Tokens], cached: int = 0) -> Iterator[list[_Tokens]]:
        """Prompts of like length together, as many as the budget allows; a cached token is copied, not computed."""
        batch: list[_Tokens] = []
        for each in sorted(prompts, key=lambda each: len(each.ids)):
            if batch and (len(batch) + 1) * (len(each.ids) - cached + cached // CACHED_COST) > self._budget:
                yield batch
                batch = []
            batch.append(each)
        if batch:
            yield batch

    def _forward(
        self, ids: list[tuple[int, ...]], places: list[tuple[int, ...]], score: ScoreTokens, cache: Any = None
    ) -> list[np.ndarray]:
        """One pass. Padding stands at the end, where nothing that is read can see it, so it needs no mask."""
        import torch  # pyright: ignore[reportMissingImports]

        device, longest = self.model.device, max(map(len, ids))
        tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in ids], device=device)
        most = max(map(len, places))
        index = torch.tensor([[*row, *[row[-1]] * (most - len(row))] for row in places], device=device)
        self._reading.places = index
        try:
            with torch.inference_mode():
                out = self.model(input_ids=tokens, past_key_values=cache, use_cache=cache is not None)
                chosen = torch.softmax(out.logits.float(), dim=-1)[..., list(score.ids)].cpu().numpy().astype(float)
        finally:
            self._reading.places = None
        chosen = np.concatenate([chosen, 1 - chosen.sum(-1, keepdims=True)], axis=-1)
        return [chosen[row, : len(each)] for row, each in enumerate(places)]

    def _only_places(self, _: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Let the output layer see only the states at the places wanted: logits of all tokens would fill the memory."""
        index = getattr(self._reading, "places", None)
        if index is None:  # somebody else's pass
            return None
        return (inputs[0].gather(1, index.unsqueeze(-1).expand(-1, -1, inputs[0].shape[-1])), *inputs[1:])


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let an operation of PyTorch run on so many threads of the CPU."""
    import torch  # pyright: ignore[reportMissingImports]

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _reply(probabilities: np.ndarray, scale: Scale) -> Reply:
    answers = [scale.expected(row[:-1]) for row in probabilities.tolist()]
    return Reply(
        answer=answers[-1],
        status="ok" if answers[-1] is not None else "no score tokens",
        probabilities=tuple(probabilities[-1, :-1].tolist()),
        mass=float(probabilities[-1, :-1].sum()),
        along=tuple(answers[:-1]),
    )


def load_local(
    folder: Path,
    *,
    name: str,
    identity: str,
    device: str = "auto",
    dtype: str = "auto",
    say: Callable[[str], None] = lambda _: None,
) -> LocalModel:
    """Load a folder of `transformers`; nothing is ever downloaded here, and no code in the folder is run.

    `say` is told what it takes in memory.
    """
    import torch  # pyright: ignore[reportMissingImports]
    from transformers import AutoModelForCausalLM, AutoTokenizer  # pyright: ignore[reportMissingImports]

    where = device if device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    kind = dtype if dtype != "auto" else "bfloat16" if where.startswith("cuda") or fast_bfloat16() else "float32"
    say(sentence(name, folder, kind, where == "cpu"))
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=getattr(torch, kind))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ValueError(
            f"model is {str(folder)!r}, which can't be loaded: {' '.join(str(error).split())[:300]}"
        ) from None
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError(
            f"model is {str(folder)!r}, which has no tokenizer.json; expected a folder with a fast tokenizer."
        )
    begin = (tokenizer.bos_token_id,) if _begins_with_bos(folder, tokenizer) else ()
    return LocalModel(model.eval().to(where), tokenizer, name=name, identity=f"{identity}-{kind}", begin=begin)


def _begins_with_bos(folder: Path, tokenizer: Any) -> bool:
    """What the note of a converted GGUF file says; else what the tokenizer does of itself."""
    note = folder / "descant.json"
    if note.is_file():
        return bool(json.loads(note.read_text())["bos"])
    own = tokenizer("", add_special_tokens=True)["input_ids"]
    return bool(own) and own[0] == tokenizer.bos_token_id


def fast_bfloat16() -> bool:
    """Whether this CPU multiplies bfloat16 itself; where it is emulated, it is many times slower than float32."""
    import torch  # pyright: ignore[reportMissingImports]

    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16") or capabilities.get("bf16"))
