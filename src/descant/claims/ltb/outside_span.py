"""What no input meets: parts of beta and Gamma that neither count nor move (Theorem 6.3)."""

import jax
import numpy as np

from ...theory import Problem, gd_beta_risk, gradient_flow
from .. import Evidence, Lab, Table, at_least, claim, equal
from ._problems import crooked

# (d, rank of the inputs, n, noise)
SETTINGS = ((5, 3, 6, 0.5), (4, 1, 3, 0.0), (4, 3, 8, 1.0))
LONG = 40.0


def parts(problem: Problem, gamma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gamma within the span of the inputs on both sides, and the rest of it."""
    values, vectors = np.linalg.eigh(np.asarray(problem.inputs))
    kept = vectors[:, values > 1e-9 * values.max()]
    inside = kept @ kept.T
    within = inside @ gamma @ inside
    return within, gamma - within


@claim(
    "outside-span",
    paper="ltb",
    whose="paper",
    seen="transcription",
    where="Theorems 5.2 and 6.3, null components",
    title="Parts of the start and the preconditioner that no input meets don't count, and gradient flow leaves them",
    statement=r"""
        Let $P$ project on the span of the inputs, $\Lambda$ of deficient rank. The population risk of GD-$\beta$
        depends on $P\beta$ and $P\Gamma P$ alone. Gradient flow on it leaves $\beta - P\beta$ and $\Gamma - P\Gamma P$
        where they were at the start, the blocks of $\Gamma$ that meet the span on one side only among them.
    """,
    refuted_by={
        "counts": "A change of these parts that changes the risk.",
        "moves": "A flow along which they move, or along which the rest does not.",
    },
    method=r"""
        Random $\beta$ and $\Gamma$ on three problems with inputs of deficient rank. The exact risk is compared before
        and after these parts are replaced by others ten times as large; the flow of half the risk is solved to ten
        digits, and what moved is split. It follows from the form of the risk, whose every $\Gamma$ stands between
        two $\Lambda$.
    """,
    quick="3 problems",
    full="the same",
    seconds=6,
)
def outside_span(lab: Lab) -> Evidence:
    """Risks before and after, and what a flow moved."""
    checks, rows = [], []
    for d, rank, n, sigma in SETTINGS:
        name = f"rank {rank} of {d}, n = {n}, noise {sigma:g}"
        lab.tell(name, None)
        problem = Problem.of(crooked(d, n, sigma, key=lab.key(name), rank=rank))
        normal = np.asarray(jax.random.normal(lab.key(f"start {name}"), (2 * d + 2, d)))
        beta, gamma, other = normal[0], normal[2 : d + 2] / 2, 10 * normal[d + 2 :]
        values, vectors = np.linalg.eigh(np.asarray(problem.inputs))
        outside = vectors[:, values <= 1e-9 * values.max()]
        before = float(gd_beta_risk(problem, beta, gamma))
        moved = beta + 10 * outside @ (outside.T @ normal[1])
        after = float(gd_beta_risk(problem, moved, gamma + parts(problem, other)[1]))
        flow = gradient_flow(problem, jax.numpy.asarray(beta), jax.numpy.asarray(gamma), np.array([0.0, LONG]))
        within, rest = parts(problem, flow.gamma[-1] - flow.gamma[0])
        drift = max(np.abs(rest).max(), np.abs((flow.beta[-1] - flow.beta[0]) @ outside).max())
        checks += [
            equal(
                f"risk with other parts outside the span over the risk, {name}",
                after / before, 1.0, against="counts", exact=True, tolerance=1e-11,
                reason="Two exact risks in float64; parts ten times as large cancel to about 1e-13.",
            ),
            equal(
                f"largest entry that moved outside the span, {name}",
                float(drift), 0.0, against="moves", tolerance=1e-11,
                reason="The slope there is rounding of 0, about 1e-15, over a time of 40.",
            ),
            at_least(
                f"how far Γ moved within the span, over its own size, {name}",
                float(np.linalg.norm(within) / np.linalg.norm(parts(problem, gamma)[0])), 0.1, against="moves",
                reason="A flow that stands still would leave everything where it was.",
            ),
        ]  # fmt: skip
        rows.append((name, before, after / before - 1, float(drift), float(np.linalg.norm(within))))
    columns = ("problem", "risk", "relative change of the risk", "moved outside", "moved within (Frobenius norm)")
    table = Table("outside-span", "Parts that no input meets", columns, tuple(rows))
    return Evidence(tuple(checks), (), (table,), headline=checks[1].name)
