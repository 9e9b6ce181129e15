"""Laws of the inputs and of the query, one in a file."""

from ._gaussian import GaussianInputs as GaussianInputs
from ._given import GivenInputs as GivenInputs
from ._mapped import MappedInputs as MappedInputs
from ._rademacher import RademacherInputs as RademacherInputs
from ._spec import INPUTS as INPUTS, parse_inputs as parse_inputs
from ._sphere import SphereInputs as SphereInputs
from ._student_t import StudentTInputs as StudentTInputs
from ._uniform import UniformInputs as UniformInputs
