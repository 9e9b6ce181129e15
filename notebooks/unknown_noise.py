"""Unknown noise: train three layers, read out what they do about it, compare with ridge regression."""

import marimo

__generated_with = "0.25.2"
app = marimo.App()

with app.setup:
    import jax
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np

    from descant import LinearRegression, UniformNoise, best, risk
    from descant.readout import explain
    from descant.training import make_model, train


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Noise of unknown size

    Ridge regression has a knob: the penalty, which for tasks $w \sim N(0, I)$ should be the variance $\sigma^2$ of the
    noise. Who knows $\sigma$ sets it and is done. But suppose that every prompt has a noise level of its own, drawn
    from $U(0, 3)$, and nobody says which. A good predictor then has to *estimate* the noise from the very examples that
    it is to learn from. [Vladymyrov et al.](https://arxiv.org/abs/2402.14180) found that a few layers of linear
    attention learn to do this. We train one, and three, and look.

    The setting: $d = 4$ dimensions, $n = 12$ examples, inputs $N(0, I)$.
    """)
    return


@app.cell
def _():
    task = LinearRegression(d=4, n=12, noise=UniformNoise(3.0))
    samples = 32_768
    names = ("const-ridge", "tuned-ridge", "bayes", "ridge")
    known = {name: risk(best(name, task), task, samples=samples) for name in names}
    return known, samples, task


@app.cell
def _(samples, task):
    # A small search, of seconds: few starts, a pool of few contexts. Left out, train searches longer.
    quick = {"random_starts": 2, "pieces": 4, "most_pieces": 8, "drawn": 8}
    nets = {
        1: train(make_model("diag", task, layers=1, key=jax.random.key(0)), task, samples=samples),
        3: train(make_model("diag", task, layers=3, key=jax.random.key(0)), task, samples=samples, **quick),
    }
    return (nets,)


@app.cell(hide_code=True)
def _(known, nets, samples):
    _words = {
        "const-ridge": "ridge with one penalty for all prompts, the best one",
        "tuned-ridge": "ridge with a penalty estimated from residuals, tuned",
        "bayes": "Bayes: the best that anyone can do without being told",
        "ridge": "ridge that is told the noise level of each prompt",
    }
    _rows = [("1 layer, trained", nets[1].risk), ("3 layers, trained", nets[3].risk)]
    _rows += [(_words[name], known[name]) for name in _words]
    _table = "\n".join(
        f"    | {words} | {found.value:.4f} ± {found.standard_error:.4f} | {found.adjusted:.4f} ± {found.adjusted_error:.4f} |"  # noqa: E501
        for words, found in _rows
    )
    _fixed, _bayes = known["const-ridge"].adjusted, known["bayes"].adjusted
    _share = (_fixed - nets[3].risk.adjusted) / (_fixed - _bayes)
    # What is said below.
    assert nets[1].risk.adjusted > 2 * _fixed and 0.5 < _share < 1 and known["tuned-ridge"].adjusted > _bayes
    mo.md(
        f"""
    | predictor | risk | above the one who is told |
    |---|---|---|
{_table}

    Errors are standard errors over {samples:,} contexts; the last column is paired, so its errors are smaller. (The
    risk of one layer is exact; its ± 0 says so.)

    One layer takes one gradient step, of one size for all prompts, and is far behind. Three layers are better than the
    best ridge regression with one penalty, which is the best of all predictors that are linear in the labels: they come
    {_share:.0%} of the way from there to Bayes. They must know something about the noise of the prompt that they read.
    """
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Level by level

    The same predictors, measured on prompts of one noise level at a time. A predictor that doesn't look at the noise
    is good near one level only.
    """)
    return


@app.cell
def _(nets, task):
    sigmas = np.linspace(0.0, 3.0, 7)
    fixed = {"3 layers": nets[3].model, "ridge, one penalty": best("const-ridge", task), "Bayes": best("bayes", task)}
    levels = [LinearRegression(d=4, n=12, noise=float(sigma)) for sigma in sigmas]
    above = {name: [risk(each, level, samples=4096) for level in levels] for name, each in fixed.items()}
    return above, sigmas


@app.cell(hide_code=True)
def _(above, sigmas):
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for _name, _risks in above.items():
        axes.errorbar(
            sigmas,
            [each.adjusted for each in _risks],
            [2 * each.adjusted_error for each in _risks],
            fmt="o-",
            label=_name,
        )
    axes.axhline(0, color="0.5", linewidth=0.8)
    axes.set(xlabel="noise level σ of the prompts", ylabel="risk above ridge that is told σ")
    axes.legend(frameon=False)
    figure
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    *Bars are two standard errors (4,096 contexts a point).*

    ## What it does inside

    `explain` asks which penalty would make ridge regression most like the network, at low, middle and high noise; and
    reads each layer as what Theorem 4.1 of the paper says that it must be: a gradient step, a preconditioner, a
    shrinkage.
    """)
    return


@app.cell
def _(nets, task):
    inside = explain(nets[3].model, task)
    return (inside,)


@app.cell(hide_code=True)
def _(inside):
    _sigma = [each.sigma for each in inside.penalties]
    read, panel = plt.subplots(figsize=(7, 3.2), layout="constrained")
    panel.plot(_sigma, [each.penalty for each in inside.penalties], "o-", label="three layers: nearest ridge penalty")
    panel.plot(_sigma, [each.right for each in inside.penalties], "s--", color="0.5", label="the right one, σ²")
    panel.set(xlabel="noise level σ", ylabel="penalty", title="It regularises more where there is more noise")
    panel.legend(frameon=False)
    read
    return


@app.cell(hide_code=True)
def _(inside):
    _penalties = inside.penalties
    # What is said below.
    assert _penalties[0].penalty < _penalties[-1].penalty
    assert _penalties[0].penalty > _penalties[0].right and _penalties[-1].penalty < _penalties[-1].right
    _each = "\n".join(f"    - {sentence}" for sentence in inside.sentences)
    mo.md(
        f"""
    > {inside.sentence}

{_each}

    Read the shrinkages: a layer shrinks what was found so far by more in prompts with much noise than in those with
    little. It can, because the sum of the squared labels, which it reads, grows with the noise. That is how the penalty
    comes to depend on $\\sigma$, less steeply than it should: it is too large at low noise and too small at high noise.
    """
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## What to take along

    - Three layers of linear attention beat ridge regression with the best fixed penalty here, and fall short of Bayes,
      and of ridge regression with a tuned estimate of the noise.
    - They adapt to the noise by shrinking, prompt by prompt. The read-out above shows it; that it *is* an estimate of
      the noise in any stricter sense is not shown.
    - The networks are the best of a small search; `train` with its own settings searches longer. See
      [training](../training.md), also on what happens on rare contexts when there is no noise.
    """)
    return


if __name__ == "__main__":
    app.run()
