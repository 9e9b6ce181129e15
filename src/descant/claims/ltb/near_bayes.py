"""How near one step of GD-beta is to Bayes: close where noise dominates, arbitrarily far elsewhere (Corollary 6.2)."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.integrate import quad
from scipy.stats import chi2

from ...tasks import FixedNoise, GaussianInputs, LinearRegression
from ...theory import Problem, gd_beta_minimum, noiseless_oracle_risk, posterior_risk
from .. import Axis, Baseline, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim, equal
from ._problems import isotropic

D = 8
LENGTHS = (4, 16, 64)
NOISY = (0.01, 0.1, 0.3, 1.0)
CLEAN = (3.0, 10.0, 100.0, 1000.0)
SAMPLES = 4096
# Context lengths of the problem with one direction.
SINGLE = (1, 4, 16, 64, 256)


def falling() -> np.ndarray:
    """Eigenvalues of the inputs' covariance that fall like a power, with trace 1; tasks are N(0, I)."""
    values = np.arange(1.0, D + 1) ** -1.5
    return values / values.sum()


def level() -> np.ndarray:
    """Equal eigenvalues, with trace 1."""
    return np.full(D, 1 / D)


SPECTRA = {"power law": falling, "isotropic": level}


def power_law(n: int, snr: float, name: str = "power law") -> LinearRegression:
    """tr(Lambda Psi) is `snr` times the noise variance."""
    return LinearRegression(D, n, inputs=GaussianInputs(np.diag(SPECTRA[name]())), noise=FixedNoise(snr**-0.5))


def ratio_to_bayes(lab: Lab, n: int, snr: float, name: str) -> tuple[float, float]:
    """The least risk of GD-beta over the Bayes risk, and its standard error."""
    task = power_law(n, snr, name)
    found = posterior_risk(task, key=lab.key(f"bayes {n}"), samples=lab.pick(SAMPLES, 16 * SAMPLES))
    ratio = float(gd_beta_minimum(Problem.of(task))) / found.bayes
    return ratio, ratio * found.bayes_error / found.bayes


def ratios(lab: Lab, n: int, snrs: tuple[float, ...], name: str) -> list[list[float]]:
    """Ratio and error for each signal-to-noise ratio, kept."""
    lab.tell(f"{name}, context length {n}", None)
    return lab.keep(f"ratios-{name}-{n}", lambda: [list(ratio_to_bayes(lab, n, snr, name)) for snr in snrs])


def _panel(curves: dict[int, list[list[float]]], snrs: tuple[float, ...], name: str, *series: Series) -> Panel:
    measured = tuple(
        Series(f"n = {n}", snrs, tuple(each[0] for each in curve), tuple(each[1] for each in curve))
        for n, curve in curves.items()
    )
    return Panel(
        f"d = {D}, inputs: {name}",
        Axis("signal to noise: tr(ΛΨ) / σ²", log=True),
        Axis("least risk of GD-beta / Bayes risk", log=True),
        (*measured, *series),
        (Baseline("Bayes", 1.0),),
    )


def one_number_ratio(n: int) -> float:
    """The ratio for d = 1 and tr(Lambda Psi) = sigma^2: 3/(n+3) over E 1/(1 + chi^2_n), by quadrature."""
    bayes = expect(chi2(n), lambda square: 1 / (1 + square))
    problem = Problem(np.zeros(1), np.eye(1), np.eye(1), n, sigma=1.0)
    return float(gd_beta_minimum(problem)) / bayes


def expect(law: Any, function: Callable[[float], float]) -> float:
    """E function(z), z from a law of SciPy's, by quadrature between quantiles that leave out 1e-14."""
    low, middle, high = law.ppf((1e-14, 0.5, 1 - 1e-14))
    return sum(
        quad(lambda z: function(z) * law.pdf(z), *ends, epsabs=0.0, epsrel=1e-10)[0]
        for ends in ((low, middle), (middle, high))
    )


