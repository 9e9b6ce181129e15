"""Laws of the task vector, one in a file."""

from ._gaussian import GaussianPrior as GaussianPrior
