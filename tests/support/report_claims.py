"""Invented claims with everything a page can have in it, for the tests of the report. The numbers mean nothing."""

import math

import numpy as np

from descant.claims import (
    CONTROL,
    Axis,
    Baseline,
    Check,
    Claim,
    Evidence,
    Figure,
    HeatMap,
    Judgement,
    Panel,
    Series,
    Table,
    at_most,
    consistent,
    equal,
    often,
    shown,
)

ENVIRONMENT = {
    "descant": "0.1.0",
    "jax": "0.10.2",
    "jaxlib": "0.10.2",
    "equinox": "0.13.8",
    "numpy": "2.4.6",
    "optax": "0.2.8",
    "scipy": "1.17.1",
    "python": "3.11.2",
    "device": "cpu (x86_64)",
    "precision": "float64, products highest",
}
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2


def series(label, x, y, error=(), style="both", family="") -> Series:
    """From whatever has numbers in it."""
    x, y, error = (tuple(map(float, values)) for values in (x, y, error))
    return Series(label, x, y, error, style, family)


def heat_map(title, values, *names) -> HeatMap:
    return HeatMap(title, tuple(map(tuple, values)), *names)


def curves() -> Figure:
    """Logarithmic axes, error bars, many series, values that can't be drawn."""
    n = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256.0])
    rates = np.linspace(0.4, 1.6, 11)
    many = tuple(
        series(f"rate {rate:.2f}, a series with quite a long name", n, 3 * n**-rate, tuple(0.2 * n**-rate), "both")
        for rate in rates
    )
    steps = np.arange(200)
    band = series("trained", steps, 1 + 2 * np.exp(-steps / 40), tuple(0.05 + 0 * steps), "line")
    broken = series("diverged", (0, 1, 2, 3, 4), (1, 3, math.nan, math.inf, 20), (0, 0.5, 0, 0, math.inf), "points")
    return Figure(
        "risk against n",
        r"Excess risk against the context length, $\sigma^2 = 1$",
        "Straight lines: every curve is a power of $n$. The grey range is where the theorem speaks.",
        (
            Panel("many rates", Axis("context length n", True), Axis("excess risk", True), many, shaded=(8, 64)),
            Panel(
                "training, with a band",
                Axis("step"),
                Axis("risk"),
                (band, broken, series("theory", (0, 200), (3, 1.01), style="dashed", family="trained")),
                (Baseline("Bayes", 1.0), Baseline("predicting zero", 3.0)),
            ),
        ),
    )


def flat() -> Figure:
    noise = 1e-11 * np.random.default_rng(0).normal(size=8)
    return Figure(
        "flat",
        "A flat curve is drawn flat",
        "Rounding does not look like structure.",
        (
            Panel(
                "heads",
                Axis("heads"),
                Axis("least risk"),
                (series("LSA", range(1, 9), 4.5 + noise),),
                (Baseline("one GD step", 4.5),),
            ),
        ),
        columns=1,
    )


def bars() -> Figure:
    names = ("GD++", "DIAG", "FULL", "ConstRR", "AdaRR", "Bayes")
    ticks = tuple((float(index), name) for index, name in enumerate(names))
    x = range(6)
    return Figure(
        "bars",
        "Adjusted risk by model and noise law",
        "Every model gains from depth, FULL the most.",
        (
            Panel(
                "linear",
                Axis("model", ticks=ticks),
                Axis("adjusted risk"),
                (
                    series("two layers", x, (0.3, 0.2, 0.19, 0.4, 0.3, 0.0), (0.01,) * 6, "bars"),
                    series("four layers", x, (0.2, 0.1, 0.05, 0.4, 0.3, 0.0), (0.01,) * 6, "bars"),
                ),
            ),
            Panel(
                "logarithmic, where zero can't stand",
                Axis("model", ticks=ticks),
                Axis("adjusted risk", True),
                (
                    series("two layers", x, (0.3, 0.2, 0.19, 0.4, 1e-4, 0.0), (0.01,) * 6, "bars"),
                    series("four layers", x, (0.2, 0.1, 0.05, 0.4, 1e-7, 0.0), (0.01,) * 6, "bars"),
                ),
                (Baseline("a bound", 1e-2),),
            ),
        ),
    )


