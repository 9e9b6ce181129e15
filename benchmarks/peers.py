"""Public codes that a user has cloned, beside ours: `python -m benchmarks --peers FOLDER`.

Nothing of them is here: their modules are imported from the folder, and run as they are. Training steps per second,
fresh prompts in every step, Adam, batch 2,048, d = 10, n = 20; best of short interleaved rounds, in one process.
"""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from descant import LinearRegression
from descant.attention import Full
from descant.training import AdamTrainer

from .papers_recipe import BATCH, STEPS, Burst, D, N, rates


@dataclass(frozen=True)
class Peer:
    """A public code: the file and the words in it by which it is known, and how it takes some training steps."""

    name: str
    file: str
    words: tuple[str, ...]
    burst: Callable[[Any, int], Burst]


def ahn_and_others(module: Any, layers: int) -> Burst:
    """Their network and loss; prompts are drawn here, because theirs are drawn on a GPU only."""
    import torch  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    model = module.Transformer_F(layers, 1, D, 0.02).to(module.device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)

    def burst() -> None:
        for _ in range(STEPS):
            x = torch.randn(BATCH, N + 1, D, device=module.device)
            labels = (x @ torch.randn(BATCH, D, 1, device=module.device))[..., 0]
            answers = labels[:, -1].clone()
            labels[:, -1] = 0
            loss = module.in_context_loss(model, torch.cat([x, labels[..., None]], dim=2), answers)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    burst()
    return burst


PEERS = (
    Peer(
        "Ahn, Cheng, Daneshmand, Sra 2023 (chengxiang/LinearTransformer)",
        "linear_transformer.py",
        ("class Transformer_F", "def in_context_loss"),
        ahn_and_others,
    ),
)


def found(folder: Path) -> dict[Peer, Path]:
    """The codes that we know in a folder, or in the folders in it."""
    there = {}
    for peer in PEERS:
        for path in (folder / peer.file, *sorted(folder.glob(f"*/{peer.file}"))):
            if path.is_file() and all(words in path.read_text(errors="replace") for words in peer.words):
                there[peer] = path
                break
    return there


def ours(layers: int) -> Burst:
    """FULL on the same task, which contains their networks."""
    model = Full.random(D, layers, key=jax.random.key(0), scale=0.2)
    task = LinearRegression(D, N)
    trainer = AdamTrainer(model, task, key=jax.random.key(1), steps=10**9, batch=BATCH, chunk=STEPS)
    state, _ = trainer.advance(trainer.init())
    return lambda: trainer.advance(state)


def main(folder: Path) -> None:
    """A line for each code and depth; a `SystemExit` with a sentence if there is none that we know."""
    there = found(folder)
    if not there:
        names = "; ".join(f"{peer.name} by its {peer.file}" for peer in PEERS)
        sys.exit(f"--peers is {folder}, which holds no code that we know; expected a clone of one of: {names}.")
    if importlib.util.find_spec("torch") is None:
        sys.exit("PyTorch is not installed, which these codes need; do make torch.")
    for peer, path in there.items():
        spec = importlib.util.spec_from_file_location(f"peer_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for layers in (1, 4):
            fast, theirs = rates([ours(layers), peer.burst(module, layers)])
            print(f"{peer.name}, {layers} layers: ours {fast:.0f} steps/s, {fast / theirs:.2f} times theirs")
