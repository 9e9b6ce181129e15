"""The flags that describe a task, shared by every command that needs one."""

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ._flags import AS_LOCATION, AS_SPECTRUM, COVARIANCE, TASK

if TYPE_CHECKING:
    from ..forms import PlainProblem
    from ..tasks import AbstractTask

# Closed forms hold d matrices of d x d numbers a few times over: up to here they are small.
PLAIN_D = 128
# And fourth powers of numbers below this, and sums of them, are numbers.
PLAIN_SIZE = 1e60


# More numbers than these are not all shown.
FEW_NUMBERS = 4


@Parameter(group=TASK)
@dataclass(frozen=True, kw_only=True)
class TaskFlags:
    """Linear regression in context, with a law for each of its parts; or a task of one's own."""

    d: int
    "Input dimension."
    n: int
    "Context length: how many labelled inputs a prompt holds."
    prior: str = "gaussian"
    "Law of tasks: gaussian, student-t:5, laplace, sparse:0.3, pool:16, mixture:2, or your own as module:name:numbers."
    prior_mean: Annotated[float | tuple[float, ...], AS_LOCATION] = 0.0
    "Location of a task, of a Gaussian its mean: one number for all coordinates, or d of them (1,0,-1, or a file)."
    prior_scale: float = 1.0
    "Scale of every coordinate of a task; of a Gaussian its standard deviation."
    inputs: str = "gaussian"
    "Law of inputs: gaussian, sphere, rademacher, uniform:-1,1, student-t:5, or your own as module:name:numbers."
    input_condition: Annotated[float, Parameter(group=(TASK, COVARIANCE))] = 1.0
    "Condition number K of the input covariance: log-spaced eigenvalues from 1 to 1/K, scaled to trace d."
    input_spectrum: Annotated[str | tuple[float, ...] | None, AS_SPECTRUM] = None
    "Instead: power:1.5 (eigenvalues j^-1.5, scaled to trace d), or d eigenvalues as they are (4,1,0.25, or a file)."
    noise: str = "0"
    "Noise level: 0.5 (fixed), 1,3 (either), uniform:5, log-uniform:0.1,3, inverse-gamma:3,2, or module:name:numbers."
    label_noise: str = "gaussian"
    "Law of the label noise that the level multiplies: gaussian, laplace, student-t:5, or module:name:numbers."
    task: str | None = None
    "A task of your own instead of all these laws, as module:name: a class or function called with d and n."

    def build(self) -> "AbstractTask":
        """The task that the flags describe."""
        from ..tasks import LinearRegression, own_task, parse_inputs, parse_labels, parse_noise, parse_prior

        if self.task is not None:
            if self._laws():
                flag = "--" + self._laws()[0].replace("_", "-")
                raise ValueError(f"task is {self.task!r}, a task of its own with its own laws; leave out {flag}.")
            return own_task(self.task, self.d, self.n)
        return LinearRegression(
            self.d,
            self.n,
            parse_prior(self.prior, self.d, self.prior_mean, self.prior_scale),
            parse_inputs(self.inputs, self.d, self.input_condition, self.input_spectrum),
            parse_noise(self.noise),
            parse_labels(self.label_noise),
        )

    def plain_problem(self) -> "PlainProblem | None":
        """What closed forms need of the task, in NumPy and without JAX; None of other than plain Gaussian laws.

        It is None too where something is wrong with the numbers: `build` has the sentences for that.
        """
        laws = (self.prior, self.inputs, self.label_noise, self.task, self.input_spectrum)
        if laws != ("gaussian",) * 3 + (None,) * 2 or not 1 <= self.d <= PLAIN_D or self.n < 1:
            return None
        mean = self.prior_mean if isinstance(self.prior_mean, tuple) else (self.prior_mean,) * self.d
        try:
            sigma = float(self.noise)
        except ValueError:
            return None
        sound = (
            all(abs(number) < PLAIN_SIZE for number in (*mean, self.prior_scale, self.input_condition, sigma))
            and len(mean) == self.d
            and self.prior_scale >= 0
            and self.input_condition >= 1
            and sigma >= 0
        )
        if not sound:
            return None
        import numpy as np

        from ..forms import LONGEST, PlainProblem, conditioned_covariance

        if self.n > LONGEST:
            return None
        cov, inputs = self.prior_scale**2 * np.eye(self.d), conditioned_covariance(self.d, self.input_condition)
        return PlainProblem(np.array(mean), cov, inputs, self.n, np.float64(sigma**2), np.float64(sigma**4))

    def in_words(self) -> str:
        """One line for the head of a table."""
        sizes = f"d = {self.d}, n = {self.n}"
        if self.task is not None:
            return f"{sizes}, task {self.task}"
        located = f"{few(self.prior_mean)}, {self.prior_scale:g}"
        prior = f"N({located}²)" if self.prior == "gaussian" else f"{self.prior} ({located})"
        words = [sizes, f"prior {prior}"]
        if self.inputs != "gaussian":
            words.append(f"inputs {self.inputs}")
        if self.input_spectrum is None:
            words.append(f"input condition {self.input_condition:g}")
        else:
            words.append(f"input spectrum {few(self.input_spectrum)}")
        words.append(f"noise {self.noise}")
        if self.label_noise != "gaussian":
            words.append(f"label noise {self.label_noise}")
        return ", ".join(words)

    def as_json(self) -> dict[str, Any]:
        """For results: all flags; of a task of one's own, which has none of these laws, only its sizes and its name."""
        if self.task is None:
            return asdict(self)
        return {"d": self.d, "n": self.n, "task": self.task}

    def _laws(self) -> list[str]:
        """The flags of laws that were given other than by default."""
        laws = [field for field in fields(self) if field.name not in ("d", "n", "task")]
        return [field.name for field in laws if getattr(self, field.name) != field.default]

    def own_code(self) -> list[str]:
        """What is somebody's own among the laws and the task: references module:name, which building them imports."""
        from ..tasks import INPUTS, LABELS, NOISES, PRIORS

        laws = ((self.prior, PRIORS), (self.inputs, INPUTS), (self.noise, NOISES), (self.label_noise, LABELS))
        own = [
            ":".join(text.split(":")[:2])
            for text, ours in laws
            if ":" in text and text.split(":")[0] not in ours.names()
        ]
        return own if self.task is None else [*own, self.task]


