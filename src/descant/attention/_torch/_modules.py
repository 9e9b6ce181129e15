"""PyTorch counterparts of the models, written out plainly. Imported only where PyTorch is installed."""

# pyright: reportMissingImports=false
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .._guess import AbstractGuess, ConstantGuess, GivenGuess, LinearGuess, NoGuess


def _parameter(array: Any) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(np.array(array)))


def _optional(array: Any) -> nn.Parameter | None:
    return None if array is None else _parameter(array)


class Guess(nn.Module):
    """What stands in the label slot of the query."""

    def __init__(self, kind: str, value: Any = None):
        super().__init__()
        self.kind = kind
        self.value = _optional(value)

    @classmethod
    def of(cls, guess: AbstractGuess) -> "Guess":
        """The counterpart of a guess of ours."""
        match guess:
            case NoGuess():
                return cls("none")
            case LinearGuess(g=g):
                return cls("linear", g)
            case ConstantGuess(c=c):
                return cls("constant", c)
            case GivenGuess():
                return cls("given")
        raise ValueError(f"a {type(guess).__name__} has no PyTorch form.")

    def forward(self, x_query: Tensor, guess: Tensor | None) -> Tensor:
        """One number per prompt."""
        if self.kind == "given":
            if guess is None:
                raise ValueError("this model takes its guess from outside; pass guess.")
            return guess
        if self.value is None:
            return torch.zeros_like(x_query[..., 0])
        return x_query @ self.value if self.kind == "linear" else self.value.expand(x_query.shape[:-1])


def _tokens(x: Tensor, y: Tensor) -> Tensor:
    return torch.cat([x, y[..., None]], dim=-1)


class LSA(nn.Module):
    """`descant.attention.LSA`."""

    def __init__(self, v, u, guess: Guess, *, query_masked: bool, normalized: bool, residual: bool):
        super().__init__()
        self.v, self.u, self.guess = _parameter(v), _parameter(u), guess
        self.query_masked, self.normalized, self.residual = query_masked, normalized, residual

    def forward(self, x: Tensor, y: Tensor, x_query: Tensor, guess: Tensor | None = None) -> Tensor:
        """Predict."""
        y_q = self.guess(x_query, guess)
        query = _tokens(x_query, y_q)
        tokens = _tokens(x, y)
        gram = tokens.mT @ tokens
        if not self.query_masked:
            gram = gram + query[..., :, None] * query[..., None, :]
        out = torch.einsum("hi,...ij,hjl,...l->...", self.v, gram, self.u, query)
        if self.normalized:
            out = out / x.shape[-2]
        return out + y_q if self.residual else out


class MergedLTB(nn.Module):
    """`descant.attention.MergedLTB`."""

    def __init__(self, v, u, skip):
        super().__init__()
        self.v, self.u, self.skip = _parameter(v), _parameter(u), _parameter(skip)

    def forward(self, x: Tensor, y: Tensor, x_query: Tensor, guess: Tensor | None = None) -> Tensor:
        """Predict."""
        del guess
        tokens = _tokens(x, y)
        attention = torch.einsum("i,...ij,jl,...l->...", self.v, tokens.mT @ tokens, self.u, x_query)
        return x_query @ self.skip + attention / x.shape[-2]


class Transformer(nn.Module):
    """`descant.attention.Full`: updates all tokens, reads minus the query's label."""

    def __init__(self, p, q):
        super().__init__()
        self.p, self.q = _parameter(p), _parameter(q)

    def forward(self, x: Tensor, y: Tensor, x_query: Tensor, guess: Tensor | None = None) -> Tensor:
        """Predict."""
        del guess
        context, query = _tokens(x, y), _tokens(x_query, torch.zeros_like(x_query[..., 0]))
        for p, q in zip(self.p, self.q, strict=True):
            step = torch.einsum("kij,...jl,klm->...im", p, context.mT @ context, q)
            context, query = context + context @ step.mT, query + (step @ query[..., None])[..., 0]
        return -query[..., -1]


class ELSABlock(nn.Module):
    """`descant.attention.ELSABlock`."""

    def __init__(self, arrays: dict[str, Any], residual: bool):
        super().__init__()
        for name, array in arrays.items():
            self.register_parameter(name, _optional(array))
        self.residual = residual

    def forward(self, h: Tensor) -> Tensor:
        """One block."""
        key, value, query = (self._side(h, side) for side in "123")
        out = (query @ (key.mT @ value)).sum(dim=-3)
        return h + out if self.residual else out

    def _side(self, h: Tensor, side: str) -> Tensor:
        linear = h[..., None, :, :] @ self.get_parameter(f"w{side}")
        bias = getattr(self, f"b{side}")
        return linear if bias is None else linear + bias


