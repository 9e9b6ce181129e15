"""Laws of inputs as short texts."""

from .._law import AbstractInputs
from .._spec import law_registry, parse_law
from ._gaussian import GaussianInputs
from ._mapped import MappedInputs
from ._rademacher import RademacherInputs
from ._sphere import SphereInputs
from ._student_t import StudentTInputs
from ._uniform import UniformInputs

INPUTS = law_registry("inputs", "descant.inputs")
INPUTS.add("gaussian", lambda *, d: GaussianInputs.isotropic(d))
INPUTS.add("uniform", UniformInputs)
INPUTS.add("rademacher", RademacherInputs)
INPUTS.add("sphere", SphereInputs)
INPUTS.add("student-t", StudentTInputs)


def parse_inputs(spec: str, d: int, condition: float = 1.0) -> AbstractInputs:
    """The law that a short text means: `sphere`, `uniform:-1,1`, `student-t:5`, or one's own as `module:name:numbers`.

    **Arguments:** a maker of one's own gets `d` if it has an argument of that name. A `condition` above 1 scales the
    coordinates, so that the covariance of a law of covariance I is that of `GaussianInputs.conditioned`.

    >>> type(parse_inputs("student-t:5", d=3)).__name__
    'StudentTInputs'
    """
    skewed = GaussianInputs.conditioned(d, condition)
    if spec == "gaussian":
        return skewed
    law = parse_law(INPUTS, AbstractInputs, spec, d=d)
    return law if condition == 1 else MappedInputs.with_covariance(law, skewed.cov)
