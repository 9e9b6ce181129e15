"""Softmax transformers with and without MLP, trained on tasks with a prior mean.

All seeds and means of one network are members of one program, a chunk of steps one scan. Every training is a run that
is found again.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from ...attention import SoftmaxTransformer
from ...runs import drive
from ...training import AdamTrainer
from .. import Lab
from ._problems import isotropic
from ._sampled import sampled_risks

MEANS = (0.0, 10.0)
MLPS = ("none", "relu")


class Setting(NamedTuple):
    """Sizes of task and network, and how they are trained."""

    name: str
    d: int
    n: int
    widths: tuple[int, ...]
    depth: int
    heads: int
    steps: int
    batch: int
    lr: float
    schedule: str
    samples: int
    seeds: int
    gpt2: bool = False
    chunk: int = 100


# Too short to decide anything: what a laptop shows where no long run was shipped.
SMALL = Setting("small", 2, 4, (8,), 1, 2, 60, 32, 3e-3, "cosine", 2048, 2, chunk=20)
# Some hours on two cores.
MIDDLE = Setting("middle", 5, 10, (32, 64), 3, 4, 60_000, 256, 1e-3, "cosine", 131_072, 3, chunk=500)
# The paper's, as far as the text says; its width is not stated, so there are two.
PAPER = Setting("paper", 20, 40, (64, 128), 6, 4, 200_000, 256, 1e-4, "constant", 262_144, 5, gpt2=True, chunk=1000)
# Points of a training curve that are kept.
POINTS = 100


def setting(lab: Lab) -> Setting:
    """The paper's at the full budget where there is an accelerator; there is no training it on two cores."""
    return lab.pick(SMALL, MIDDLE if jax.default_backend() == "cpu" else PAPER)


def gpt2_weights(model: SoftmaxTransformer, key: PRNGKeyArray) -> SoftmaxTransformer:
    """Normal weights of size 0.02 and no biases; those of values and the MLP's second layer smaller with the depth."""
    shrink = (model.depth * (1 if model.mlp == "none" else 2)) ** -0.5

    def fresh(linear: Any, number: int, size: float) -> Any:
        weight = size * jax.random.normal(jax.random.fold_in(key, number), linear.weight.shape, linear.weight.dtype)
        linear = eqx.tree_at(lambda part: part.weight, linear, weight)
        return (
            linear if linear.bias is None else eqx.tree_at(lambda part: part.bias, linear, jnp.zeros_like(linear.bias))
        )

    def small(part: Any) -> bool:
        return any(part is linear for block in model.blocks for linear in (block.attention.value_proj, block.mlp_out))

    def is_linear(part: Any) -> bool:
        return isinstance(part, eqx.nn.Linear)

    leaves, structure = jax.tree.flatten(model, is_leaf=is_linear)
    changed = [
        fresh(leaf, number, 0.02 * (shrink if small(leaf) else 1.0)) if is_linear(leaf) else leaf
        for number, leaf in enumerate(leaves)
    ]
    return jax.tree.unflatten(structure, changed)


def network(size: Setting, width: int, mlp: str, key: PRNGKeyArray) -> SoftmaxTransformer:
    """One network with random weights."""
    positions = size.n if size.gpt2 else 0
    model = SoftmaxTransformer(
        size.d, width, size.depth, size.heads, mlp, causal=size.gpt2, positions=positions, key=key
    )
    return gpt2_weights(model, jax.random.fold_in(key, 1)) if size.gpt2 else model


def members(size: Setting) -> list[tuple[float, int]]:
    """Prior means and seeds, in the order in which networks are stacked."""
    return [(mean, seed) for mean in MEANS for seed in range(size.seeds)]


def trained(lab: Lab, size: Setting, mlp: str, width: int) -> dict[str, Any]:
    """Risks after training with standard errors, one per member, and the training losses on the way."""
    config = {"claim": "softmax-blocks", "setting": size._asdict(), "mlp": mlp, "width": width, "seed": lab.seed}
    run = lab.finished_run(config, lambda run: _train(lab, run, size, mlp, width))
    return (run.result or {})["found"]


class Training(NamedTuple):
    """Networks of one kind at one prior mean, one per seed.

    `steps` of `planned` were taken. `risks` are values with standard errors; without one where the value is the loss of
    the last thousand steps. `curve` has rows of a step and the losses of all seeds.
    """

    width: int
    mlp: str
    mean: float
    schedule: str
    lr: float
    steps: int
    planned: int
    risks: list[list[float | None]]
    curve: list[list[float]]

    @property
    def values(self) -> list[float]:
        """The risks alone."""
        return [risk for risk, _ in self.risks if risk is not None]


def all_trained(lab: Lab, size: Setting) -> dict[str, Any]:
    """What is shipped of a long run: the setting, and the trainings."""
    found = [each for mlp in MLPS for width in size.widths for each in _apart(lab, size, mlp, width)]
    return {"setting": size._asdict(), "trainings": [each._asdict() for each in found]}


def _apart(lab: Lab, size: Setting, mlp: str, width: int) -> list[Training]:
    """What was trained together, by prior mean."""
    found, own = trained(lab, size, mlp, width), members(size)
    places = {mean: [place for place, member in enumerate(own) if member[0] == mean] for mean in MEANS}
    return [
        Training(
            width, mlp, mean, size.schedule, size.lr, size.steps, size.steps, [found["risks"][each] for each in seeds],
            [[row[0], *(row[1 + each] for each in seeds)] for row in found["curve"]],
        )
        for mean, seeds in places.items()
    ]  # fmt: skip


def _train(lab: Lab, run: Any, size: Setting, mlp: str, width: int) -> None:
    tasks = [isotropic(size.d, size.n, mean) for mean, _ in members(size)]
    models = [
        network(size, width, mlp, jax.random.fold_in(lab.key(f"weights {width}"), member))
        for member in range(len(tasks))
    ]
    trainer = AdamTrainer(
        models, tasks, key=lab.key(f"prompts {mlp} {width}"), steps=size.steps, batch=size.batch, lr=size.lr,
        schedule=size.schedule, chunk=size.chunk,
    )  # fmt: skip
    words = f"training, MLP {mlp}, width {width}"
    # Products in TF32 are many times faster on a GPU; batches are far noisier than its rounding.
    with jax.default_matmul_precision("tensorfloat32" if jax.default_backend() == "gpu" else "highest"):
        state = drive(trainer, run, on_rows=lambda rows: lab.tell(words, rows[-1]["progress"]))
    risks = []
    for model, task in zip(trainer.members(state), tasks, strict=True):
        values, errors = sampled_risks([model], task, samples=size.samples, key=lab.key("test prompts"))
        risks.append([float(values[0]), float(errors[0])])
    rows = run.records()
    result = {"risks": risks, "curve": thinned([[row["step"], *_losses(row, len(tasks))] for row in rows])}
    run.finish(trainer.model(state), {"found": result, "risk": risks[0][0], "standard_error": risks[0][1]})


def _losses(row: dict[str, Any], count: int) -> list[float]:
    return [row[f"loss_{member}"] for member in range(count)]


def thinned(curve: list[list[float]]) -> list[list[float]]:
    """Means over stretches of a training curve, `POINTS` of them at most; a stretch stands at its last step."""
    stretches = np.array_split(np.asarray(curve), min(POINTS, len(curve)))
    return [[float(stretch[-1, 0]), *stretch[:, 1:].mean(axis=0).tolist()] for stretch in stretches]
