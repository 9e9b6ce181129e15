"""Extended linear self-attention: linear attention with bias matrices (Hagiwara 2025)."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
from ..tasks import AbstractTask, Prompt
from ._kind import Kind


class ELSABlock(eqx.Module):
    """sum_h (H W3 + B3)(H W1 + B1)^T(H W2 + B2), plus H itself if `residual`, on an input H of r rows and c columns.

    A row is a token. W3 is the query, W1 the key, W2 the value; weights are (heads, c, c), biases (heads, r, c), or
    None for none at all: then the block is plain linear self-attention H W3 W1^T (H^T H) W2. No softmax, no mask, no
    1/n. Biases have a row per token, which ties a block with biases to one number of rows.

    >>> eye = jnp.eye(2)[None]
    >>> ELSABlock(eye, eye, eye)(jnp.ones((3, 2)))[0]
    Array([6., 6.], dtype=float64)
    """

    w1: Float[Array, "h c c"]
    w2: Float[Array, "h c c"]
    w3: Float[Array, "h c c"]
    b1: Float[Array, "h r c"] | None = None
    b2: Float[Array, "h r c"] | None = None
    b3: Float[Array, "h r c"] | None = None
    residual: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        if self.w1.ndim != 3 or 0 in self.w1.shape or self.w1.shape[1] != self.w1.shape[2]:
            raise ValueError(f"w1 has shape {self.w1.shape}; expected (heads, columns, columns).")
        for name in ("w2", "w3"):
            _check.shape(name, getattr(self, name), self.w1.shape, "w1 has it")
        biases = [bias for bias in (self.b1, self.b2, self.b3) if bias is not None]
        for bias in biases:
            if bias.ndim != 3 or bias.shape[::2] != self.w1.shape[:2] or bias.shape[1] != biases[0].shape[1]:
                raise ValueError(
                    f"a bias has shape {bias.shape}; expected (heads, rows, columns) with {self.w1.shape[0]} heads, "
                    f"{self.w1.shape[2]} columns and {biases[0].shape[1]} rows in all of them."
                )

    @classmethod
    def random(
        cls,
        rows: int,
        columns: int,
        heads: int = 1,
        *,
        key: PRNGKeyArray,
        bias: bool = True,
        residual: bool = True,
        scale: float = 0.3,
        dtype=float,
    ) -> "ELSABlock":
        """Normal weights of size scale / sqrt(columns), and with `bias` biases of size scale / sqrt(rows)."""
        for name, value in (("rows", rows), ("columns", columns), ("heads", heads)):
            _check.size(name, value)
        normal = jax.random.normal(key, (3, heads, columns + rows, columns), dtype)
        weights = scale / columns**0.5 * normal[:, :, :columns]
        biases = scale / rows**0.5 * normal[:, :, columns:] if bias else (None, None, None)
        return cls(*weights, *biases, residual=residual)

    @property
    def columns(self) -> int:
        """Columns of the input."""
        return self.w1.shape[-1]

    @property
    def heads(self) -> int:
        """Number of heads."""
        return self.w1.shape[0]

    def __call__(self, h: Float[Array, "r c"]) -> Float[Array, "r c"]:
        """One block. Of the two orders of the product, the one that forms the smaller square matrix."""
        rows, columns = h.shape
        if columns != self.columns:
            raise ValueError(f"the input has {columns} columns; this block was made for {self.columns}.")
        for name, bias in (("b1", self.b1), ("b2", self.b2), ("b3", self.b3)):
            if bias is not None:
                _check.shape(name, bias, (self.heads, rows, columns), f"the input has {rows} rows")
        key, value, query = (
            h @ w if b is None else h @ w + b for w, b in ((self.w1, self.b1), (self.w2, self.b2), (self.w3, self.b3))
        )
        if columns <= rows:
            # Heads side by side: their key-value products (c x c each) are summed by one product with the queries.
            inner = jnp.swapaxes(key, 1, 2) @ value
            out = jnp.swapaxes(query, 0, 1).reshape(rows, -1) @ inner.reshape(-1, columns)
        else:
            scores = query @ jnp.swapaxes(key, 1, 2)
            out = jnp.swapaxes(scores, 0, 1).reshape(rows, -1) @ value.reshape(-1, columns)
        return h + out if self.residual else out


class Repeated(eqx.Module):
    """Blocks that are run `count` times with the same weights, as a scan: compiling it costs the same for any count.

    Another `Repeated` may stand among them: loops in loops.
    """

    blocks: "tuple[ELSABlock | Repeated, ...]"
    count: int = eqx.field(static=True)

    def __check_init__(self):
        _same_columns(self.blocks)
        _check.size("count", self.count)

    @property
    def columns(self) -> int:
        """Columns of the input."""
        return self.blocks[0].columns

    def __call__(self, h: Float[Array, "r c"]) -> Float[Array, "r c"]:
        """All blocks, again and again."""
        return jax.lax.scan(lambda h, _: (_run(self.blocks, h), None), h, None, length=self.count)[0]


class ELSA(eqx.Module):
    """Blocks one after the other, on an input H (r, c). A network without biases takes inputs of any number of rows.

    **Arguments:** `blocks` are `ELSABlock`s or `Repeated` ones, at least one, all of the same columns.

    >>> eye = jnp.eye(2)[None]
    >>> block = ELSABlock(eye, eye, eye)
    >>> len(ELSA([block, Repeated((block,), 3)]).unrolled())
    4
    """

    blocks: tuple[ELSABlock | Repeated, ...]

    def __init__(self, blocks: Sequence[ELSABlock | Repeated]):
        self.blocks = tuple(blocks)

    def __check_init__(self):
        _same_columns(self.blocks)

    def unrolled(self) -> tuple[ELSABlock, ...]:
        """Every block as often as it is run."""
        return _unrolled(self.blocks)

    def __call__(self, h: Float[Array, "r c"]) -> Float[Array, "r c"]:
        """All blocks."""
        return _run(self.blocks, h)


def _same_columns(blocks: Sequence[ELSABlock | Repeated]) -> None:
    if not blocks:
        raise ValueError("blocks is empty; expected at least one block.")
    columns = {block.columns for block in blocks}
    if len(columns) > 1:
        raise ValueError(f"the blocks have {sorted(columns)} columns; expected the same number in all of them.")


def _unrolled(blocks: Sequence[ELSABlock | Repeated]) -> tuple[ELSABlock, ...]:
    parts = ((block,) if isinstance(block, ELSABlock) else _unrolled(block.blocks) * block.count for block in blocks)
    return tuple(each for part in parts for each in part)


def _run(blocks: Sequence[ELSABlock | Repeated], h: Float[Array, "r c"]) -> Float[Array, "r c"]:
    for block in blocks:
        h = block(h)
    return h


class ELSAPredictor(AbstractPredictor):
    """ELSA as an in-context learner on the natural input [X y 0; x_query^T 0 0]: the variables, simply listed.

    The last columns are empty scratch space; the prediction is read in the last of them, in the query's row.

    **Arguments:** `network` has at least d + 2 columns; if its blocks have biases, they have n + 1 rows.
    """

    network: ELSA

    def __check_init__(self):
        if self.network.blocks[0].columns < 3:
            raise ValueError("the network has fewer than 3 columns; expected d for x, one for y and one to answer in.")

    @classmethod
    def random(
        cls,
        d: int,
        n: int,
        blocks: int = 2,
        heads: int = 1,
        *,
        key: PRNGKeyArray,
        bias: bool = True,
        scratch: int = 1,
        scale: float = 0.3,
        dtype=float,
    ) -> "ELSAPredictor":
        """Random blocks with a residual for contexts of length n, with `scratch` empty columns."""
        for name, value in (("d", d), ("n", n), ("blocks", blocks), ("scratch", scratch)):
            _check.size(name, value)
        keys = jax.random.split(key, blocks)
        shape = {"bias": bias, "scale": scale, "dtype": dtype}
        return cls(ELSA([ELSABlock.random(n + 1, d + 1 + scratch, heads, key=each, **shape) for each in keys]))

    def embed(self, prompt: Prompt) -> Float[Array, "r c"]:
        """The natural input, (n + 1, columns): a row per token, the query last."""
        scratch = self.network.blocks[0].columns - prompt.d - 1
        if scratch < 1:
            raise ValueError(
                f"the prompt has d = {prompt.d}; a network of {prompt.d + 1 + scratch} columns holds at most "
                f"d = {prompt.d + scratch - 1}."
            )
        tokens = jnp.concatenate([prompt.x, prompt.x_query[None, :]])
        labels = jnp.append(prompt.y, jnp.zeros((), prompt.y.dtype))
        return jnp.pad(jnp.concatenate([tokens, labels[:, None]], axis=1), ((0, 0), (0, scratch)))

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Embed, run, read the query's answer."""
        return self.network(self.embed(prompt))[-1, -1]


# Size of the random weights for a context of one number.
SCALE = 0.6


def _make(task: AbstractTask, *, layers: int = 2, heads: int = 1, key: PRNGKeyArray) -> ELSAPredictor:
    # A block is a sum over the context of products of three weights: their size falls with its size.
    scale = SCALE / (task.n * task.d) ** (1 / 3)
    return ELSAPredictor.random(task.d, task.n, layers, heads, key=key, scale=scale)


def _torch(model: ELSAPredictor, d: int | None) -> Any:
    del d
    from ._torch import _modules  # noqa: PLC0415

    blocks = model.network.unrolled()
    arrays = [{name: getattr(block, name) for name in ("w1", "w2", "w3", "b1", "b2", "b3")} for block in blocks]
    return _modules.ELSA(arrays, [block.residual for block in blocks], model.network.blocks[0].columns)


KIND = Kind(
    name="elsa",
    sentence="extended linear self-attention, with bias matrices (ELSA)",
    model=ELSAPredictor,
    parts=(ELSA, ELSABlock, Repeated),
    make=_make,
    torch=_torch,
)
