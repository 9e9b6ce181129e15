"""Models on disk: safetensors, named by tree path, with a JSON description in the metadata. Nothing is executed.

The description of a module lists its kind and its fields: arrays with shape and dtype, plain values, modules, lists of
modules. Loading builds the module from that list, so every check of the class's own runs again.

A class is found by its name in the records of kinds: those of this package, those of the model's own file, and those
that the user names. A file can't name code.
"""

import dataclasses
import inspect
from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import _check, _tensors
from .._disk import write_whole
from .._predictor import AbstractPredictor
from ._kind import Kind, kind_of
from ._kinds import OURS, VARIABLE, Named, brought_along, named

FORMAT = "descant-model-1"
DTYPES = ("float32", "float64")


class Entry(NamedTuple):
    """A class that a file may hold, and the arguments that describe it; None for all its fields."""

    cls: type[eqx.Module]
    arguments: tuple[str, ...] | None


class Table:
    """The classes that may be in a file, by name."""

    def __init__(self, kinds: Iterable[Kind]):
        self._entries: dict[str, Entry] = {}
        self._complete = False
        self._enter([*OURS, *kinds])

    def get(self, name: str) -> Entry | None:
        """The class of a name. Installed packages and the environment are asked only where nobody else knows it."""
        if name not in self._entries and not self._complete:
            self._complete = True
            self._enter(brought_along())
        return self._entries.get(name)

    def names(self) -> str:
        """All names, for a sentence."""
        return ", ".join(self._entries)

    def _enter(self, kinds: Iterable[Kind]) -> None:
        kinds = list(kinds)
        # Models first: a model may be a part of another one, and its own record says how it is described.
        models = [Entry(kind.model, kind.arguments) for kind in kinds]
        for entry in (*models, *(Entry(part, None) for kind in kinds for part in kind.parts)):
            name = entry.cls.__name__
            if self._entries.setdefault(name, entry).cls is not entry.cls:
                raise ValueError(
                    f"two classes are called {name}, those of {self._entries[name].cls.__module__} and "
                    f"{entry.cls.__module__}; a file tells classes by their names: give yours another."
                )


def save(model: eqx.Module, path: str | Path, kinds: Named | Iterable[Named] = ()) -> None:
    """Write a model, whole or not at all.

    A model that would not be the same when it is loaded again is refused with a `ValueError`.

    **Arguments:** `kinds` are records, classes or `module:name`, one or many, of models of your own whose classes occur
    in the model; that of the model itself is found beside its class.

    >>> import tempfile, jax
    >>> from descant.attention import LSA, load, save
    >>> model = LSA.random(3, heads=2, key=jax.random.key(0))
    >>> path = Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> save(model, path)
    >>> bool(eqx.tree_equal(load(path), model))
    True
    """
    write_whole(Path(path), to_bytes(model, kinds))


def to_bytes(model: eqx.Module, kinds: Named | Iterable[Named] = ()) -> bytes:
    """What `save` writes; read back once, so that nothing is written that would load as another model.

    **Arguments:** those of `save`, without the path. Equal models give equal bytes.
    """
    tensors: dict[str, np.ndarray] = {}
    own = [kind_of(model)] if isinstance(model, AbstractPredictor) else []
    table = Table([*own, *named(kinds)])
    description = _describe(model, "", tensors, table)
    note = {"format": FORMAT, "model": description}
    try:
        again = _from_parts(note, tensors, table)
    except ValueError as error:
        raise ValueError(
            f"a {type(model).__name__} can't be saved, because it can't be loaded again: {error}"
        ) from None
    if not eqx.tree_equal(_in_bytes(again), _in_bytes(model)):
        raise ValueError(
            f"a {type(model).__name__} is not the same after it was saved and loaded; its constructor should keep what "
            "its fields hold, or its Kind should name the arguments that it is made from."
        )
    return _tensors.to_bytes(tensors, note)


def check_saving(model: eqx.Module, kinds: Named | Iterable[Named] = ()) -> None:
    """Raise a `ValueError` if a model can't be saved, or would not be the same when it is loaded again."""
    to_bytes(model, kinds)


def load(path: str | Path, kinds: Named | Iterable[Named] = ()) -> Any:
    """Read a model; anything unexpected in the file is a `ValueError` that says what and where.

    **Arguments:** `kinds` are records, classes or `module:name`, one or many, of your own models that the file may
    hold. Those of installed packages (entry points in the group `descant.kinds`) and of the environment variable
    DESCANT_KINDS are known too. A file never says what code to run.

    **Returns:** the model, equal to what was saved; `save` has an example.
    """
    path, table = Path(path), Table(named(kinds))
    try:
        tensors, note = _tensors.read(path, "expected a model that Descant saved: save or train it again")
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; expected a model that was saved as safetensors.") from None
    try:
        return _from_parts(note, tensors, table)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from None


