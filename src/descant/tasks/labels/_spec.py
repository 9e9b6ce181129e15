"""Laws of label noise as short texts."""

from .._spec import law_registry, parse_law
from ._abstract import AbstractLabelNoise
from ._gaussian import GaussianLabelNoise
from ._laplace import LaplaceLabelNoise
from ._student_t import StudentTLabelNoise

# Laws of label noise by name, as `--label-noise` takes them.
LABELS = law_registry("label noise", "descant.labels")
LABELS.add("gaussian", GaussianLabelNoise)
LABELS.add("laplace", LaplaceLabelNoise)
LABELS.add("student-t", StudentTLabelNoise)


def parse_labels(spec: str) -> AbstractLabelNoise:
    """The law that a short text means: `laplace`, `student-t:5`, or one's own as `module:name:numbers`.

    >>> parse_labels("student-t:5").df
    5.0
    """
    return parse_law(LABELS, AbstractLabelNoise, spec)
