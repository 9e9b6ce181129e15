"""Models on disk: safetensors, named by tree path, with a JSON description in the metadata. Nothing is executed.

The description of a module lists its kind and its fields: arrays with shape and dtype, plain values, modules, lists of
modules. Loading builds the module from that list, so every check of the class's own runs again.
"""

import dataclasses
import json
from pathlib import Path
from types import UnionType
from typing import Any, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import safetensors
import safetensors.numpy

from .. import _check
from .._disk import write_whole
from ._axial import Axial
from ._elsa import ELSA, ELSABlock, ELSAPredictor, Repeated
from ._guess import AbstractGuess, ConstantGuess, GivenGuess, LinearGuess, NoGuess
from ._linear_transformer import Diag, FreeDiag, Full, GDPlusPlusTransformer
from ._lsa import LSA
from ._ltb import LTB, MergedLTB
from ._softmax import SoftmaxTransformer

FORMAT = "descant-model-1"
DTYPES = ("float32", "float64")
KINDS: dict[str, type[eqx.Module]] = {
    kind.__name__: kind
    for kind in (
        *(NoGuess, LinearGuess, ConstantGuess, GivenGuess),
        *(LSA, LTB, MergedLTB),
        *(Full, Axial, Diag, FreeDiag, GDPlusPlusTransformer),
        *(ELSA, ELSABlock, Repeated, ELSAPredictor, SoftmaxTransformer),
    )
}
# Kinds that are described by the arguments they are made from, because their parts are not ours.
MADE_FROM_ARGUMENTS = (SoftmaxTransformer,)


def save(model: eqx.Module, path: str | Path) -> None:
    """Write a model, whole or not at all.

    >>> import tempfile, jax
    >>> from descant.attention import LSA, load, save
    >>> model = LSA.random(3, heads=2, key=jax.random.key(0))
    >>> path = Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> save(model, path)
    >>> bool(eqx.tree_equal(load(path), model))
    True
    """
    write_whole(Path(path), to_bytes(model))


def to_bytes(model: eqx.Module) -> bytes:
    """What `save` writes."""
    tensors: dict[str, np.ndarray] = {}
    description = _describe(model, "", tensors)
    # Metadata must be sorted and compact, so that equal models are equal files.
    config = json.dumps({"format": FORMAT, "model": description}, sort_keys=True, separators=(",", ":"))
    return safetensors.numpy.save(tensors, metadata={"descant": config})


def load(path: str | Path) -> Any:
    """Read a model; anything unexpected in the file is a `ValueError` that says what and where."""
    path = Path(path)
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; expected a model that was saved as safetensors.") from None
    except (safetensors.SafetensorError, OSError) as error:
        raise ValueError(f"{path} can't be read as safetensors, it may be cut short or damaged: {error}.") from None
    try:
        return _from_parts(metadata, tensors)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _from_parts(metadata: dict[str, str], tensors: dict[str, np.ndarray]) -> Any:
    try:
        config = json.loads(metadata["descant"])
    except (KeyError, json.JSONDecodeError):
        raise ValueError("the file has no readable description under 'descant'; it was not saved by Descant.") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise ValueError(f"the file's format is not {FORMAT!r}; it was saved by another version of Descant.")
    left = dict(tensors)
    model = _build(config.get("model"), "", left)
    if left:
        raise ValueError(f"the file holds tensors that the model has no place for: {', '.join(sorted(left))}.")
    return model


def _describe(value: Any, path: str, tensors: dict[str, np.ndarray]) -> Any:
    """The JSON description of a field; arrays go into `tensors` under their path."""
    if isinstance(value, (jax.Array, np.ndarray)):
        array = np.asarray(value)
        _check.one_of(f"the dtype of {path}", array.dtype.name, DTYPES)
        tensors[path] = np.array(array, order="C")
        return {"array": list(array.shape), "dtype": array.dtype.name}
    if isinstance(value, tuple):
        return [_describe(item, _join(path, str(index)), tensors) for index, item in enumerate(value)]
    if not isinstance(value, eqx.Module):
        return value
    kind = type(value).__name__
    if KINDS.get(kind) is not type(value):
        raise ValueError(f"{path or 'the model'} is a {kind}, which can't be saved; known kinds: {', '.join(KINDS)}.")
    if isinstance(value, MADE_FROM_ARGUMENTS):
        return _describe_made(value, path, tensors)
    fields = {
        f.name: _describe(getattr(value, f.name), _join(path, f.name), tensors) for f in dataclasses.fields(value)
    }
    return {"kind": kind, "fields": fields}


