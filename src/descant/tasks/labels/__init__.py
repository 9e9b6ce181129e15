"""Laws of the label noise eta, which the noise level multiplies: one law in a file."""

from ._abstract import AbstractLabelNoise as AbstractLabelNoise, LabelMoments as LabelMoments
from ._gaussian import GaussianLabelNoise as GaussianLabelNoise
from ._laplace import LaplaceLabelNoise as LaplaceLabelNoise
from ._spec import LABELS as LABELS, parse_labels as parse_labels
from ._student_t import StudentTLabelNoise as StudentTLabelNoise