def maps() -> Figure:
    rng = np.random.default_rng(0)
    small = heat_map("merged weights, 4 × 4", rng.normal(size=(4, 4)).round(3).tolist(), tuple("xyzw"), tuple("abcd"))
    wide = heat_map("P, 3 × 21", rng.normal(size=(3, 21)).tolist())
    tall = heat_map(
        "Q, 21 × 11, one value missing", [[math.nan, *row[1:]] for row in rng.normal(size=(21, 11)).tolist()]
    )
    named = heat_map(
        "named rows",
        (0.1 * rng.normal(size=(2, 3))).tolist(),
        ("the first row", "the second"),
        ("query input", "label", "k"),
    )
    return Figure(
        "weights", "Weights of the layers", "Each block is a multiple of the identity.", (small, wide, tall, named)
    )


def eight() -> Figure:
    x = np.linspace(0, 5, 21)
    panels = tuple(
        Panel(
            f"layer {index + 1}",
            Axis(r"noise $\sigma$ of the prompt"),
            Axis("risk / Bayes"),
            (
                series("DIAG", x, 1 + 0.1 * index * np.sin(x) ** 2, (0.02,) * 21),
                series("GD++", x, 1.2 + 0.02 * index * x, style="line"),
            ),
            shaded=(2, 3),
        )
        for index in range(8)
    )
    return Figure("profile", "Per-noise profiles, layer by layer", "Wiggles grow with depth.", panels, columns=4)


LONG_RUN = {
    "name": "networks",
    "command": "descant reproduce lt-bars --budget full",
    "machine": "an accelerator",
    "date": "2026-11-16",
    "code": "0123456789abcdef",
    "seconds": 5400.0,
    "remark": "In three parts.",
}


def tables() -> tuple[Table, ...]:
    long = Table(
        "long",
        "A long table",
        ("law", "model", "layers", "ours", "±", "the paper", "exploding", "a column with a long heading", "σ"),
        tuple(
            (
                f"uniform:{index % 7}",
                "diag",
                index,
                0.1 * index,
                0.01 if index % 3 else None,
                0.2,
                1e-7 * index,
                None,
                "x",
            )
            for index in range(60)
        ),
        "Half of the adjusted risk, as the paper prints it.",
    )
    odd = Table(
        "odd", "Odd values", ("name", "value"), (("not a number", math.nan), ("large", math.inf), (LONG, -1e-300))
    )
    return long, odd


def claim(id: str, paper: str, title: str, **more) -> Claim:
    def experiment(lab):
        raise AssertionError("the tests of the report run no experiments")

    given = {
        "where": "Theorem 3.2 and Figure 4",
        "statement": r"""The least risk of one head is $\psi d\,(d+1+k)/(n+d+1+k)$ with $k = \sigma^2/\psi$,
for all $n$, $d$:
$$\min_{P,Q} R(P, Q) = \operatorname{tr}(\Psi\Lambda) - \operatorname{tr}\bigl((\Psi\Lambda)^2
(\tfrac{n+1}{n}\Lambda + \tfrac1n \operatorname{tr}(\Lambda) I)^{-1}\bigr)
+ \sum_{i=1}^{d} \frac{\lambda_i \psi_i}{1 + n \lambda_i \psi_i/\sigma^2} + O(1/n)$$""",
        "whose": "paper",
        "seen": "summary",
        "identity": False,
        "refuted_by": {
            "sizes": "A prior, a size or a number of heads for which the two differ by more than rounding.",
            "law": r"A law with $\sigma > 0$.",
        },
        "method": "The risk is an exact polynomial; its minimum is found by *descent* from many starts.\n\n"
        "- one\n- two `code`",
        "budgets": {"quick": "sizes up to 10", "full": "sizes up to 100, with ten seeds"},
        "seconds": 10.0,
    }
    return Claim(id=id, paper=paper, title=title, experiment=experiment, **{**given, **more})


def judged(id: str, evidence: Evidence, **more) -> Judgement:
    given = {"budget": "quick", "seed": 0, "seconds": 12.34, "failure": "", "environment": ENVIRONMENT}
    return Judgement(id=id, evidence=evidence, **{**given, **more})


