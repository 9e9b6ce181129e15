"""Laws of the task vector, one in a file."""

from ._gaussian import GaussianPrior as GaussianPrior
from ._laplace import LaplacePrior as LaplacePrior
from ._mixture import GaussianMixturePrior as GaussianMixturePrior
from ._pool import PoolPrior as PoolPrior
from ._sparse import SparsePrior as SparsePrior
from ._spec import PRIORS as PRIORS, parse_prior as parse_prior
from ._student_t import StudentTPrior as StudentTPrior
