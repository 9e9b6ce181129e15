"""Numbers and names of algorithms, as a person would write them."""

import numpy as np

from ._match import Match
from ._regression import Fit, Share

# Less than this can't be told from none.
NO_PENALTY = 1e-6
# So many standard errors below zero is negative; and a matrix of this share of asymmetry, or less, is symmetric.
CLEARLY, SYMMETRIC = 2.0, 1e-2


def percent(share: Share, *, error: bool = True) -> str:
    """A share as a percentage, to the figures that its error leaves; never 100% unless it is all but rounding."""
    value, spread = 100 * share.value, 100 * share.error
    if share.value > 1 - 1e-12:
        return "100%"
    digits = min(6, max(0, int(np.ceil(-np.log10(max(spread, 1e-6))))))
    text = f"{value:.{digits}f}%"
    if text.startswith("100"):
        return "more than 99.9999%" if digits >= 6 else f"more than {100 - 10.0**-digits:.{digits}f}%"
    return f"{text} ± {float(f'{spread:.1g}'):g}%" if error and spread >= 1e-6 else text


def give(value: float, error: float = 0.0, unit: str = "") -> str:
    """A number and its standard error, which is left out where it is rounding: 0.347 ± 0.002.

    >>> give(0.34721, 0.0021), give(0.34721), give(12.3456, 0.02, "%"), give(-0.001, 0.0961)
    ('0.347 ± 0.002', '0.347', '12.35% ± 0.02%', '0.0 ± 0.1')
    >>> give(12.3456789, 5e-5), give(0.036211, 7e-6)
    ('12.34568 ± 5e-05', '0.036211 ± 7e-06')
    """
    if not error > 1e-6 * abs(value):
        return f"{value:.3g}{unit}"
    if not np.isfinite(error):
        return f"about {value:.3g}{unit}"
    # As many digits as the error leaves, and no fewer than it has: 0.0961 is one of tenths.
    error = float(f"{error:.1g}")
    place = -int(np.floor(np.log10(error) + 1e-9))
    figures = place + 1 + int(np.floor(np.log10(abs(value)))) if value else 1
    shown = f"{value:.{max(place, 0)}f}" if 1e-4 <= error < 1e4 else f"{value:.{max(figures, 1)}g}"
    # What is nothing has no sign.
    return f"{shown if float(shown) else shown.lstrip('-')}{unit} ± {error:g}{unit}"


def polynomial(fit: Fit | None) -> str:
    """I - 0.21 S, in words; "" for the identity."""
    if fit is None:
        return ""
    coefficients = dict(zip(fit.terms, fit.coefficients, strict=True))
    terms = [(1 + coefficients.get("I", 0.0), "I"), *((coefficients[name], name) for name in fit.terms if name != "I")]
    text = ""
    for number, name in terms:
        size = f"{abs(number):.3g}"
        shown = name if name == "I" and size == "1" else f"{size} {name}"
        text += (f" {'-' if number < 0 else '+'} " if text else ("-" if number < 0 else "")) + shown
    return text


def _sizes(match: Match) -> list[str]:
    """The sizes of steps, in words; those up the gradient are told as such by `called`, or here."""
    told, errors = match.parameters, match.errors
    if "step" not in told:
        return []
    listed = isinstance(told["step"], list)
    sizes, spreads = (told["step"], errors.get("step")) if listed else ([told["step"]], [errors.get("step", 0.0)])
    spreads = spreads or [0.0] * len(sizes)
    upwards = _climbs(match)
    words = ", ".join(give(-size if upwards else size, each) for size, each in zip(sizes, spreads, strict=True))
    count = len(sizes) if listed else told.get("steps")
    found = f"{count} steps of size{'s' if listed else ''} {words}" if count != 1 else f"one step of size {words}"
    # One that may as well be positive goes nowhere.
    climbing = [size < -CLEARLY * each for size, each in zip(sizes, spreads, strict=True)]
    if upwards or not any(climbing):
        return [found]
    which = "up the gradient" if all(climbing) else "where a negative one goes up the gradient"
    return [f"{found}, {which}"]


def _matrix(gamma: np.ndarray) -> str:
    """A matrix by its eigenvalues; one that turns, and has none that are real, by how much it stretches."""
    if np.abs(gamma - gamma.T).max() <= SYMMETRIC * np.abs(gamma).max():
        kind, values = "a matrix with eigenvalues", np.linalg.eigvalsh((gamma + gamma.T) / 2)
    else:
        kind, values = "a matrix that is not symmetric, with singular values", np.linalg.svd(gamma, compute_uv=False)
    return f"{kind} from {values.min():.3g} to {values.max():.3g}"


def called(match: Match) -> str:
    """The name of an algorithm; steps up the gradient are no descent."""
    if _none(match.parameters) and match.algorithm == "ridge regression":
        return "least squares"
    return match.algorithm.replace("descent", "ascent", 1) if _climbs(match) else match.algorithm


def _climbs(match: Match) -> bool:
    """Whether all its steps go up the gradient, and its name can say so."""
    sizes = np.atleast_1d(match.parameters.get("step", 1.0))
    return match.algorithm.startswith("gradient descent") and bool(np.all(sizes < 0))


def _none(told: dict) -> bool:
    return abs(told.get("penalty", 1.0)) <= NO_PENALTY


def parameters(match: Match) -> str:
    """The numbers of an algorithm, in words."""
    told, errors, words = match.parameters, match.errors, _sizes(match)
    steps = told.get("steps")

    def number(name: str) -> str:
        return give(told[name], errors.get(name, 0.0))

    if steps and "scale" not in told and not words:
        words.append(f"{steps} steps")
    if isinstance(told.get("contraction"), list):
        spreads = errors.get("contraction") or [0.0] * len(told["contraction"])
        each = (give(*pair) for pair in zip(told["contraction"], spreads, strict=True))
        words.append(f"contractions {', '.join(each)}")
    if "momentum" in told:
        words.append(f"momentum {number('momentum')}")
    if "odds" in told:
        words.append(f"noise levels {number('low')} and {number('high')}")
    elif "low" in told:
        words.append(f"for eigenvalues of S between {number('low')} and {number('high')}")
    if "scale" in told:
        words.append(f"{steps} doubling{'s' if steps != 1 else ''} from {number('scale')} I")
    if "penalty" in told:
        none = "ridge regression without a penalty" if match.algorithm == "ridge regression" else "no penalty"
        words.append(none if _none(told) else f"penalty {number('penalty')}")
    if "gamma" in told:
        words.append(_matrix(np.array(told["gamma"])))
    if "start" in told:
        words.append("from a start of length " + f"{np.linalg.norm(told['start']):.3g}")
    return ", ".join(words)