@claim(
    "nearly-bayes",
    paper="ltb",
    whose="derived",
    where="Corollary 6.2 with Lemma 6.1, which say so up to a constant",
    title="With enough noise, one step of GD-beta has at most three times the Bayes risk",
    statement=r"""
        If the signal is not larger than the noise, $\mathrm{tr}(\Lambda\Psi) \le \sigma^2$, the best GD-$\beta$ (so the
        best block) has the risk of the Bayes predictor up to a constant factor, both without the query's own noise, and
        both are $\sum_i \min(\bar\phi, \phi_i)$ up to constants, $\bar\phi = (\mathrm{tr}(\Lambda\Psi) + \sigma^2)/n$.
        (Gaussian inputs, tasks and noise.) The paper names no constants. We find 3 for the first, and that no smaller
        one will do; for the second, between 1/3 and 2 for GD-$\beta$, between 1/4 and 2 for Bayes.
    """,
    refuted_by={
        "ratio": "A problem with $\\mathrm{tr}(\\Lambda\\Psi) \\le \\sigma^2$ and a ratio of the risks above 3.",
        "sharp": "A ratio that stays below 2.9 on all problems looked at: then 3 may not be needed.",
        "size": "A risk of GD-beta or of Bayes outside of its constants times the sum.",
    },
    method=r"""
        Jensen's inequality gives Bayes $\ge \sum_i \phi_i\sigma^2/(\sigma^2 + n\phi_i)$, and with it the ratio is at
        most $1 + (\mathrm{tr}(\Lambda\Psi) + \phi_1)/\sigma^2 \le 3$. Three laws of inputs with tasks $N(0, I)$:
        eigenvalues that fall like a power, equal ones, and a single direction, where the ratio is a quadrature over
        $\chi^2_n$ and tends to 3 as $n$ grows. The least risk of GD-$\beta$ is a closed form, the Bayes risk in more
        than one direction a mean over contexts of the exact posterior variance.
    """,
    quick="2 spectra, 3 context lengths, 4 noise levels, 4,096 contexts each; one direction, n up to 256",
    full="65,536 contexts each",
    seconds=10,
)
def nearly_bayes(lab: Lab) -> Evidence:
    """Ratios where the condition holds, beside the constants."""
    curves = {(name, n): ratios(lab, n, NOISY, name) for name in SPECTRA for n in LENGTHS}
    checks = []
    for (name, n), curve in curves.items():
        worst = int(np.argmax([each[0] for each in curve]))
        checks.append(
            at_most(
                f"largest ratio to the Bayes risk, {name}, n = {n} (at signal to noise {NOISY[worst]:g})",
                curve[worst][0],
                3.0,
                error=curve[worst][1],
                against="ratio",
                reason="3 is the constant that follows from Jensen's inequality wherever tr(ΛΨ) ≤ σ².",
            )
        )
        levels = [
            float(gd_beta_minimum(Problem.of(power_law(n, snr, name))))
            / np.minimum((1 + 1 / snr) / n, SPECTRA[name]()).sum()
            for snr in NOISY
        ]
        why = "Term by term, φ(φ+s)/((n+1)φ+s) lies between 1/3 and 2 times min(s/n, φ)."
        bayes = [level / each[0] for level, each in zip(levels, curve, strict=True)]
        errors = [value * each[1] / each[0] for value, each in zip(bayes, curve, strict=True)]
        least = int(np.argmin(bayes))
        where = f"over Σ min(s/n, φ), {name}, n = {n}"
        checks += [
            at_least(f"GD-beta {where}, least", min(levels), 1 / 3, against="size", reason=why),
            at_most(f"GD-beta {where}, largest", max(levels), 2.0, against="size", reason=why),
            at_least(
                f"Bayes {where}, least",
                bayes[least],
                0.25,
                error=errors[least],
                against="size",
                reason="Jensen: φσ²/(σ²+nφ) is at least half of min(σ²/n, φ), and σ² at least half of s.",
            ),
        ]
    single = [one_number_ratio(n) for n in SINGLE]
    reason = "3 (n+1)/(n+3) at most, by the bound of the method; quadrature to ten digits."
    checks += [
        at_most(
            f"one direction: largest ratio, n up to {SINGLE[-1]}", max(single), 3.0, against="ratio", reason=reason
        ),
        at_least(f"one direction: ratio at n = {SINGLE[-1]}", single[-1], 2.9, against="sharp", reason=reason),
    ]
    figure = Figure(
        "nearly-bayes",
        "One step against Bayes where noise dominates",
        "Left and middle: with noise a hundred times the signal the two are the same. Right: where only one direction "
        "is to be learnt, from as much signal as noise, the ratio comes near 3.",
        (
            *(_panel({n: curves[name, n] for n in LENGTHS}, NOISY, name, *_bound(name)) for name in SPECTRA),
            Panel(
                "d = 1, signal equal to noise",
                Axis("context length n", log=True),
                Axis("least risk of GD-beta / Bayes risk"),
                (Series("quadrature", SINGLE, tuple(single)),),
                (Baseline("Bayes", 1.0), Baseline("the constant 3", 3.0)),
            ),
        ),
        columns=3,
    )
    return Evidence(tuple(checks), (figure,), headline=checks[-2].name)


