"""Ridge regression by gradient descent, built by hand: the two constructions of Hagiwara 2025, sections 3.4 and 3.5.

The matrices of each head are not printed in the paper; these are derived, and equal plain gradient descent to rounding.
"""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float

from ... import _check
from ...attention import ELSA, ELSABlock, Repeated


@dataclass(frozen=True)
class RidgeByHand:
    """A network, the input it is made for, and where the weight vector stands after it."""

    network: ELSA
    input: Float[Array, "r c"]
    top: int
    column: int
    d: int

    def weights(self) -> Float[Array, " d"]:
        """Run the network and read w."""
        return self.network(self.input)[self.top : self.top + self.d, self.column]

    def __call__(self) -> Float[Array, ""]:
        """Run the network and its output module, and read the prediction <w, x_query>."""
        rows, columns = self.input.shape
        answer = output_module(rows, columns, query=self.column + 1, weights=self.column, row=0, column=0)
        return answer(self.network(self.input))[0, 0]


def ridge_as_lsa(
    x: Float[Array, "n d"], y: Float[Array, " n"], query: Float[Array, " d"], *, eta: float, lam: float, steps: int
) -> RidgeByHand:
    """Section 3.4: one head of plain linear self-attention with a residual, weights in {0, 1, -1}, on a designed input.

        H = [ sqrt(eta) X^T | sqrt(eta lam) I | sqrt(eta) X^T | w  | x_query ]
            [ sqrt(eta) y^T |        0        |       0       | -1 |    0    ]

    H^T H holds sqrt(eta) (X w - y) and sqrt(eta lam) w in the column of w. The second, label-free copy of X^T is what
    the design buys: without it the step would also change the -1.
    """
    _check_step(eta, lam, steps)
    n, d = x.shape
    root = jnp.sqrt(jnp.asarray(eta))
    labelled, penalty, plain = slice(0, n), slice(n, n + d), slice(n + d, 2 * n + d)
    column, columns = 2 * n + d, 2 * n + d + 2
    h = jnp.zeros((d + 1, columns))
    h = h.at[:d, labelled].set(root * x.T).at[d, labelled].set(root * y)
    h = h.at[:d, penalty].set(jnp.sqrt(jnp.asarray(eta * lam)) * jnp.eye(d)).at[:d, plain].set(root * x.T)
    h = h.at[d, column].set(-1.0).at[:d, column + 1].set(query)
    w3 = jnp.zeros((columns, columns)).at[plain, labelled].set(-jnp.eye(n)).at[penalty, penalty].set(-jnp.eye(d))
    w2 = jnp.zeros((columns, columns)).at[column, column].set(1.0)
    block = ELSABlock(jnp.eye(columns)[None], w2[None], w3[None], residual=True)
    return RidgeByHand(ELSA([Repeated((block,), steps)]), h, 0, column, d)


def ridge_as_elsa(
    x: Float[Array, "n d"],
    y: Float[Array, " n"],
    query: Float[Array, " d"],
    *,
    eta: float,
    lam: float,
    steps: int,
    in_weights: bool = True,
) -> RidgeByHand:
    """Section 3.5: the variables simply listed in H, two blocks of two heads per iteration, no external residual.

    With `in_weights`, eta and lambda are weights and H = [X y 0 0 0; 0 0 w x_query 0]; otherwise they are in the input,
    as lambda I and eta I beside w. Block A writes [X w - y; lam w] into the scratch column, block B subtracts eta times
    [X; I]^T of it from w and clears it.
    """
    _check_step(eta, lam, steps)
    n, d = x.shape
    rows, extra = n + d, 0 if in_weights else 2 * d
    label, w, scratch = d, d + 1, d + 3 + extra
    columns = scratch + 1
    h = jnp.zeros((rows, columns)).at[:n, :d].set(x).at[:n, label].set(y).at[n:, w + 1].set(query)
    if in_weights:
        blocks = _elsa_blocks_with_weights(n, d, eta, lam, columns)
    else:
        h = h.at[n:, d + 3 : 2 * d + 3].set(lam * jnp.eye(d)).at[n:, 2 * d + 3 : scratch].set(eta * jnp.eye(d))
        blocks = _elsa_blocks_with_inputs(n, d, columns)
    return RidgeByHand(ELSA([Repeated(blocks, steps)]), h, n, w, d)


