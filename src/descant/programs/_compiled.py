"""The result: a network of extended linear self-attention with names, to run, to look into, to keep and to train on."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import _memory
from .._counted import counted
from .._disk import write_whole
from .._sealed import digest, unsealed
from ..attention import ELSA, load as load_model, to_bytes
from ._description import Description, Rectangle
from ._network import count_runs, flat_blocks

# The file with the weights, in a compiled program's folder.
WEIGHTS = "network.safetensors"
# The file that says what the weights mean, beside them.
PROGRAM = "program.json"
# Half a unit of float64 in the last place.
UNIT = 2.0**-53
# More runs of blocks than any program has that the language takes.
MOST_RUNS = 10**7


@dataclass(frozen=True)
class Sizes:
    """How large a network is. Blocks and heads count every run, parameters and non-zeros every shared weight once.

    `rows` and `columns` are those of H; the `distinct_` ones count what is repeated once.
    """

    rows: int
    columns: int
    blocks: int
    heads: int
    parameters: int
    nonzeros: int
    distinct_blocks: int
    distinct_heads: int

    @property
    def run(self) -> str:
        """What is run, in words: 1 block with 2 heads is run."""
        verb = "is" if self.blocks == 1 else "are"
        return f"{counted(self.blocks, 'block')} with {counted(self.heads, 'head')} {verb} run"


class CompiledProgram(eqx.Module):
    """A compiled program.

    `network` is an ordinary module whose weights can be trained further; `run` takes and gives arrays by name; calling
    it does the same without checks, inside of JAX transformations.

    >>> from descant.programs import compile_program
    >>> series = compile_program("neumann", n=1, k=1, T=3)
    >>> series.run({"A": [[0.5]], "B": [[1.0]]})["S"].tolist()
    [[1.875]]
    """

    network: ELSA
    description: Description = eqx.field(static=True)

    def embed(self, inputs: Mapping[str, Float[Array, "_ _"]]) -> Float[Array, "r c"]:
        """H before the first block, (rows, columns): the inputs, simply listed; what is not given is zero."""
        h = jnp.zeros((self.description.rows, self.description.columns))
        for each in self.description.inputs:
            if each.name in inputs and each.column >= 0:
                value = jnp.asarray(inputs[each.name], h.dtype)
                h = h.at[: each.rows, each.column : each.column + each.width].set(value)
        return h

    def read(self, h: Float[Array, "r c"]) -> dict[str, Float[Array, "_ _"]]:
        """The outputs in the last H, (rows, columns), by name."""
        return {each.name: _part(h, each) for each in self.description.outputs}

    def __call__(self, inputs: Mapping[str, Float[Array, "_ _"]]) -> dict[str, Float[Array, "_ _"]]:
        """Embed, run, read. Arrays by name, unchecked; may be compiled, mapped and differentiated."""
        return self.read(self.network(self.embed(inputs)))

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Float[np.ndarray, "_ _"]]:
        """Run on matrices by parameter name, as lists of rows or arrays; optional ones may be left out.

        **Returns:** the outputs by name, as NumPy arrays. A wrong name, shape or entry is a `ValueError`.
        """
        found = _jitted(self, {name: jnp.asarray(value, float) for name, value in self.checked(inputs).items()})
        # In the order of the return statement; JAX sorts dictionaries by name.
        return {each.name: np.asarray(found[each.name]) for each in self.description.outputs}

    def checked(self, inputs: Mapping[str, Any]) -> dict[str, Float[np.ndarray, "_ _"]]:
        """Arrays of the right names, shapes and kind, or a sentence that says what is wrong."""
        known = {each.name: each for each in self.description.inputs}
        for name in inputs:
            if name not in known:
                raise ValueError(
                    f"inputs has {name!r}; {self.description.program} takes {', '.join(known) or 'nothing'}."
                )
        found = {}
        for name, each in known.items():
            if name not in inputs:
                if not each.optional:
                    raise ValueError(f"inputs lacks {name}; expected a matrix of shape {(each.rows, each.width)}.")
                found[name] = np.zeros((each.rows, each.width))
                continue
            found[name] = _array(name, inputs[name], each)
        return found

    def states(self, inputs: Mapping[str, Any]) -> list[Float[np.ndarray, "r c"]]:
        """H before the first block and after each one, repeats included: (rows, columns) each."""
        return list(self._states(inputs))

    def _states(
        self, inputs: Mapping[str, Any], shaken: np.random.Generator | None = None
    ) -> Iterator[Float[np.ndarray, "r c"]]:
        h = np.zeros((self.description.rows, self.description.columns))
        given = self.checked(inputs)
        for each in self.description.inputs:
            if each.column >= 0:
                h[: each.rows, each.column : each.column + each.width] = given[each.name]
        yield h
        # Of a block that is run again and again the weights are fetched once.
        fetched: dict[int, tuple[np.ndarray, ...]] = {}
        for block in self.network.unrolled():
            if id(block) not in fetched:
                parts = (block.w1, block.w2, block.w3, block.b1, block.b2, block.b3)
                fetched[id(block)] = tuple(np.asarray(part) for part in parts)
            w1, w2, w3, b1, b2, b3 = fetched[id(block)]
            key, value, query = h @ w1 + b1, h @ w2 + b2, h @ w3 + b3
            new = (query @ (key.swapaxes(1, 2) @ value)).sum(0)
            if shaken is not None:
                # The magnitudes of all that is added up for an entry: rounding is relative to that.
                key, value, query = (abs(h) @ abs(w) + abs(b) for w, b in ((w1, b1), (w2, b2), (w3, b3)))
                sizes = (query @ (key.swapaxes(1, 2) @ value)).sum(0)
                new = new + shaken.uniform(-UNIT, UNIT, new.shape) * sizes
            h = new
            yield h

    def evaluate(self, inputs: Mapping[str, Any]) -> dict[str, Float[np.ndarray, "_ _"]]:
        """What `run` gives, block by block in NumPy: slower to run, but nothing is compiled for it first."""
        return self._outputs(deque(self._states(inputs), maxlen=1).pop())

    def _outputs(self, h: Float[np.ndarray, "r c"]) -> dict[str, Float[np.ndarray, "_ _"]]:
        return {each.name: h[: each.rows, each.column : each.column + each.width] for each in self.description.outputs}

    def spread(self, inputs: Mapping[str, Any], runs: int = 3) -> dict[str, float]:
        """How far rounding may move each output: the most that it moves in runs whose blocks are shaken.

        After each block every entry of H is moved by up to half a unit of float64 in the last place of what was added
        up for it, at random. So what cancels, or what a loop amplifies, shows; the same numbers every time.
        """
        plain, found = self.evaluate(inputs), dict.fromkeys((each.name for each in self.description.outputs), 0.0)
        for seed in range(runs):
            shaken = self._outputs(deque(self._states(inputs, np.random.default_rng(seed)), maxlen=1).pop())
            for name, value in shaken.items():
                # Numbers that overflow when they are shaken are lost: NaN counts as more than everything.
                moved = float(np.abs(value - plain[name]).max())
                found[name] = max(found[name], moved if moved == moved else np.inf)
        return found

    def magnitudes(self, inputs: Mapping[str, Any]) -> list[float]:
        """The largest entry of each H: there is no normalisation, so a diverging program shows here."""
        return [float(np.abs(h).max()) for h in self._states(inputs)]

    @property
    def sizes(self) -> Sizes:
        """Rows, columns, blocks, heads, parameters, non-zeros."""
        distinct, run = list(flat_blocks(self.network.blocks)), self.network.unrolled()
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(distinct)]
        return Sizes(
            self.description.rows,
            self.description.columns,
            len(run),
            sum(block.heads for block in run),
            sum(leaf.size for leaf in leaves),
            sum(int(np.count_nonzero(leaf)) for leaf in leaves),
            len(distinct),
            sum(block.heads for block in distinct),
        )

    def explain(self) -> str:
        """The network in words."""
        from .explain import in_words  # noqa: PLC0415, it knows this class

        return in_words(self)

    def svg(self) -> str:
        """The network as a picture."""
        from .explain import as_svg  # noqa: PLC0415, it knows this class

        return as_svg(self)

    def html(self) -> str:
        """The picture and the words as one page, which needs nothing else."""
        from .explain import as_html  # noqa: PLC0415, it knows this class

        return as_html(self)

    def save(self, folder: str | Path) -> None:
        """Write weights (safetensors) and description (JSON) into a folder; the description last, with their digest."""
        for name, content in self.files().items():
            write_whole(Path(folder) / name, content)

    def files(self) -> dict[str, bytes]:
        """What `save` writes, by the names of the files."""
        weights = to_bytes(self.network)
        return {WEIGHTS: weights, PROGRAM: self.description.as_json(digest(weights)).encode()}


def load(folder: str | Path) -> CompiledProgram:
    """Read a program that was saved; anything unexpected is a `ValueError` that says what and where.

    **Arguments:** `folder` is that of `CompiledProgram.save`, or of `descant compile ... --out folder`.

    >>> import tempfile
    >>> from descant.programs import compile_program
    >>> folder = tempfile.mkdtemp()
    >>> compile_program("neumann", n=1, k=1, T=3).save(folder)
    >>> load(folder).description.program
    'neumann'
    """
    folder = Path(folder)
    try:
        text, weights = (_content(folder / name) for name in (PROGRAM, WEIGHTS))
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(
            f"{folder} holds no compiled program; `descant compile ... --out {folder}` makes one."
        ) from None
    except OSError as error:
        raise ValueError(f"{error.filename} can't be read: {error.strerror}; compile it again.") from None
    try:
        description, expected = Description.from_json(unsealed(text))
    except ValueError as error:
        raise ValueError(f"{folder / PROGRAM} can't be read: {str(error).rstrip('.')}; compile it again.") from None
    if digest(weights) != expected:
        raise ValueError(f"{folder / WEIGHTS} is not the file that {PROGRAM} was written for; compile it again.")
    network = load_model(folder / WEIGHTS)
    if not isinstance(network, ELSA):
        raise ValueError(f"{folder / WEIGHTS} holds no ELSA network.")
    _check_fit(network, description, folder)
    return CompiledProgram(network, description)


def _content(path: Path) -> bytes:
    """The bytes of a file that fits into memory, three times: as it is, as it is understood, and as arrays."""
    _memory.need(str(path), 3 * path.stat().st_size, "it", bytes_each=1)
    return path.read_bytes()


def _check_fit(network: ELSA, description: Description, folder: Path) -> None:
    """Weights and description must speak of the same H, and of inputs and outputs where the blocks have them."""
    shape, blocks = (description.rows, description.columns), list(flat_blocks(network.blocks))
    for block in blocks:
        if block.b1 is None or block.b2 is None or block.b3 is None or block.b1.shape[1:] != shape:
            raise ValueError(f"{folder}: the weights are not for an H of {shape[0]} x {shape[1]}.")
        if block.residual:
            raise ValueError(f"{folder}: a block has a residual, which no compiled program has.")
    if len(blocks) != len(description.blocks):
        raise ValueError(f"{folder}: the description is of {len(description.blocks)} blocks, the weights have others.")
    runs = count_runs(network.blocks)
    if runs > MOST_RUNS:
        raise ValueError(f"{folder}: its blocks are run {runs} times; expected {MOST_RUNS} at the most.")
    inputs = [each for each in description.inputs if each.column >= 0]
    if not description.outputs:
        raise ValueError(f"{folder}: the description has no outputs.")
    for each in (*inputs, *description.outputs, *(each for text in description.blocks for each in text.places)):
        fits = 0 < each.rows <= shape[0] and 0 <= each.column <= shape[1] - each.width and each.width > 0
        if not fits:
            raise ValueError(f"{folder}: {each.name} does not lie in H.")
    for each in description.inputs:
        if each.column < -1 or min(each.rows, each.width) < 1:
            raise ValueError(f"{folder}: {each.name} does not lie in H.")
    for known in (description.inputs, description.outputs):
        names = [each.name for each in known]
        if len(set(names)) < len(names):
            raise ValueError(f"{folder}: the description has {max(names, key=names.count)} twice.")
    first, last = description.blocks[0].before, description.blocks[-1].after
    for wrong in (*_others(inputs, first), *_others(first, inputs)):
        raise ValueError(f"{folder}: {wrong} is not where the first block reads it.")
    for wrong in _others(description.outputs, last):
        raise ValueError(f"{folder}: {wrong} is not where the last block writes it.")


def _others(some: Iterable[Rectangle], known: Iterable[Rectangle]) -> list[str]:
    """The names of those that are not where one of the known ones is."""
    where = {(each.rows, each.width, each.column) for each in known}
    return [each.name for each in some if (each.rows, each.width, each.column) not in where]


@eqx.filter_jit
def _jitted(compiled: CompiledProgram, inputs: dict[str, Float[Array, "_ _"]]) -> dict[str, Float[Array, "_ _"]]:
    return compiled(inputs)


def _part(h: Float[Array, "r c"], each: Rectangle) -> Float[Array, "_ _"]:
    return h[: each.rows, each.column : each.column + each.width]


def _array(name: str, value: Any, each: Rectangle) -> Float[np.ndarray, "_ _"]:
    array = np.asarray(value)
    expected = (each.rows, each.width)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} has entries of type {array.dtype}; expected real numbers.")
    if array.shape != expected:
        column = " A vector is a matrix with one column." if array.ndim == 1 else ""
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}, for which it was compiled.{column}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} holds NaN or infinity; expected finite numbers.")
    return array.astype(float)