def _from_parts(note: dict[str, Any], tensors: dict[str, np.ndarray], table: Table) -> Any:
    if note.get("format") != FORMAT:
        raise ValueError(f"the file's format is not {FORMAT!r}; it was saved by another version of Descant.")
    left = dict(tensors)
    model = _build(note.get("model"), "", left, table)
    if left:
        raise ValueError(f"the file holds tensors that the model has no place for: {', '.join(sorted(left))}.")
    return model


def _describe(value: Any, path: str, tensors: dict[str, np.ndarray], table: Table) -> Any:
    """The JSON description of a field; arrays go into `tensors` under their path."""
    if isinstance(value, (jax.Array, np.ndarray)):
        array = np.asarray(value)
        _check.one_of(f"the dtype of {path}", array.dtype.name, DTYPES)
        tensors[path] = np.array(array, order="C")
        return {"array": list(array.shape), "dtype": array.dtype.name}
    if isinstance(value, tuple):
        return [_describe(item, _join(path, str(index)), tensors, table) for index, item in enumerate(value)]
    if not isinstance(value, eqx.Module):
        if not (value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and isfinite(value))):
            raise ValueError(
                f"{path or 'the model'} is {value!r}, which can't be saved; a file holds arrays, finite numbers, "
                "words, switches, tuples and modules."
            )
        return value
    kind = type(value).__name__
    entry = table.get(kind)
    if entry is None or entry.cls is not type(value):
        raise ValueError(
            f"{path or 'the model'} is a {kind}, which can't be saved because no record lists it; write a Kind beside "
            f"its class, or list it among the parts of the Kind that uses it. Known: {table.names()}."
        )
    if entry.arguments is not None:
        return {"kind": kind, "fields": _describe_arguments(value, entry.arguments, path, tensors, table)}
    fields = [field.name for field in dataclasses.fields(value)]
    described = {name: _describe(getattr(value, name), _join(path, name), tensors, table) for name in fields}
    return {"kind": kind, "fields": described}


def _build(description: Any, path: str, tensors: dict[str, np.ndarray], table: Table, static_type: Any = None) -> Any:
    """The inverse of `_describe`; takes what it uses out of `tensors`."""
    where = path or "the model"
    match description:
        case {"array": shape, "dtype": dtype}:
            return _take(tensors, path, shape, dtype)
        case {"kind": str(kind), "fields": dict(fields)}:
            entry = table.get(kind)
            if entry is None:
                raise ValueError(
                    f"{where} is of the unknown kind {kind!r}; known: {table.names()}. If it is your own, name it: "
                    "kinds=[...] in Python, --kinds module:name on the command line, or the environment variable "
                    f"{VARIABLE}."
                )
            if entry.arguments is not None:
                return _build_arguments(entry, fields, path, tensors, table)
            expected = _field_types(entry.cls)
            _same_names(kind, set(fields), set(expected), where)
            built = {name: _build(fields[name], _join(path, name), tensors, table, expected[name]) for name in expected}
            return _construct(entry.cls, built, where)
        case list(items) if static_type not in (bool, int, float, str):
            return tuple(_build(item, _join(path, str(index)), tensors, table) for index, item in enumerate(items))
        case float() if not isfinite(description):
            raise ValueError(f"{where} is {description}; expected a finite number.")
        case None | bool() | int() | float() | str():
            if static_type is not None and not _fits(description, static_type):
                raise ValueError(f"{where} is {description!r}, which is not of its type.")
            return description
    raise ValueError(f"{where} has a description that is not understood.")


def _same_names(kind: str, given: set[str], expected: set[str], where: str) -> None:
    if given != expected:
        odd = ", ".join(sorted(given ^ expected))
        raise ValueError(f"{where} lacks, or has too many, of the fields of {kind}: {odd}.")


def _construct(cls: type[eqx.Module], fields: dict[str, Any], where: str) -> eqx.Module:
    """Make the module, so that its own checks run; a part of the wrong type is an error like any other."""
    try:
        return cls(**fields)
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{where} can't be a {cls.__name__}: {error}.") from None