def output_module(rows: int, columns: int, *, query: int, weights: int, row: int, column: int) -> ELSABlock:
    """One head that reads <w, x_query> from two columns and writes it at (row, column): B3 H^T H W2."""
    unit = jnp.eye(columns)
    b3 = jnp.outer(jnp.eye(rows)[row], unit[query])
    return _block([_with_zeros(rows, columns, b3=b3, w1=unit, w2=jnp.outer(unit[weights], unit[column]))])


def _elsa_blocks_with_weights(n: int, d: int, eta: float, lam: float, columns: int) -> tuple[ELSABlock, ...]:
    rows, label, w, scratch = n + d, d, d + 1, columns - 1
    unit, eye = jnp.eye(columns), jnp.eye(d)
    clear = jnp.eye(columns) - jnp.outer(unit[scratch], unit[scratch])
    first = [
        _carry(rows, clear - jnp.outer(unit[label], unit[scratch])),
        # X w: the columns of X meet the rows of w.
        _with_zeros(
            rows,
            columns,
            w3=jnp.zeros((columns, columns)).at[:d, :d].set(eye),
            b1=jnp.zeros((rows, columns)).at[n:, :d].set(eye),
            w2=jnp.outer(unit[w], unit[scratch]),
        ),
    ]
    second = [
        _carry(rows, clear - eta * lam * jnp.outer(unit[w], unit[w])),
        _with_zeros(
            rows,
            columns,
            b3=jnp.zeros((rows, columns)).at[n:, :d].set(eye),
            w1=jnp.zeros((columns, columns)).at[:d, :d].set(eye),
            w2=-eta * jnp.outer(unit[scratch], unit[w]),
        ),
    ]
    return _block(first), _block(second)


def _elsa_blocks_with_inputs(n: int, d: int, columns: int) -> tuple[ELSABlock, ...]:
    rows, label, w, scratch = n + d, d, d + 1, columns - 1
    penalty, step = slice(d + 3, 2 * d + 3), slice(2 * d + 3, 3 * d + 3)
    unit, eye = jnp.eye(columns), jnp.eye(d)
    clear = jnp.eye(columns) - jnp.outer(unit[scratch], unit[scratch])
    # [X; lam I] w in one head: the columns of both meet the rows of w.
    meets = jnp.zeros((rows, columns)).at[n:, :d].set(eye).at[n:, penalty].set(eye)
    first = [
        _carry(rows, clear - jnp.outer(unit[label], unit[scratch])),
        _with_zeros(rows, columns, w3=jnp.eye(columns), b1=meets, w2=jnp.outer(unit[w], unit[scratch])),
    ]
    second = [
        _carry(rows, clear),
        # (eta I) [X; I]^T scratch: weight and bias are both active in the key.
        _with_zeros(
            rows,
            columns,
            w3=jnp.zeros((columns, columns)).at[step, :d].set(eye),
            w1=jnp.zeros((columns, columns)).at[:d, :d].set(eye),
            b1=jnp.zeros((rows, columns)).at[n:, :d].set(eye),
            w2=-jnp.outer(unit[scratch], unit[w]),
        ),
    ]
    return _block(first), _block(second)


def _carry(rows: int, right: Array) -> dict[str, Array]:
    """H times a constant."""
    columns = right.shape[0]
    eye = jnp.eye(rows, columns)
    weights = {"w3": right, "b1": eye, "b2": eye} if rows >= columns else {"b3": eye, "b1": eye, "w2": right}
    return _with_zeros(rows, columns, **weights)


def _with_zeros(rows: int, columns: int, **weights: Array) -> dict[str, Array]:
    shapes = {"w": (columns, columns), "b": (rows, columns)}
    return {name: weights.get(name, jnp.zeros(shapes[name[0]])) for name in ("w1", "w2", "w3", "b1", "b2", "b3")}


def _block(heads: list[dict[str, Array]]) -> ELSABlock:
    w1, w2, w3, b1, b2, b3 = (
        jnp.stack([head[name] for head in heads]) for name in ("w1", "w2", "w3", "b1", "b2", "b3")
    )
    return ELSABlock(w1, w2, w3, b1, b2, b3)


def _check_step(eta: float, lam: float, steps: int) -> None:
    _check.size("steps", steps)
    _check.not_negative("eta", eta)
    _check.not_negative("lam", lam)
