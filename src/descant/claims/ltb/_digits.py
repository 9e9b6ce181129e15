"""Few-shot regression on handwritten digits: a task is a coding of the ten classes by numbers."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jaxtyping import Array, Float, PRNGKeyArray

from ..._random import normals
from ...tasks import AbstractTask, Prompt

CLASSES = 10


class DigitTasks(AbstractTask):
    """A prompt shows n images with the numbers that its task's coding gives their classes, and asks for another's.

    The coding is `strength` times the digit's own value (standardised) plus a standard normal number per class,
    centred: tasks have a common part, which is the prior mean, and a part of their own. Images are rows of `images`,
    drawn with replacement.
    """

    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)
    images: Float[Array, "m d"]
    classes: Float[Array, "m c"]
    strength: Float[Array, ""]

    def __init__(self, n: int, images: np.ndarray, digits: np.ndarray, strength: float):
        self.d, self.n = images.shape[1], n
        self.images = jnp.asarray(images, float)
        self.classes = jnp.asarray(np.eye(CLASSES)[digits], float)
        self.strength = jnp.asarray(strength, float)

    @property
    def numbers(self) -> int:
        """One number to choose each image, one per class."""
        return self.n + 1 + CLASSES

    def place(self, normals: Float[Array, " numbers"]) -> Prompt:
        """Images by the quantiles of the numbers, labels by the coding."""
        count = self.images.shape[0]
        chosen = jnp.minimum(jnp.floor(count * ndtr(normals[: self.n + 1])).astype(int), count - 1)
        own = normals[self.n + 1 :]
        values = common_coding().astype(own.dtype)
        coding = self.strength * values + own - jnp.mean(own)
        x, labels = self.images[chosen], self.classes[chosen] @ coding
        return Prompt(x[:-1], labels[:-1], x[-1], y_query=labels[-1])

    def sample(self, *, key: PRNGKeyArray) -> Prompt:
        """Draw a prompt."""
        return self.place(normals(key, self.numbers, self.dtype))


def common_coding() -> Float[Array, " c"]:
    """The digits 0 to 9, centred, of variance 1."""
    values = jnp.arange(float(CLASSES)) - (CLASSES - 1) / 2
    return values / jnp.std(values)


def split_digits(d: int, seed: int) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Images and digits, for training and held out (one quarter), in `d` principal components of the training images.

    Components are scaled so that a training image has the mean square 1 per component; none is whitened.
    """
    # Listing the claims should not wait for scikit-learn.
    from sklearn.datasets import load_digits  # noqa: PLC0415
    from sklearn.decomposition import PCA  # noqa: PLC0415
    from sklearn.model_selection import train_test_split  # noqa: PLC0415

    images, digits = load_digits(return_X_y=True)
    train, test, train_digits, test_digits = train_test_split(
        images, digits, test_size=0.25, random_state=seed, stratify=digits
    )
    components = PCA(d, svd_solver="full").fit(train)
    scale = np.sqrt(np.mean(components.transform(train) ** 2))
    return (
        (components.transform(train) / scale, np.asarray(train_digits)),
        (components.transform(test) / scale, np.asarray(test_digits)),
    )
