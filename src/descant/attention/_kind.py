"""A kind of model is one record: all that commands, trainers and files need to know of it beside its class.

The record stands in the file of its class. There it is found wherever a model of the class turns up, ours or a user's.
"""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
from jaxtyping import PRNGKeyArray

from .. import _check, _memory
from .._predictor import AbstractPredictor
from ..tasks import AbstractTask
from ._starts import fresh

# Options that count something; the others are words and switches.
COUNTS = ("layers", "heads")
# Deeper networks take hours to compile.
MOST_LAYERS = 1000
# What may be asked of any model: one layer, one head, nothing tied, the query masked.
NEUTRAL = {"layers": 1, "heads": 1, "tied": False, "query_masked": True, "causal": False}


class Prepared(NamedTuple):
    """Contexts in a form in which a kind of model is cheaper than on their moments.

    `prepare(moments)` takes the moments of many contexts at once, with a leading axis;
    `weights(model, context)` one of the prepared contexts, and gives the weight vector (d,).
    """

    prepare: Callable[[Any], Any]
    weights: Callable[[Any, Any], Any]


def _one_layer(model: Any) -> int:
    del model
    return 1


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of model: its name and class, how it is made, started, trained, saved, and what is known of it.

    **Arguments:**

    - `name`: what it is called on the command line; `sentence`: what it is, for lists of models.
    - `model`: its class. `parts`: classes of modules that stand in its fields, so that they are saved with it.
    - `make(task, *, key, ...)`: a model with random weights, of the size that the task's contexts call for. Its keyword
      arguments beside the key are the options of the kind, with their defaults; the command line has flags for
      `layers`, `heads`, `tied`, `query_masked`, `mlp` and `causal`.
    - `restart(model, task, key)`: other random weights of the same shapes; left out, normal numbers of each
      array's size.
    - `levels(model, task, random_starts, every_depth)`: simpler models on the way to it, for the solver `lm`, its own
      level last; left out, only its own.
    - `layers(model)`: how many layers it has; the more, the more rare contexts the solver `lm` draws.
    - `prepared`: a form of contexts in which it is cheaper than on moments.
    - `reduced(model)`: another model that is the same function, with fewer numbers, or with arrays of which each has
      less behind it; the solver `lm` differentiates by them, one array at a time, and they by the model's own.
    - `arguments`: names of the constructor's arguments that a file describes it by, each a field of the same name; left
      out, a file holds all its fields. Needed where a field is another library's module, such as `equinox.nn.Linear`.
    - `torch(model, d)`: the same model as a PyTorch module.
    - `optimum(**options)`: name and options of its best member for `measure.best`, where theory knows it.

    >>> from descant import LinearRegression, attention as at
    >>> import jax
    >>> kind = at.Kind(
    ...     name="small-lsa",
    ...     sentence="one head",
    ...     model=at.LSA,
    ...     make=lambda task, *, key: at.LSA.random(task.d, key=key),
    ... )
    >>> kind.made(LinearRegression(3, 5), key=jax.random.key(0)).heads
    1
    """

    name: str
    sentence: str
    model: type[AbstractPredictor]
    make: Callable[..., Any]
    parts: tuple[type[eqx.Module], ...] = ()
    restart: Callable[[Any, AbstractTask, PRNGKeyArray], Any] = fresh
    levels: Callable[..., list[Any]] | None = None
    layers: Callable[[Any], int] = _one_layer
    prepared: Prepared | None = None
    reduced: Callable[[Any], Any] | None = None
    arguments: tuple[str, ...] | None = None
    torch: Callable[[Any, int | None], Any] | None = None
    optimum: Callable[..., dict[str, Any] | None] | None = None

    @classmethod
    def of(cls, model: type) -> "Kind":
        """The record that stands beside a class in its module; if there is none, one of defaults.

        Models of such a class are made by its classmethod `random(task, *, key)`.
        """
        beside = _beside(model)
        if beside is not None:
            return beside
        sentence = (model.__doc__ or model.__name__).strip().partition("\n")[0]
        make = getattr(model, "random", None) or _nothing_makes(model)
        return cls(name=f"{model.__module__}:{model.__qualname__}", sentence=sentence, model=model, make=make)

    @property
    def options(self) -> dict[str, Any]:
        """The options of `make`, with their defaults; `inspect.Parameter.empty` for one that has none."""
        parameters = inspect.signature(self.make).parameters.values()
        return {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY and each.name != "key"}

    def chosen(self, **options: Any) -> dict[str, Any]:
        """All options of the kind: as given, or its defaults for None; an option that it doesn't have is refused."""
        for name, value in options.items():
            if name in COUNTS and value is not None:
                _check.size(name, value, most=MOST_LAYERS if name == "layers" else None)
            if value is not None and name not in self.options and NEUTRAL.get(name) != value:
                known = ", ".join(self.options) or "none"
                raise ValueError(f"{name} is {value!r}, but {self.name} has no such option; its options: {known}.")
        chosen = {
            name: default if options.get(name) is None else options[name] for name, default in self.options.items()
        }
        for name, value in chosen.items():
            if value is inspect.Parameter.empty:
                raise ValueError(f"{name} is left out, but {self.name} has no default for it; expected a value.")
        return chosen

    def made(self, task: AbstractTask, *, key: PRNGKeyArray, **options: Any) -> Any:
        """A model with random weights; options that are None are the kind's defaults."""
        chosen = self.chosen(**options)
        layers, heads = (chosen.get(name) or 1 for name in COUNTS)
        # The largest have a few dense matrices per head and layer.
        size = 4 * layers * heads * (task.d + 1) ** 2
        _memory.need(f"{self.name} with {layers} layers and {heads} heads in d = {task.d} dimensions", size, "them")
        return self.make(task, key=key, **chosen)


def kind_of(model: Any) -> Kind:
    """The record of a model: the `Kind` that stands beside its class, or one of defaults.

    >>> import jax
    >>> from descant import attention as at
    >>> kind_of(at.LSA.random(3, key=jax.random.key(0))).name
    'lsa'
    """
    return Kind.of(type(model))


def random_start(model: AbstractPredictor, task: AbstractTask, key: PRNGKeyArray) -> Any:
    """Other random weights for the same kind of model, of the size that the task's contexts call for.

    **Arguments:** `model` gives the kind and the shapes; its own weights are looked at for their size, if at all.
    """
    return kind_of(model).restart(model, task, key)


def as_kind(thing: Any) -> Kind:
    """A record itself, or that of a class: what a user's `module:name` may stand for."""
    if isinstance(thing, type) and issubclass(thing, AbstractPredictor):
        return Kind.of(thing)
    if not isinstance(thing, Kind):
        raise ValueError(f"model is {thing!r}; expected a Kind, or a subclass of AbstractPredictor.")
    if _beside(thing.model) is None:
        raise ValueError(
            f"the record {thing.name!r} does not stand in the module of its class, {thing.model.__module__}; put it "
            f"there, so that it is found wherever a {thing.model.__name__} turns up."
        )
    return thing


def _beside(model: type) -> Kind | None:
    records = vars(sys.modules[model.__module__]).values()
    return next((each for each in records if isinstance(each, Kind) and each.model is model), None)


def _nothing_makes(model: type) -> Callable[..., Any]:
    def make(task, *, key):
        raise ValueError(
            f"{model.__name__} has no classmethod random(task, *, key) that makes one; write it, "
            "or a Kind beside the class."
        )

    return make
