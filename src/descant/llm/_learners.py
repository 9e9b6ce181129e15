"""What the theory's learners answer to the same prompts, from the numbers on the page: y_q-LSA, descent, Bayes."""

import numpy as np

from ._linear_world import remaining_share
from ._text_tasks import CENTRE, UNIT, TextTasks

# Labels and guesses are rounded to 0.1 of the page: so much noise is always there, in both.
ROUNDING2 = 0.1**2 / 12 / UNIT**2
STEPS = 10
# An example at the centre of the page teaches nothing.
TINY = 1e-12
# The learners of the theory, by the names that tables and figures have for them.
LEARNERS = ("y_q-LSA", f"descent, {STEPS} steps", "Bayes")


def learnt(tasks: TextTasks, learner: str) -> np.ndarray:
    """A learner's answers (tasks, shots + 1), on the page's scale: column n is that after n examples, all from w0."""
    x, label, guess = ((array - CENTRE) / UNIT for array in (tasks.x, tasks.label, tasks.guess))
    left = label - guess
    found = [guess[:, 0]]
    for n in range(1, x.shape[1]):
        if learner == "Bayes":
            found.append(_bayes(tasks, x[:, : n + 1], label[:, :n], guess[:, : n + 1]))
            continue
        weights = _weights(tasks, learner, x[:, :n], left[:, :n])
        found.append(guess[:, n] + np.einsum("td,td->t", weights, x[:, n]))
    return CENTRE + UNIT * np.stack(found, axis=1)


def _weights(tasks: TextTasks, learner: str, x: np.ndarray, left: np.ndarray) -> np.ndarray:
    """What is learnt of w - w0 from n examples (tasks, n, d)."""
    n = x.shape[1]
    gram, moment = np.einsum("tnd,tne->tde", x, x), np.einsum("tnd,tn->td", x, left)
    if learner == "y_q-LSA":
        # One step, of the size that is best over all contexts, exactly.
        return (1 - yq_share(tasks, n)) / n * moment
    # Many steps of that size would diverge on some contexts; these converge on each.
    step = 1 / np.maximum(np.linalg.eigvalsh(gram)[:, -1:], TINY)
    weights = np.zeros_like(moment)
    for _ in range(STEPS):
        weights = weights + step * (moment - np.einsum("tde,te->td", gram, weights))
    return weights


def _bayes(tasks: TextTasks, x: np.ndarray, label: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """The query's label in the mean, given all that is on the page; the query is the last of the points.

    w0 is seen through the guesses, that of the query among them, and w through the labels: all of them rounded.
    """
    setting, n = tasks.setting, label.shape[1]
    # Of w0 and w - w0, in units of their spread before anything is seen.
    spread = np.sqrt(np.repeat([1 - setting.distance, setting.distance], setting.d) / setting.d)
    of_guess, of_label = spread * np.concatenate([x, 0 * x], axis=2), spread * np.concatenate([x, x], axis=2)
    near, far = np.sqrt(ROUNDING2), np.sqrt(ROUNDING2 + setting.noise**2)
    seen = np.concatenate([of_guess / near, of_label[:, :n] / far], axis=1)
    said = np.concatenate([guess / near, label / far], axis=1)
    gram = np.einsum("tnd,tne->tde", seen, seen) + np.eye(2 * setting.d)
    weights = np.linalg.solve(gram, np.einsum("tnd,tn->td", seen, said)[..., None])[..., 0]
    return np.einsum("td,td->t", weights, of_label[:, n])


def yq_share(tasks: TextTasks, n: int) -> float:
    """The share of the guess that y_q-LSA leaves, exactly: (d + 1) / (n + d + 1) without noise."""
    setting = tasks.setting
    return remaining_share(n, distance=setting.distance, d=setting.d, noise2=setting.noise**2)