def _fits(value: Any, annotation: Any) -> bool:
    """Whether a plain value is of the type of its field; arrays and modules are checked elsewhere."""
    origin, members = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return any(_fits(value, member) for member in members)
    if origin is Literal:
        return any(type(value) is type(member) and value == member for member in members)
    # A whole number may stand where a float is expected, as in Python.
    return annotation is Any or type(value) is annotation or (annotation is float and type(value) is int)


def _field_types(cls: type[eqx.Module]) -> dict[str, Any]:
    """The types of a class's fields, those that were written as text looked up; Any where that fails.

    Field by field, because one name that only type checkers see should not hide the types of all others.
    """
    types: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        for name, annotation in inspect.get_annotations(base).items():
            alone = type(base.__name__, (), {"__module__": base.__module__, "__annotations__": {name: annotation}})
            try:
                types[name] = get_type_hints(alone)[name]
            except (NameError, AttributeError, SyntaxError, TypeError):
                types[name] = Any
    return {field.name: types[field.name] for field in dataclasses.fields(cls)}


def _in_bytes(model: Any) -> Any:
    """The model with its arrays as bytes: as such NaN equals NaN, and a training may have ended there."""

    def in_bytes(leaf):
        is_array = isinstance(leaf, (jax.Array, np.ndarray))
        return (leaf.dtype.name, leaf.shape, np.asarray(leaf).tobytes()) if is_array else leaf

    return jax.tree.map(in_bytes, model)


def _take(tensors: dict[str, np.ndarray], path: str, shape: list[int], dtype: str) -> jax.Array:
    if path not in tensors:
        raise ValueError(f"the tensor {path} is missing.")
    array = tensors.pop(path)
    _check.one_of(f"the dtype of {path}", dtype, DTYPES)
    if list(array.shape) != shape or array.dtype.name != dtype:
        raise ValueError(
            f"the tensor {path} is {array.dtype.name} of shape {list(array.shape)}; the description says {dtype} of "
            f"shape {shape}."
        )
    return jnp.asarray(array)


def _describe_arguments(
    model: eqx.Module, names: tuple[str, ...], path: str, tensors: dict[str, np.ndarray], table: Table
) -> dict[str, Any]:
    """The arguments that a model is made from, and beside them all arrays that are not those of an argument."""
    fields = {name: _describe(getattr(model, name), _join(path, name), tensors, table) for name in names}
    dtypes = {leaf.dtype.name for _, leaf in _named_leaves(model)}
    if len(dtypes) != 1:
        raise ValueError(f"{path or 'the model'} mixes dtypes {sorted(dtypes)}; expected one.")
    fields["dtype"] = dtypes.pop()
    for name, leaf in _named_leaves(model):
        tensors.setdefault(_join(path, name), np.array(leaf, order="C"))
    return fields


def _build_arguments(
    entry: Entry, fields: dict[str, Any], path: str, tensors: dict[str, np.ndarray], table: Table
) -> eqx.Module:
    """Make the model from its arguments, as an outline without numbers, and put the arrays into their places."""
    where, names = path or "the model", entry.arguments or ()
    _same_names(entry.cls.__name__, set(fields), {*names, "dtype"}, where)
    dtype = str(fields["dtype"])
    _check.one_of(f"the dtype of {where}", dtype, DTYPES)
    types = _field_types(entry.cls)
    arguments = {name: _build(fields[name], _join(path, name), tensors, table, types.get(name)) for name in names}
    for name, value in arguments.items():
        expected = types.get(name)
        if isinstance(expected, type) and issubclass(expected, eqx.Module) and not isinstance(value, expected):
            raise ValueError(f"{_join(path, name)} is no {expected.__name__}.")
    extra = {"dtype": jnp.dtype(dtype), "key": jax.random.key(0)}
    accepted = inspect.signature(entry.cls).parameters
    extra = {name: value for name, value in extra.items() if name in accepted}
    outline = eqx.filter_eval_shape(lambda: _construct(entry.cls, {**arguments, **extra}, where))
    known = dict(_named_leaves(arguments))

    def fill(leaf_path, leaf):
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        name = _path(leaf_path)
        return known[name] if name in known else _take(tensors, _join(path, name), list(leaf.shape), leaf.dtype.name)

    return jax.tree_util.tree_map_with_path(fill, outline)


def _named_leaves(model: Any) -> list[tuple[str, Any]]:
    leaves = jax.tree_util.tree_leaves_with_path(model)
    arrays = [(path, leaf) for path, leaf in leaves if isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct))]
    return [(_path(path), leaf) for path, leaf in arrays]


def _path(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