class ELSA(nn.Module):
    """`descant.attention.ELSAPredictor` on the natural input."""

    def __init__(self, blocks: list[dict[str, Any]], residuals: list[bool], columns: int):
        super().__init__()
        self.blocks = nn.Sequential(*(ELSABlock(*block) for block in zip(blocks, residuals, strict=True)))
        self.columns = columns

    def forward(self, x: Tensor, y: Tensor, x_query: Tensor, guess: Tensor | None = None) -> Tensor:
        """Predict."""
        del guess
        h = torch.cat([_tokens(x, y), _tokens(x_query, torch.zeros_like(x_query[..., 0]))[..., None, :]], dim=-2)
        h = nn.functional.pad(h, (0, self.columns - h.shape[-1]))
        return self.blocks(h)[..., -1, -1]


class SoftmaxBlock(nn.Module):
    """A block of `descant.attention.SoftmaxTransformer`."""

    def __init__(self, arrays: Any, heads: int, causal: bool, mlp: str):
        super().__init__()
        self.heads, self.causal, self.mlp = heads, causal, mlp
        self.attention_norm = _norm(arrays.attention_norm)
        self.query, self.key = _linear(arrays.attention.query_proj), _linear(arrays.attention.key_proj)
        self.value, self.output = _linear(arrays.attention.value_proj), _linear(arrays.attention.output_proj)
        if mlp != "none":
            self.mlp_norm = _norm(arrays.mlp_norm)
            self.mlp_in, self.mlp_out = _linear(arrays.mlp_in), _linear(arrays.mlp_out)

    def forward(self, z: Tensor) -> Tensor:
        """One block on all tokens."""
        z = z + self._attend(self.attention_norm(z))
        if self.mlp == "none":
            return z
        hidden = self.mlp_in(self.mlp_norm(z))
        # JAX's GELU is the tanh approximation.
        active = hidden.relu() if self.mlp == "relu" else nn.functional.gelu(hidden, approximate="tanh")
        return z + self.mlp_out(active)

    def _attend(self, z: Tensor) -> Tensor:
        query, key, value = (
            part(z).unflatten(-1, (self.heads, -1)).movedim(-2, -3) for part in (self.query, self.key, self.value)
        )
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        if self.causal:
            length = z.shape[-2]
            scores = scores.masked_fill(
                ~torch.ones(length, length, dtype=torch.bool, device=z.device).tril(), -torch.inf
            )
        return self.output((scores.softmax(dim=-1) @ value).movedim(-3, -2).flatten(-2))


class Softmax(nn.Module):
    """`descant.attention.SoftmaxTransformer`."""

    def __init__(self, arrays: Any, model: Any, guess: Guess):
        super().__init__()
        self.embed = _linear(arrays.embed)
        self.place = _optional(arrays.place)
        self.blocks = nn.Sequential(*(SoftmaxBlock(b, model.heads, model.causal, model.mlp) for b in arrays.blocks))
        self.final_norm = _norm(arrays.final_norm)
        self.readout = _linear(arrays.readout)
        self.guess = guess

    def forward(self, x: Tensor, y: Tensor, x_query: Tensor, guess: Tensor | None = None) -> Tensor:
        """Predict."""
        query = _tokens(x_query, self.guess(x_query, guess))
        z = self.embed(torch.cat([_tokens(x, y), query[..., None, :]], dim=-2))
        if self.place is not None:
            if z.shape[-2] > self.place.shape[0]:
                raise ValueError(
                    f"the prompt has n = {z.shape[-2] - 1}; there are positions for {self.place.shape[0] - 1}."
                )
            z = z + self.place[: z.shape[-2]]
        return self.readout(self.final_norm(self.blocks(z)[..., -1, :]))[..., 0]


def _linear(arrays: Any) -> nn.Linear:
    out, size = arrays.weight.shape
    linear = nn.Linear(size, out, bias=arrays.bias is not None)
    linear.weight = _parameter(arrays.weight)
    if arrays.bias is not None:
        linear.bias = _parameter(arrays.bias.reshape(out))
    return linear


def _norm(arrays: Any) -> nn.LayerNorm:
    norm = nn.LayerNorm(arrays.weight.shape[0])
    norm.weight, norm.bias = _parameter(arrays.weight), _parameter(arrays.bias)
    return norm
