"""Laws of inputs as short texts."""

from collections.abc import Sequence

import jax.numpy as jnp

from ... import _check
from .._law import AbstractInputs
from .._spec import law_registry, parse_law
from ._gaussian import GaussianInputs
from ._mapped import MappedInputs
from ._rademacher import RademacherInputs
from ._sphere import SphereInputs
from ._student_t import StudentTInputs
from ._uniform import UniformInputs

# Laws of inputs by name, as `--inputs` takes them.
INPUTS = law_registry("inputs", "descant.inputs")
INPUTS.add("gaussian", lambda *, d: GaussianInputs.isotropic(d))
INPUTS.add("uniform", UniformInputs)
INPUTS.add("rademacher", RademacherInputs)
INPUTS.add("sphere", SphereInputs)
INPUTS.add("student-t", StudentTInputs)


def parse_inputs(
    spec: str, d: int, condition: float = 1.0, spectrum: str | Sequence[float] | None = None
) -> AbstractInputs:
    """The law that a short text means: `sphere`, `uniform:-1,1`, `student-t:5`, or one's own as `module:name:numbers`.

    **Arguments:** a maker of one's own gets `d` if it has an argument of that name. A `condition` above 1 scales the
    coordinates, so that the covariance of a law of covariance I is that of `GaussianInputs.conditioned`. So does a
    `spectrum` in its place: `power:1.5` as `GaussianInputs.power_law`, or d eigenvalues as they are.

    >>> type(parse_inputs("student-t:5", d=3)).__name__
    'StudentTInputs'
    >>> parse_inputs("gaussian", d=2, spectrum=[4.0, 1.0]).cov.diagonal()
    Array([4., 1.], dtype=float64)
    """
    if spectrum is not None and condition != 1:
        raise ValueError(f"input condition is {condition:g} and input spectrum {spectrum!r}; expected one of the two.")
    skewed = GaussianInputs.conditioned(d, condition) if spectrum is None else _of_spectrum(d, spectrum)
    if spec == "gaussian":
        return skewed
    law = parse_law(INPUTS, AbstractInputs, spec, d=d)
    return law if spectrum is None and condition == 1 else MappedInputs.with_covariance(law, skewed.cov)


def _of_spectrum(d: int, spectrum: str | Sequence[float]) -> GaussianInputs:
    if not isinstance(spectrum, str):
        _check.size("d", d)
        _check.not_negative("input spectrum", spectrum)
        _check.magnitude("input spectrum", spectrum)
        if len(spectrum) != d:
            raise ValueError(f"input spectrum is {len(spectrum)} numbers; expected d = {d} eigenvalues, or power:1.5.")
        return GaussianInputs(jnp.diag(jnp.asarray(spectrum, dtype=float)))
    name, _, exponent = spectrum.partition(":")
    try:
        if name != "power":
            raise ValueError
        number = float(exponent)
    except ValueError:
        raise ValueError(f"input spectrum is {spectrum!r}; expected power:1.5, or d eigenvalues.") from None
    return GaussianInputs.power_law(d, number)
