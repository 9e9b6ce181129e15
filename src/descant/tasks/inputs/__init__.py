"""Laws of the inputs and of the query, one in a file."""

from ._gaussian import GaussianInputs as GaussianInputs
from ._uniform import UniformInputs as UniformInputs
