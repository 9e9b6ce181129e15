"""Linear regression as text: tasks of our own `LinearRegression`, on the page as numbers from 0.0 to 9.9.

A task has weights w around a start w0 whose quality is known: E|w - w0|^2 is `distance`, and labels have variance 1
without noise. Of an input x, 5 + 0.8 x is shown, of a label y, 5 + 0.8 y, so that on the page, too, the label's
distance from 5 is the weighted sum of the inputs'. The guess is <w0, x>. Tasks with a number off the page are drawn
again.
"""

import hashlib
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np

from .. import _check
from ..tasks import FixedNoise, GaussianPrior, LinearRegression
from ._draws import generator
from ._numbers import NumberTemplate
from ._prompts import Prompt

# Labels have heavy tails: in this unit about one task in a hundred leaves the page.
CENTRE, UNIT, LOW, HIGH = 5.0, 0.8, 0.0, 9.9
# Sizes beyond which a prompt is no prompt any more.
MOST_D, MOST_SHOTS, MOST_TASKS = 10, 200, 100_000


@dataclass(frozen=True)
class TextSetting:
    """What is drawn: `tasks` tasks in d dimensions, each with `shots` examples and a query.

    `distance` is the squared distance of the guess, in units of the label's variance, and `noise` the standard
    deviation of the label's noise.
    """

    d: int = 2
    shots: int = 16
    tasks: int = 60
    distance: float = 0.5
    noise: float = 0.0

    def __post_init__(self):
        for name, most in (("d", MOST_D), ("shots", MOST_SHOTS), ("tasks", MOST_TASKS)):
            _check.size(name, getattr(self, name))
            if getattr(self, name) > most:
                raise ValueError(f"{name} is {getattr(self, name)}; expected at most {most:,}.")
        if not 0 < self.distance <= 1:
            raise ValueError(f"distance is {self.distance}; expected a number above 0, the label itself, up to 1.")
        if not 0 <= self.noise <= 2:
            raise ValueError(f"noise is {self.noise}; expected a standard deviation from 0 to 2.")

    @property
    def name(self) -> str:
        """A short name for files."""
        return f"regression-{self.d}-{self.shots}-{self.distance:g}-{self.noise:g}"

    @property
    def places(self) -> tuple[int, ...]:
        """After how many examples answers are looked at: 0, 1, 2, 4, ... and all of them."""
        doubled = [2**power for power in range(self.shots.bit_length()) if 2**power < self.shots]
        return (0, *doubled, self.shots)


@dataclass(frozen=True)
class TextTasks:
    """Drawn tasks, as they stand on the page: x (tasks, shots + 1, d), label and guess (tasks, shots + 1)."""

    setting: TextSetting
    x: np.ndarray
    label: np.ndarray
    guess: np.ndarray

    @property
    def digest(self) -> str:
        """What the law of the tasks is known by; how many there are makes no other tasks of them."""
        return hashlib.sha256(repr(replace(self.setting, tasks=1)).encode()).hexdigest()[:16]

    def prompt(self, task: int, template: NumberTemplate, *, guessed: bool) -> Prompt:
        """The prompt of a task, with guesses at all its points or without."""
        points, labels = self.x[task].tolist(), self.label[task].tolist()
        shown = self.guess[task].tolist() if guessed else [None] * len(points)
        stems = [template.stem(x, guess) for x, guess in zip(points, shown, strict=True)]
        stems[0] = template.head + stems[0]
        return Prompt(tuple(stems), tuple(template.write(label) + template.end for label in labels[:-1]))


def draw_tasks(setting: TextSetting) -> TextTasks:
    """The tasks of a setting; more tasks never change those before them."""
    whole: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    batch = 0
    while len(whole) < setting.tasks:
        x, label, guess = _batch(setting, batch)
        numbers = np.concatenate([x.reshape(len(x), -1), label, guess], axis=1)
        fits = ((numbers >= LOW) & (numbers <= HIGH)).all(axis=1)
        whole += [(x[row], label[row], guess[row]) for row in np.flatnonzero(fits)]
        batch += 1
    x, label, guess = (np.stack([each[part] for each in whole[: setting.tasks]]) for part in range(3))
    return TextTasks(setting, x, label, guess)


_BATCH = 64


def _batch(setting: TextSetting, batch: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    d = setting.d
    random = generator("tasks in text", d, setting.shots, setting.distance, setting.noise, batch)
    # What is left to learn from the guess is a task with prior N(0, D/d I).
    left = LinearRegression(
        d,
        setting.shots + 1,
        GaussianPrior(jnp.zeros(d), setting.distance / d * jnp.eye(d)),
        noise=FixedNoise(setting.noise),
    )
    keys = jax.random.split(jax.random.key(int(random.integers(2**31))), _BATCH)
    drawn = jax.vmap(lambda key: left.sample(key=key))(keys)
    assert drawn.w is not None
    x, y, v = (np.asarray(array, dtype=float) for array in (drawn.x, drawn.y, drawn.w))
    noise = y - np.einsum("bnd,bd->bn", x, v)
    start = np.sqrt((1 - setting.distance) / d) * random.standard_normal((_BATCH, d))
    # Labels belong to the inputs as they stand on the page.
    page = np.round(CENTRE + UNIT * x, 1)
    seen = (page - CENTRE) / UNIT
    label = np.einsum("bnd,bd->bn", seen, start + v) + noise
    guess = np.einsum("bnd,bd->bn", seen, start)
    return page, np.round(CENTRE + UNIT * label, 1), np.round(CENTRE + UNIT * guess, 1)
