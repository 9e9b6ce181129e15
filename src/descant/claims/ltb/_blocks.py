"""Softmax transformers with and without MLP, trained on tasks with a prior mean.

Every training is a run that is found again.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
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
    width: int
    depth: int
    heads: int
    steps: int
    batch: int
    lr: float
    schedule: str
    samples: int
    gpt2: bool = False
    chunk: int = 100


SMALL = Setting("small", 3, 8, 32, 2, 4, 1500, 128, 3e-3, "cosine", 8192)
# Some hours on two cores.
MIDDLE = Setting("middle", 5, 10, 64, 3, 4, 60_000, 256, 1e-3, "cosine", 131_072, chunk=500)
# The paper's, as far as the text says: its width is not stated, and is the usual one of "small" models of this kind.
PAPER = Setting("paper", 20, 40, 128, 6, 4, 200_000, 256, 1e-4, "constant", 262_144, gpt2=True, chunk=1000)


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


def network(size: Setting, mlp: str, key: PRNGKeyArray) -> SoftmaxTransformer:
    """One network with random weights."""
    positions = size.n if size.gpt2 else 0
    model = SoftmaxTransformer(
        size.d, size.width, size.depth, size.heads, mlp, causal=size.gpt2, positions=positions, key=key
    )
    return gpt2_weights(model, jax.random.fold_in(key, 1)) if size.gpt2 else model


def block_risks(lab: Lab, mlp: str) -> dict[str, Any]:
    """Risks after training, one per prior mean, with standard errors; and the training loss on the way."""
    size = setting(lab)
    config = {"claim": "softmax-blocks", "setting": size._asdict(), "mlp": mlp, "seed": lab.seed}
    run = lab.finished_run(config, lambda run: _train(lab, run, size, mlp))
    return (run.result or {})["found"]


def _train(lab: Lab, run: Any, size: Setting, mlp: str) -> None:
    tasks = [isotropic(size.d, size.n, mean) for mean in MEANS]
    models = [network(size, mlp, jax.random.fold_in(lab.key("weights"), member)) for member in range(len(MEANS))]
    trainer = AdamTrainer(
        models, tasks, key=lab.key(f"prompts {mlp}"), steps=size.steps, batch=size.batch, lr=size.lr,
        schedule=size.schedule, chunk=size.chunk,
    )  # fmt: skip
    state = drive(trainer, run, on_rows=lambda rows: lab.tell(f"training, MLP {mlp}", rows[-1]["progress"]))
    found = []
    for member, task in zip(trainer.members(state), tasks, strict=True):
        values, errors = sampled_risks([member], task, samples=size.samples, key=lab.key("test prompts"))
        found.append([float(values[0]), float(errors[0])])
    curve = [
        [row["step"], *(row[f"loss_{member}"] for member in range(len(MEANS)))] for row in run.metrics().to_pylist()
    ]
    result = {"risks": found, "curve": curve}
    run.finish(trainer.model(state), {"found": result, "risk": found[0][0], "standard_error": found[0][1]})
