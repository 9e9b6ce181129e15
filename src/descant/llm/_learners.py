"""What the theory's learners answer to the same prompts, from the numbers on the page: y_q-LSA, descent, Bayes."""

import numpy as np

from ._linear_world import remaining_share
from ._text_tasks import CENTRE, UNIT, TextTasks

# A label is rounded to 0.1 of the page: so much noise is always there.
ROUNDING2 = 0.1**2 / 12 / UNIT**2
STEPS = 10
# An example at the centre of the page teaches nothing.
TINY = 1e-12
LEARNERS = ("y_q-LSA", f"descent, {STEPS} steps", "Bayes")


def learnt(tasks: TextTasks, learner: str) -> np.ndarray:
    """A learner's answers (tasks, shots + 1), on the page's scale: column n is that after n examples, all from w0."""
    x, label, guess = ((array - CENTRE) / UNIT for array in (tasks.x, tasks.label, tasks.guess))
    left = label - guess
    found = [guess[:, 0]]
    for n in range(1, x.shape[1]):
        weights = _weights(tasks, learner, x[:, :n], left[:, :n])
        found.append(guess[:, n] + np.einsum("td,td->t", weights, x[:, n]))
    return CENTRE + UNIT * np.stack(found, axis=1)


def _weights(tasks: TextTasks, learner: str, x: np.ndarray, left: np.ndarray) -> np.ndarray:
    """What is learnt of w - w0 from n examples (tasks, n, d)."""
    setting, (_, n, d) = tasks.setting, x.shape
    gram, moment = np.einsum("tnd,tne->tde", x, x), np.einsum("tnd,tn->td", x, left)
    if learner == "Bayes":
        ridge = (setting.noise**2 + ROUNDING2) * d / setting.distance
        return np.linalg.solve(gram + ridge * np.eye(d), moment[..., None])[..., 0]
    if learner == "y_q-LSA":
        # One step, of the size that is best over all contexts, exactly.
        return (1 - yq_share(tasks, n)) / n * moment
    # Many steps of that size would diverge on some contexts; these converge on each.
    step = 1 / np.maximum(np.linalg.eigvalsh(gram)[:, -1:], TINY)
    weights = np.zeros_like(moment)
    for _ in range(STEPS):
        weights = weights + step * (moment - np.einsum("tde,te->td", gram, weights))
    return weights


def yq_share(tasks: TextTasks, n: int) -> float:
    """The share of the guess that y_q-LSA leaves, exactly: (d + 1) / (n + d + 1) without noise."""
    setting = tasks.setting
    return remaining_share(n, distance=setting.distance, d=setting.d, noise2=setting.noise**2)