def _bound(name: str) -> tuple[Series, ...]:
    largest = float(SPECTRA[name]().max())
    return (Series("proved bound", NOISY, tuple(1 + (1 + largest) * snr for snr in NOISY), style="dashed"),)


@claim(
    "bayes-outside",
    paper="ltb",
    whose="control",
    where="Section 6, the signal-to-noise condition; Section 4 and Table 1, experiments",
    title="Without the condition, GD-beta can be arbitrarily far from Bayes",
    statement=r"""
        The condition $\mathrm{tr}(\Lambda\Psi) \lesssim \sigma^2$ is needed: for $n > d + 1$ the ratio of the best
        GD-$\beta$'s risk to the Bayes risk grows without bound as the noise vanishes, in proportion to
        $\mathrm{tr}(\Lambda\Psi)/\sigma^2$. The paper's own experiments, without noise and with $n \ge d$, lie there:
        Bayes errs by nothing, one step does not.
    """,
    refuted_by={
        "bounded": "A ratio that does not grow in proportion as the noise vanishes.",
        "settings": "A Bayes risk above zero in the paper's two settings, or a step that errs by nothing.",
    },
    method=r"""
        The same problems as in `nearly-bayes` with little noise, and the exact risks of the paper's two settings. Once
        the context determines the task, the Bayes risk is proportional to $\sigma^2$, so the ratio's growth over a
        factor of ten in $\mathrm{tr}(\Lambda\Psi)/\sigma^2$ tends to ten.
    """,
    quick="2 context lengths, 4 noise levels, 4,096 contexts each",
    full="65,536 contexts each",
    seconds=6,
)
def bayes_outside(lab: Lab) -> Evidence:
    """Ratios where the condition fails, and the paper's own settings."""
    lengths = LENGTHS[1:]
    curves = {n: ratios(lab, n, CLEAN, "power law") for n in lengths}
    checks = []
    for n, curve in curves.items():
        (low, low_error), (high, high_error) = curve[-2:]
        growth = high / low
        checks.append(
            at_least(
                f"growth of the ratio over the last factor of {CLEAN[-1] / CLEAN[-2]:g} in signal to noise, n = {n}",
                growth,
                0.5 * CLEAN[-1] / CLEAN[-2],
                error=growth * float(np.hypot(low_error / low, high_error / high)),
                against="bounded",
                reason="Proportional growth is a factor of ten in the limit; "
                "half of it tells growth from a bounded ratio.",
            )
        )
    rows = []
    for name, task in {
        "Figure 1: d = n = 5": isotropic(5, 5, 1.0),
        "Table 1: d = 20, n = 40": isotropic(20, 40, 10.0),
    }.items():
        problem = Problem.of(task)
        bayes, step = noiseless_oracle_risk(problem), float(gd_beta_minimum(problem))
        assert bayes is not None
        expected = task.d * (task.d + 1) / (task.n + task.d + 1)
        exact = "Exact numbers: rounding alone."
        checks.append(
            equal(f"Bayes risk, {name}", bayes, 0.0, against="settings", exact=True, tolerance=0.0, reason=exact)
        )
        checks.append(
            equal(
                f"least risk of GD-beta over d(d+1)/(n+d+1), {name}", step / expected, 1.0, against="settings",
                exact=True, tolerance=1e-13, reason=exact,
            )
        )  # fmt: skip
        rows.append((name, float(jnp.trace(problem.cov)), bayes, step))
    figure = Figure(
        "bayes-outside",
        "One step against Bayes where the signal dominates",
        "The ratio rises in proportion to signal over noise: with little noise, "
        "Bayes solves the task and one step does not.",
        (_panel(curves, CLEAN, "power law"),),
        columns=1,
    )
    table = Table(
        "bayes-outside",
        "The paper's settings, exact",
        ("setting", "signal tr(ΛΨ)", "Bayes risk", "least risk of GD-beta"),
        tuple(rows),
    )
    return Evidence(tuple(checks), (figure,), (table,), headline=checks[0].name)