def _build(description: Any, path: str, tensors: dict[str, np.ndarray], static_type: Any = None) -> Any:
    """The inverse of `_describe`; takes what it uses out of `tensors`."""
    where = path or "the model"
    match description:
        case {"array": shape, "dtype": dtype}:
            return _take(tensors, path, shape, dtype)
        case {"kind": str(kind), "fields": dict(fields)}:
            if kind not in KINDS:
                raise ValueError(f"{where} is of the unknown kind {kind!r}; known kinds: {', '.join(KINDS)}.")
            cls = KINDS[kind]
            if cls in MADE_FROM_ARGUMENTS:
                return _build_made(cls, fields, path, tensors)
            expected = {field.name: field.type for field in dataclasses.fields(cls)}
            if set(fields) != set(expected):
                odd = ", ".join(sorted(set(fields) ^ set(expected)))
                raise ValueError(f"{where} lacks, or has too many, of the fields of {kind}: {odd}.")
            built = {name: _build(fields[name], _join(path, name), tensors, expected[name]) for name in expected}
            return _construct(cls, built, where)
        case list(items):
            return tuple(_build(item, _join(path, str(index)), tensors) for index, item in enumerate(items))
        case None | bool() | int() | str():
            if static_type is not None and not _fits(description, static_type):
                raise ValueError(f"{where} is {description!r}, which is not of its type.")
            return description
    raise ValueError(f"{where} has a description that is not understood.")


def _construct(cls: type[eqx.Module], fields: dict[str, Any], where: str) -> eqx.Module:
    """Make the module, so that its own checks run; a part of the wrong type is an error like any other."""
    try:
        return cls(**fields)
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{where} can't be a {cls.__name__}: {error}.") from None


def _fits(value: Any, annotation: Any) -> bool:
    """Whether a plain value is of the type of its field; arrays and modules are checked elsewhere."""
    members = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    return any((value is None and member is type(None)) or type(value) is member for member in members)


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


def _describe_made(model: SoftmaxTransformer, path: str, tensors: dict[str, np.ndarray]) -> dict[str, Any]:
    dtypes = {leaf.dtype.name for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_array))}
    if len(dtypes) != 1:
        raise ValueError(f"{path or 'the model'} mixes dtypes {sorted(dtypes)}; expected one.")
    fields = {name: getattr(model, name) for name in ("d", "width", "depth", "heads", "mlp", "causal", "positions")}
    fields["dtype"] = dtypes.pop()
    fields["guess"] = _describe(model.guess, _join(path, "guess"), tensors)
    for name, leaf in _named_leaves(model):
        if not name.startswith("guess."):
            tensors[_join(path, name)] = np.asarray(leaf)
    return {"kind": type(model).__name__, "fields": fields}


def _build_made(cls: type[eqx.Module], fields: dict[str, Any], path: str, tensors: dict[str, np.ndarray]) -> eqx.Module:
    arguments = dict(fields)
    _check.one_of(f"the dtype of {path or 'the model'}", str(arguments.get("dtype")), DTYPES)
    guess = _build(arguments.pop("guess", None), _join(path, "guess"), tensors)
    if not isinstance(guess, AbstractGuess):
        raise ValueError(f"{_join(path, 'guess')} is no guess.")
    if not isinstance(arguments.get("causal"), bool):
        raise ValueError(f"{_join(path, 'causal')} is {arguments.get('causal')!r}, which is not of its type.")

    def skeleton():
        return _construct(cls, {**arguments, "key": jax.random.key(0)}, path or "the model")

    shape = eqx.filter_eval_shape(skeleton)
    names = iter([name for name, _ in _named_leaves(shape)])

    def fill(leaf):
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        return _take(tensors, _join(path, next(names)), list(leaf.shape), leaf.dtype.name)

    model = jax.tree.map(fill, shape)
    return eqx.tree_at(lambda made: made.guess, model, guess)


def _named_leaves(model: Any) -> list[tuple[str, Any]]:
    leaves = jax.tree_util.tree_leaves_with_path(model)
    arrays = [(path, leaf) for path, leaf in leaves if isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct))]
    return [(jax.tree_util.keystr(path, simple=True, separator="."), leaf) for path, leaf in arrays]


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
