"""A guess matters only through the vector from it to the prior mean."""

import jax
import jax.numpy as jnp
import numpy as np

from ...attention import LSA, LinearGuess
from ...tasks import Prompt
from ...theory import Problem, best_heads
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, claim, equal
from ._descend import Kind, train_kinds
from ._setting import STRETCHED, one_step, problem, stretched, task

D = N = 3
HEADS = (1, 2, 4)
# Guesses w0 = t mu, and the prior mean's entries.
PATH = (-0.5, 0.0, 0.5, 1.0, 1.5)
C = 1.0
# How near training comes to the least risk: 1e-14 in what we saw.
REACHED = 1e-12
PROMPTS = 200
SEEDS, STEPS, RATE = 4, 8000, 0.02


def shifted(layer: LSA, start: jnp.ndarray) -> LSA:
    """Heads that do to (x, y), with the guess `<start, x>`, what `layer` does to (x, y - `<start, x>`) without one."""
    d = layer.d
    move = jnp.eye(d + 1).at[d, :d].set(-start)
    return LSA(layer.v @ move, move.T @ layer.u @ move, LinearGuess(start), layer.query_masked)


@claim(
    "shift-lemma",
    paper="initial-guess",
    whose="derived",
    where="The role of the initial guess; the lemma is derived here, for any number of heads",
    title="A guess counts only through the vector from it to the prior mean; with d + 1 heads through its length",
    statement=r"""
        For every number of heads and every law of inputs and noise, LSA with the guess
        $y_q = \langle w_0, x_q\rangle$ on tasks $w$ has the least risk of LSA without a guess on tasks $w - w_0$: on
        $N(\mu, \Psi)$, that of the prior mean $\mu - w_0$. So the empty label slot itself is the source of the gap: it
        is a guess of zero.

        With Gaussian tasks and inputs and a masked query, $d+1$ heads or more see of this vector its length only, in
        the norm of the inputs' covariance. Fewer may see its direction too, if $\Psi$ is no multiple of $I$: with
        $\Psi = \mathrm{diag}(4, 1, \tfrac14, \tfrac14)$, inputs $N(0, I)$, no noise and $d=n=4$, one and three heads
        have other least risks for other guesses at the distance 1 from $\mu$; four, which do as well as five, do not.
    """,
    refuted_by={
        "identity": "Heads and prompts for which the shifted heads with a guess predict something else.",
        "risks": "A guess and a number of heads for which the two least risks differ.",
        "length": "Two guesses at equal distance from $\\mu$ with different least risks of $d+1$ heads.",
        "direction": "No difference with one head or three, at $\\Psi = \\mathrm{diag}(4, 1, \\tfrac14, \\tfrac14)$, "
        "or one with four.",
    },
    method=r"""
        The map $e \mapsto Ae$, $A = [I\,0; -w_0^\top 1]$, takes labels to $y - \langle w_0, x\rangle$, and heads absorb
        it: $v \mapsto A^\top v$, $U \mapsto A^\top U A$. The identity is tried on random heads and prompts, query
        masked and attending. Then the two least risks are found by different routes: training from random weights (Adam
        on the exact risk, four starts) with the guess held fixed, on the prior mean $\mu$; and descent over subspaces
        without a guess, on $\mu - w_0$. Last, the least risks for guesses at distance 1 in the directions of the axes.
    """,
    quick="d = n = 3, prior mean (1, 1, 1), guesses from -0.5 to 1.5 times it, 1, 2 and 4 heads; four directions",
    full="the same",
    seconds=10,
)
def shift_lemma(lab: Lab) -> Evidence:
    """The identity on prompts, and the least risks by two routes."""
    mu = C * np.ones(D)
    lab.tell("random heads", 0.1)
    identities = {masked: _identity(lab, masked) for masked in (True, False)}
    lab.tell("training with the guess held fixed", 0.3)
    kinds, key = [Kind(heads, tuple((t * mu).tolist())) for heads in HEADS for t in PATH], lab.key("starts")

    def trained() -> list[list[float]]:
        posed = problem(C, d=D, n=N)
        risks = train_kinds(kinds, posed, seeds=SEEDS, steps=STEPS, looks=1, rate=RATE, key=key).risks
        return risks[:, :, -1].min(axis=1).reshape(len(HEADS), len(PATH)).tolist()

    ends = lab.keep("trained", trained)
    found, rows = {}, []
    for index, heads in enumerate(HEADS):
        lab.tell(f"{heads} heads without a guess", 0.6 + 0.1 * index)
        direct = ends[index]
        lemma = [
            best_heads(Problem(jnp.asarray((1 - t) * mu), jnp.eye(D), jnp.eye(D), N, sigma=0.0), heads).risk
            for t in PATH
        ]
        found[heads] = direct, lemma
        rows += [(heads, t, one, other) for t, one, other in zip(PATH, direct, lemma, strict=True)]
    checks: list[Check] = [
        equal(
            f"identity on {PROMPTS} prompts, relative, query {'masked' if masked else 'attending'}",
            difference,
            0.0,
            tolerance=1e-13,
            against="identity",
            reason="Rounding of sums of a few dozen products.",
        )
        for masked, difference in identities.items()
    ] + [
        equal(
            f"greatest difference of the two least risks, {heads} heads",
            float(np.max(np.abs(np.subtract(direct, lemma)))),
            0.0,
            tolerance=REACHED,
            against="risks",
            reason="Exact risks, and what Adam leaves at its end; risks along the path differ by far more.",
        )
        for heads, (direct, lemma) in found.items()
    ]
    figure = Figure(
        "shift-lemma",
        "Least risk against the guess",
        "Training with the guess held fixed (points) lands where the lemma says (lines). At the prior mean every "
        "number of heads is one gradient step.",
        (
            Panel(
                f"d = n = {D}, prior mean μ = (1, 1, 1), no noise",
                Axis("guess w₀, as a multiple of μ"),
                Axis("in-context risk"),
                tuple(
                    series
                    for heads, (direct, lemma) in found.items()
                    for series in (
                        Series(f"trained, H = {heads}", PATH, tuple(direct), style="points", family=f"{heads}"),
                        Series(
                            f"lemma, H = {heads}", PATH, tuple(lemma), style="line", family=f"{heads}", listed=False
                        ),
                    )
                ),
                (Baseline("one GD step from μ", one_step(D, N)),),
            ),
        ),
        columns=1,
    )
    lab.tell("equal distances", 0.9)
    directions = lab.keep("directions", _directions)
    few, less, enough, many = zip(*directions, strict=True)
    checks += [
        equal(
            "d = n = 4, Ψ = diag(4, 1, ¼, ¼), five heads: spread of the least risks at distance 1",
            max(many) - min(many),
            0.0,
            tolerance=1e-12,
            exact=True,
            against="length",
            reason="Linear systems, solved: rounding alone.",
        ),
        at_least(
            "the same with one head",
            max(few) - min(few),
            0.1,
            against="direction",
            reason="Descents are good to 1e-9: a tenth is far above what they leave open.",
        ),
        at_least(
            "the same with three heads",
            max(less) - min(less),
            1e-3,
            against="direction",
            reason="As above.",
        ),
        equal(
            "the same with four heads",
            max(enough) - min(enough),
            0.0,
            tolerance=1e-9,
            against="direction",
            reason="Descents, which end at the risk of five heads to 1e-15 in what we saw.",
        ),
    ]
    tables = (
        Table("risks", "Least risks by two routes", ("heads", "w₀ / μ", "with the guess", "shifted mean"), tuple(rows)),
        Table(
            "directions",
            "Guesses at distance 1 from the prior mean, along the axes of Ψ",
            ("variance of tasks along μ − w₀", "one head", "three", "four", "five"),
            tuple((variance, *pair) for variance, pair in zip(STRETCHED, directions, strict=True)),
            "d = n = 4, inputs N(0, I), no noise. Five heads are exact, fewer are the best of many descents.",
        ),
    )
    words = (
        f"At equal distance, one head has between {min(few):.4f} and {max(few):.4f}, four and five have "
        f"{many[0]:.4f} throughout.",
    )
    return Evidence(tuple(checks), (figure,), tables, words, headline=checks[2].name)


def _directions() -> list[list[float]]:
    """Least risks of 1, d - 1, d and d + 1 heads, the prior mean less the guess being each of the unit vectors."""
    posed = [stretched(unit) for unit in jnp.eye(len(STRETCHED))]
    return [[best_heads(each, heads).risk for heads in (1, each.d - 1, each.d, each.d + 1)] for each in posed]


def _identity(lab: Lab, masked: bool) -> float:
    layer = LSA.random(D, 3, key=lab.key("heads"), query_masked=masked, scale=1.0)
    start = jax.random.normal(lab.key("guess"), (D,))
    law = task(C, d=D, n=N, sigma=0.5)
    prompts = jax.vmap(lambda key: law.sample(key=key))(jax.random.split(lab.key("prompts"), PROMPTS))

    def without(prompt: Prompt):
        centred = Prompt(prompt.x, prompt.y - prompt.x @ start, prompt.x_query)
        return layer(centred) + start @ prompt.x_query

    wanted = jax.vmap(without)(prompts)
    return float(jnp.abs(jax.vmap(shifted(layer, start))(prompts) - wanted).max() / jnp.abs(wanted).max())
