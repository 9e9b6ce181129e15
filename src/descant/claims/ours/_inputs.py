"""Laws of inputs between those that have names, made of a sampler and exact moments."""

import jax
import jax.numpy as jnp
import numpy as np

from ...tasks import GivenInputs, elliptical_fourth, independent_moments, symmetric_moments


def two_radii(d: int, spread: float) -> GivenInputs:
    """x = r u, u on the unit sphere, with E |x|^2 = d and Var |x|^2 = spread d^2.

    Up to spread 1, a coin makes r^2 d (1 - sqrt(spread)) or d (1 + sqrt(spread)); beyond, it is 0 or d (1 + spread).
    """
    squares, share = (
        (d * np.array([1 - spread**0.5, 1 + spread**0.5]), 0.5)
        if spread <= 1
        else (
            d * np.array([0.0, 1 + spread]),
            1 / (1 + spread),
        )
    )

    def draw(key):
        for_direction, for_radius = jax.random.split(key)
        direction = jax.random.normal(for_direction, (d,))
        radius = jnp.sqrt(jnp.where(jax.random.bernoulli(for_radius, share), squares[1], squares[0]))
        return radius * direction / jnp.linalg.norm(direction)

    fourth = elliptical_fourth(np.eye(d), (1 + spread) * d / (d + 2))
    return GivenInputs(draw, symmetric_moments(np.zeros(d), np.eye(d), fourth))


def three_points(d: int, kurtosis: float) -> GivenInputs:
    """Independent coordinates, each sqrt(k), 0 or -sqrt(k), with variance 1 and E x^4 = k; 1 is the cube's corners."""

    def draw(key):
        for_sign, for_size = jax.random.split(key)
        sizes = jnp.where(jax.random.bernoulli(for_size, 1 / kurtosis, (d,)), kurtosis**0.5, 0.0)
        return sizes * jax.random.rademacher(for_sign, (d,), float)

    one = np.ones(d)
    return GivenInputs(draw, independent_moments(0 * one, one, 0 * one, kurtosis * one))


def partly_on_a_sphere(d: int, part: int) -> GivenInputs:
    """The first coordinates are on a sphere, the others Gaussian; covariance I."""
    gaussian = elliptical_fourth(np.eye(d))
    corner = np.diag(np.arange(d) < part).astype(float)
    # Where both forms see the sphere alone, its fourth moment is smaller than a Gaussian's.
    less = elliptical_fourth(corner, part / (part + 2) - 1)

    def draw(key):
        x = jax.random.normal(key, (d,))
        return x.at[:part].multiply(part**0.5 / jnp.linalg.norm(x[:part]))

    return GivenInputs(draw, symmetric_moments(np.zeros(d), np.eye(d), lambda a: gaussian(a) + less(a)))