def passing(name: str = "least risk, one head") -> Check:
    return equal(
        name,
        4.54545454,
        4.54545454,
        tolerance=1e-9,
        exact=True,
        reason="Two exact formulas: rounding alone.",
        printed="4.55",
    )


def claims() -> dict[str, Claim]:
    """One or more of each kind, in all four papers."""
    return {
        each.id: each
        for each in (
            claim("elsa-curves", "elsa", "Ridge descent converges at the rate of its condition number"),
            claim("elsa-plain", "elsa", "Three matrices are multiplied exactly", statement="Exactly.", identity=True),
            claim("elsa-failed", "elsa", "Training finds the product of two blocks"),
            claim("guess-flat", "initial-guess", "With a zero prior mean, one head is as good as many"),
            claim(
                "guess-refuted", "initial-guess", r"Heads saturate at $d + 1$", where=r"Theorem 2, for all $\mu \neq 0$"
            ),
            claim("guess-open", "initial-guess", "Trained models land on the exact values"),
            claim("ltb-maps", "ltb", "The MLP stores the prior mean", where="Section 4", whose="derived", seen=""),
            claim("ltb-refuted", "ltb", "The irreducible gap is at least the printed bound"),
            claim("ltb-read", "ltb", "The printed bound has a second branch", seen="transcription"),
            claim("lt-bars", "linear-transformer", "Table 1: GD++, DIAG and FULL beside the ridge family"),
            claim("lt-eight", "linear-transformer", "Per-noise profiles, in and out of distribution"),
            claim("lt-not-run", "linear-transformer", f"A claim nobody asked for yet, with the long word {LONG}"),
        )
    }


def judgements() -> dict[str, Judgement]:
    """Verdicts of all kinds; one claim failed, one was not run."""
    refuting = at_most(
        "printed bound less the exact gap, at the worst covariance",
        0.2718,
        0.0,
        error=0.003,
        reason="Monte Carlo; three standard errors.",
        printed="gap ≥ bound",
    )
    open_ = consistent(
        "trained risk beside the exact one",
        4.61,
        4.55,
        error=0.03,
        resolution=0.01,
        reason="A hundredth of the risk is the smallest difference that the paper's figure would show.",
        printed="4.6",
    )
    true = shown("the two pictures have the same shape", True, reason="Counted zeros, an exact matter.")
    false = shown("the product of heads has full rank", False, reason="A rank, exactly.")
    odd = equal("a ratio <b>with</b> a & sign", math.nan, 1.0, tolerance=0.1, reason="It is not a number: `0/0`.")
    rate = often("networks that fit", 18, 20, at_least=0.5, reason="More often than not.")
    control = at_most("loss that still fell", 0.001, 0.01, against=CONTROL, reason="A training that is over.")
    found = (
        judged(
            "elsa-curves",
            Evidence((passing(), true, *(passing(f"size {d}") for d in range(20))), (curves(),), tables()),
        ),
        judged("elsa-plain", Evidence((passing("product"),))),
        Judgement(
            "elsa-failed",
            "quick",
            0,
            3.0,
            None,
            'Traceback (most recent call last):\n  File "elsa.py", line 3\n'
            "ValueError: n is 0; expected more </script>.",
            {},
        ),
        judged("guess-flat", Evidence((passing(),), (flat(), flat()))),
        judged(
            "guess-refuted",
            Evidence((passing(), false), words=("With a mean of rank one, $d$ heads suffice: </script>.",)),
        ),
        judged("guess-open", Evidence((open_,), words=("At this budget the *standard error* is too large.",))),
        judged("ltb-maps", Evidence((passing(),), (maps(),))),
        judged(
            "ltb-refuted",
            Evidence((passing(), refuting, odd), words=(f"The constant is off by a factor of two. {LONG}",)),
        ),
        judged("ltb-read", Evidence((refuting,), words=("Of two readings the other one holds.",))),
        judged("lt-bars", Evidence((passing(), rate, control), (bars(),), tables()[:1], long_runs=(LONG_RUN,))),
        judged("lt-eight", Evidence((passing(),), (eight(),)), seed=3, budget="full"),
    )
    return {each.id: each for each in found}
