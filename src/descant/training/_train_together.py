"""Many trainings of one kind and shape, each on its own task, as fast as their solver can do them."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import PRNGKeyArray

from .._predictor import AbstractPredictor
from .._trainer import to_end
from ..tasks import AbstractTask
from ._train import Choice, make_trainer, stop_reason


def train_together(
    models: Sequence[AbstractPredictor],
    tasks: Sequence[AbstractTask],
    choice: Choice,
    *,
    keys: Sequence[PRNGKeyArray],
    settings: Sequence[dict[str, Any]],
) -> list[tuple[Any, str]]:
    """Each model, trained on its task, and why its training stopped.

    **Arguments:** models of one kind and shape, and tasks of one shape; `choice` is that of all (see `choose`), with a
    key and settings of the trainer for each. What comes of one does not depend on the others, to the last bit.

    >>> import jax
    >>> from descant import LinearRegression
    >>> from descant.attention import LSA
    >>> from descant.training import choose
    >>> models = [LSA.random(2, key=jax.random.key(seed)) for seed in range(2)]
    >>> tasks = [LinearRegression(d=2, n=4), LinearRegression(d=2, n=4, noise=1.0)]
    >>> choice = choose(models[0], tasks[0])
    >>> (_, why), _ = train_together(models, tasks, choice, keys=[jax.random.key(0)] * 2, settings=[{}, {}])
    >>> "gradient" in why
    True
    """
    together = choice.record.together
    if together is not None:
        return together(models, tasks, objective=choice.objective, keys=keys, settings=settings)
    found = []
    for model, task, key, given in zip(models, tasks, keys, settings, strict=True):
        trainer = make_trainer(model, task, choice, key=key, **given)
        state = to_end(trainer)
        found.append((trainer.model(state), stop_reason(state)))
    return found
