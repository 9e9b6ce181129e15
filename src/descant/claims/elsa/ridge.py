"""Ridge regression by gradient descent: plain attention on a designed input, ELSA on the natural one."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from ...programs.paper import RidgeByHand, output_module, ridge_as_elsa, ridge_as_lsa
from .. import Axis, Check, Evidence, Figure, Lab, Panel, Series, Table, claim, equal, shown
from ._descent import Ridge, draw
from ._formula import output, outputs

# Samples and dimensions: fewer samples, and more. The last one is shown.
SIZES = ((3, 6), (29, 8))
STEPS = 60
DRAWS = 6
REASON = "Rounding: some hundred products per step over 60 steps, and descent forgets early errors."


def _errors(construct: Callable[[Ridge], RidgeByHand], problem: Ridge) -> tuple[float, float, list[float]]:
    """Worst relative error of any iterate and of the prediction; and the distances to ridge on the way."""
    by_hand = construct(problem)
    states = outputs(by_hand.network, np.asarray(by_hand.input))
    per_step = (len(states) - 1) // STEPS
    rows = slice(by_hand.top, by_hand.top + by_hand.d)
    found = [state[rows, by_hand.column] for state in states[::per_step]]
    wanted = problem.path(np.zeros(by_hand.d), STEPS)
    scale = max(float(np.abs(w).max()) for w in wanted)
    weights = max(float(np.abs(a - b).max()) for a, b in zip(found, wanted, strict=True)) / scale
    m, n = states[0].shape
    module = output_module(m, n, query=by_hand.column + 1, weights=by_hand.column, row=0, column=0)
    prediction = abs(output(module, states[-1])[0, 0] - wanted[-1] @ problem.query) / (scale * by_hand.d)
    solution = problem.solution()
    return weights, float(prediction), [float(np.linalg.norm(w - solution)) for w in found]


def _judged(lab: Lab, constructions: dict[str, Callable[[Ridge], RidgeByHand]]) -> tuple[list[Check], Figure, Table]:
    """All constructions on the same random problems."""
    random = np.random.default_rng(lab.seed)
    problems = [draw(n, d, random) for n, d in SIZES for _ in range(DRAWS)]
    checks, rows, curves = [], [], {}
    for name, construct in constructions.items():
        weights, predictions, distances = zip(*(_errors(construct, problem) for problem in problems), strict=True)
        curves[name] = distances[-1]
        by_hand = construct(problems[-1])
        m, n = by_hand.input.shape
        blocks = by_hand.network.unrolled()
        rows.append((name, f"{m} × {n}", len(blocks) // STEPS, blocks[0].heads, max(weights), max(predictions)))
        checks += [
            equal(_iterate(name), max(weights), 0.0, against="iterate", tolerance=1e-13, reason=REASON),
            equal(
                f"{name}: worst relative error of the prediction",
                max(predictions),
                0.0,
                against="prediction",
                tolerance=1e-13,
                reason=REASON,
            ),
        ]
    shown_one = problems[-1]
    solution = shown_one.solution()
    plain = [float(np.linalg.norm(w - solution)) for w in shown_one.path(np.zeros(len(solution)), STEPS)]
    steps = tuple(range(STEPS + 1))
    figure = Figure(
        "ridge",
        "Distance to the ridge estimate after each iteration",
        "The network's points lie on the line of plain gradient descent: the two are the same.",
        (
            Panel(
                "one of the problems (29 samples, d = 8)",
                Axis("iterations"),
                Axis("|w_t − ridge|", log=True),
                (
                    Series("gradient descent", steps, tuple(plain), style="line"),
                    *(Series(name, steps[::6], tuple(curve[::6]), style="points") for name, curve in curves.items()),
                ),
            ),
        ),
        columns=1,
    )
    table = Table(
        "constructions",
        "Constructions, and how far they are from gradient descent",
        (
            "construction",
            "H, 29 samples, d = 8",
            "blocks per iteration",
            "heads",
            "worst error of w",
            "worst error of the prediction",
        ),
        tuple(rows),
        f"{DRAWS} random problems for each of {len(SIZES)} sizes, {STEPS} iterations, "
        "errors relative to the largest iterate.",
    )
    return checks, figure, table


def _iterate(name: str) -> str:
    return f"{name}: worst relative error of an iterate"


REFUTED = {
    "iterate": "An iterate away from gradient descent by more than rounding.",
    "prediction": "A prediction away from that of gradient descent by more than rounding.",
}


@claim(
    "elsa-ridge-lsa",
    paper="elsa",
    whose="paper",
    seen="summary",
    identity=True,
    where="Section 3.4; input and weights are derived",
    title="Plain attention with a residual performs ridge descent on a designed input",
    statement=r"""
        With a specially designed input, stacked modules of plain linear self-attention with a residual and shared
        weights perform gradient descent on $\tfrac12|y-Xw|^2 + \tfrac\lambda2|w|^2$, and an output module reads
        $\langle w_T, x_q\rangle$. One head per iteration with weights in $\{0, 1, -1\}$ is enough (derived). The output
        module is a head of ELSA.
    """,
    refuted_by={**REFUTED, "plain": "A bias, a second head, or a weight other than 0, 1 and -1 in an iteration."},
    method=r"""
        The network by explicit weights, derived because the paper's are not printed in what could be read, on the input
        with blocks $\sqrt\eta X^\top$, $\sqrt{\eta\lambda} I$, $y$, $w$: every iterate and the final prediction against
        gradient descent in NumPy, on random problems with more and fewer samples than dimensions.
    """,
    quick="12 random problems, 60 iterations",
    full="the same",
    seconds=6,
)
def ridge_lsa(lab: Lab) -> Evidence:
    """Section 3.4."""

    def construct(p: Ridge) -> RidgeByHand:
        return ridge_as_lsa(*map(jnp.asarray, (p.x, p.y, p.query)), eta=p.eta, lam=p.lam, steps=STEPS)

    checks, figure, table = _judged(lab, {"LSA, designed input": construct})
    block = construct(draw(*SIZES[0], np.random.default_rng(lab.seed))).network.unrolled()[0]
    values = {float(value) for w in (block.w1, block.w2, block.w3) for value in np.unique(np.asarray(w))}
    checks.append(
        shown(
            "one head, no biases, and no weight but 0, 1 and -1",
            block.heads == 1
            and all(bias is None for bias in (block.b1, block.b2, block.b3))
            and values <= {0.0, 1.0, -1.0},
            against="plain",
            exact=True,
            reason="Read from the weights: yes or no.",
        )
    )
    return Evidence(tuple(checks), (figure,), (table,), headline=_iterate("LSA, designed input"))


@claim(
    "elsa-ridge-elsa",
    paper="elsa",
    whose="paper",
    seen="summary",
    identity=True,
    where="Section 3.5; the weights are derived",
    title="Two blocks of ELSA per iteration perform ridge descent on the natural input",
    statement=r"""
        With the variables simply listed in the input, $H = [X\;y\;0\;0\;0;\;0\;0\;w\;x_q\;0]$, two multi-head ELSA
        blocks per iteration perform gradient descent on the ridge objective, with $\eta$ and $\lambda$ in the weights
        or beside the variables in the input. Two heads per block and one empty column are enough (derived).
    """,
    refuted_by={**REFUTED, "size": "A construction with more than two blocks per iteration or two heads per block."},
    method=r"""
        Networks by explicit weights (derived): the first block writes $[Xw-y; \lambda w]$ into the empty column, the
        second subtracts $\eta\,[X; I]^\top$ times it from $w$. Every iterate and the prediction against gradient
        descent in NumPy.
    """,
    quick="12 random problems, 60 iterations, two constructions",
    full="the same",
    seconds=8,
)
def ridge_elsa(lab: Lab) -> Evidence:
    """Section 3.5."""

    def construct(in_weights: bool) -> Callable[[Ridge], RidgeByHand]:
        return lambda p: ridge_as_elsa(
            *map(jnp.asarray, (p.x, p.y, p.query)), eta=p.eta, lam=p.lam, steps=STEPS, in_weights=in_weights
        )

    named = {"ELSA, η and λ in the weights": construct(True), "ELSA, η and λ in the input": construct(False)}
    checks, figure, table = _judged(lab, named)
    checks.append(
        shown(
            "two blocks per iteration, two heads per block",
            all(row[2:4] == (2, 2) for row in table.rows),
            against="size",
            exact=True,
            reason="Counted in the networks: yes or no.",
        )
    )
    return Evidence(tuple(checks), (figure,), (table,), headline=_iterate("ELSA, η and λ in the weights"))