def few(value: Any) -> str:
    """A text, a number, or numbers, of which only the first and the last are shown if they are many."""
    if isinstance(value, (tuple, list)):
        shown = value if len(value) <= FEW_NUMBERS else (*value[: FEW_NUMBERS - 1], "…", value[-1])
        return f"({', '.join(map(few, shown))})"
    return f"{value:g}" if isinstance(value, float) else str(value)


@Parameter(group=TASK)
@dataclass(frozen=True, kw_only=True)
class ShiftFlags:
    """Another task than the one that a model was trained on: what differs."""

    d: int | None = None
    "Another input dimension, for models that read any."
    n: int | None = None
    "Another context length."
    prior: str | None = None
    "Another law of tasks."
    prior_mean: Annotated[float | tuple[float, ...] | None, AS_LOCATION] = None
    "Another location of tasks: one number for all coordinates, or d of them (1,0,-1, or a file)."
    prior_scale: float | None = None
    "Another scale of tasks."
    inputs: str | None = None
    "Another law of inputs."
    input_condition: Annotated[float | None, Parameter(group=(TASK, COVARIANCE))] = None
    "Another condition number of the input covariance."
    input_spectrum: Annotated[str | tuple[float, ...] | None, AS_SPECTRUM] = None
    "Another spectrum of the input covariance: power:1.5, or d eigenvalues (4,1,0.25, or a file)."
    noise: str | None = None
    "Another noise level."
    label_noise: str | None = None
    "Another law of the label noise."
    task: str | None = None
    "A task of your own, as module:name."

    def applied(self, flags: TaskFlags) -> TaskFlags:
        """The other task."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in given.items() if value is not None}
        # Each says all of the covariance: the one takes the place of the other.
        if self.input_spectrum is not None:
            given["input_condition"] = 1.0
        elif self.input_condition is not None:
            given["input_spectrum"] = None
        return replace(flags, **given)
