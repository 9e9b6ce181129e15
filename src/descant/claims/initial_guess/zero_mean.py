"""With a zero prior mean, heads don't matter."""

import jax.numpy as jnp

from ...theory import Problem, best_heads, gd_risk, one_step_risk, optimal_step
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, claim, equal
from ._setting import crooked, one_step, problem, stretched

D = N = 10
# The least risk never rises with heads, and from d + 1 on stays: one head and d + 1 hold all others between them.
HEADS = (1, 2, D // 2, D, D + 1, D + 2)


def settings() -> dict[str, Problem]:
    """Two with multiples of I, two without."""
    return {
        "no noise": problem(0.0, d=D, n=N),
        "noise 1": problem(0.0, d=D, n=N, sigma=1.0),
        "Ψ = diag(4, 1, ¼, ¼)": stretched(),
        "Ψ and Λ not diagonal": crooked(),
    }


@claim(
    "zero-mean-heads",
    paper="initial-guess",
    whose="derived",
    where="The case of a zero prior mean, that of earlier papers; derived in docs/theory/gram.md",
    title="With a zero prior mean one head is as good as many, and is one preconditioned gradient step",
    statement=r"""
        Let tasks be $w \sim N(0, \Psi)$, inputs $N(0, \Lambda)$, label noise Gaussian or none, the query masked and its
        label slot empty. Then the least in-context risk of one layer of linear self-attention is the same for every
        number of heads, and equals that of one step of gradient descent from zero whose step is the best *matrix*. A
        scalar step does as well if $\Psi$ and $\Lambda$ are multiples of $I$, and not in general: not for
        $\Psi = \mathrm{diag}(4, 1, \tfrac14, \tfrac14)$, $\Lambda = I$ and $d=n=4$.
    """,
    refuted_by={
        "heads": "A number of heads whose least risk differs from one preconditioned step of gradient descent from 0.",
        "scalar": "A scalar step that does as well at $\\Psi = \\mathrm{diag}(4, 1, \\tfrac14, \\tfrac14)$.",
    },
    method=r"""
        The risk of a layer is an exact polynomial in its weights. For $d+1$ heads it is minimised by solving a linear
        system, for fewer by descent from many starts; as the least risk can't rise with heads, one head and $d+1$ hold
        the others between them. Compared with $\psi d\,(d+1+k)/(n+d+1+k)$, $k = \sigma^2/\psi$, at $d=n=10$ without
        noise and with $\sigma = 1$, and with $\sum_i \phi_i(\phi_i+s)/((n+1)\phi_i+s)$, $\phi_i$ the eigenvalues of
        $\Lambda^{1/2}\Psi\Lambda^{1/2}$ and $s = \sum_i\phi_i+\sigma^2$, in two settings whose covariances are no
        multiples of $I$.
    """,
    quick="four settings, 1 to d + 2 heads",
    full="the same",
    seconds=8,
)
def zero_mean_heads(lab: Lab) -> Evidence:
    """Least risks for several numbers of heads beside the best step, and the best scalar step."""
    checks: list[Check] = []
    rows, panels = [], []
    for index, (name, posed) in enumerate(settings().items()):
        lab.tell(name, index / 4)
        d, start = posed.d, jnp.zeros(posed.d)
        heads = sorted({min(each, d + 2) for each in HEADS} | {d + 1})
        risks = lab.keep(f"risks-{index}", lambda p=posed, h=heads: [best_heads(p, each).risk for each in h])
        matrix = float(one_step_risk(posed, start))
        scalar = float(gd_risk(posed, start, optimal_step(posed, start)))
        worst = max(risks, key=lambda risk: abs(risk - matrix))
        checks.append(
            equal(
                f"{name}: least risk, the number of heads where it is furthest from the step",
                worst,
                matrix,
                tolerance=1e-12 * matrix,
                against="heads",
                reason="Rounding: descents end within 1e-15 of it in what we saw.",
            )
        )
        rows.append((name, d, posed.n, risks[0], risks[-1], matrix, scalar))
        panels.append(
            Panel(
                f"{name}, d = {d}, n = {posed.n}",
                Axis("heads"),
                Axis("least in-context risk"),
                (Series("LSA", tuple(heads), tuple(risks)),),
                (Baseline("one step from zero, a matrix", matrix), Baseline("one step from zero, a scalar", scalar)),
            )
        )
    closed = [one_step(D, N, sigma) for sigma in (0.0, 1.0)]
    checks += [
        equal(
            f"{row[0]}: the best step's risk beside the closed form for multiples of I",
            row[5],
            wanted,
            tolerance=1e-12 * wanted,
            exact=True,
            against="heads",
            reason="Two exact formulas: rounding alone.",
        )
        for row, wanted in zip(rows[:2], closed, strict=True)
    ]
    checks.append(
        at_least(
            "Ψ = diag(4, 1, ¼, ¼), d = n = 4: the best scalar step's risk",
            rows[2][6],
            1.1 * rows[2][5],
            exact=True,
            against="scalar",
            reason="A tenth above the best matrix: exact numbers, far from rounding.",
        )
    )
    figure = Figure(
        "zero-mean-heads",
        "Least risk against the number of heads, prior mean zero",
        "The curves are flat: more heads buy nothing while tasks are centred at zero. What one head does is a step "
        "with a matrix; a scalar is enough for multiples of I alone (above).",
        tuple(panels),
    )
    columns = ("setting", "d", "n", "1 head", "d + 2 heads", "best matrix", "best scalar")
    table = Table("steps", "Least risk of LSA, and of one step from zero", columns, tuple(rows))
    words = (
        f"At $\\Psi = \\mathrm{{diag}}(4, 1, \\tfrac14, \\tfrac14)$, $d=n=4$, every number of heads has "
        f"{rows[2][3]:.4f}, the best preconditioned step too, and the best scalar step {rows[2][6]:.4f}.",
    )
    return Evidence(tuple(checks), (figure,), (table,), words, headline=checks[0].name)
