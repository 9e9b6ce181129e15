"""The initial guess: what linear attention loses when tasks have a mean, and what gives it back."""

import marimo

__generated_with = "0.25.2"
app = marimo.App()

with app.setup:
    import jax
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np

    from descant import GaussianPrior, LinearRegression, best, theory
    from descant.measure import exact_risk
    from descant.readout import explain
    from descant.training import make_model, train


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # The initial guess

    Gradient descent starts somewhere. Attention that reads a prompt starts at zero: the query's label is not known, so
    its place in the prompt holds a 0. As long as tasks scatter around zero, that is the right start, and
    [one layer is one step](gradient_descent.md). What if they scatter around something else?

    Here $w \sim N(\mu, I)$ with $\mu = c\,(1, \dots, 1)$ in $d = 5$ dimensions, $n = 10$ examples, inputs $N(0, I)$ and
    noise 0.5. One step of gradient descent *from $\mu$* doesn't feel the mean at all: its risk is the same for every
    $c$. Can attention do as well, if it is given more heads? Risks on this page are exact, and each is the least over
    all weights (up to d heads found by a search over one number, the rest by formula), so no training can be blamed.
    """)
    return


@app.cell
def _():
    d, n, noise = 5, 10, 0.5
    heads = range(1, d + 3)

    def around(mean):
        return LinearRegression(d, n, GaussianPrior(mean=np.full(d, mean), cov=np.eye(d)), noise=noise)

    def least(name, task, **options):
        return exact_risk(best(name, task, **options), task)

    by_heads = {c: [least("multi-head-lsa", around(c), heads=h) for h in heads] for c in (0.0, 0.5, 1.0, 2.0)}
    one_step = least("gd-beta", around(1.0))
    return around, by_heads, d, heads, least, one_step


@app.cell(hide_code=True)
def _(by_heads, heads, one_step):
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for _c, _risks in by_heads.items():
        axes.plot(heads, _risks, "o-", label=f"c = {_c:g}")
    axes.axhline(one_step, color="0.3", linestyle="--", label="one step from the mean")
    axes.set(xlabel="heads", ylabel="least risk (exact)", yscale="log", title="More heads help, up to d of them")
    axes.set_yticks([2, 3, 4, 6], ["2", "3", "4", "6"])
    axes.minorticks_off()
    axes.legend(frameon=False)
    figure
    return


@app.cell
def _(around, by_heads, one_step):
    gaps = {c: theory.saturated_gap(theory.Problem.of(around(c))) for c in by_heads}
    enough = theory.heads_needed(theory.Problem.of(around(1.0)))
    left = {c: risks[-1] - one_step for c, risks in by_heads.items()}
    return enough, gaps, left


@app.cell(hide_code=True)
def _(d, enough, gaps, left):
    # What is said below.
    assert all(abs(left[c] - gaps[c]) < 1e-9 and abs(gaps[c] - c**2 * gaps[1.0]) < 1e-9 for c in gaps)
    _rows = "\n".join(f"    | {c:g} | {left[c]:.5f} | {gaps[c]:.5f} |" for c in gaps)
    mo.md(
        f"""
    From {enough} heads on (here d = {d}) the curves are flat, and all but the one for $c = 0$ end above the dashed
    line. What is left doesn't go away with any number of heads, and theory knows how much it is:

    | c | least risk with 7 heads, less that of one step from the mean | `theory.saturated_gap` |
    |---|---|---|
{_rows}

    The gap grows as the square of the mean: twice the mean, four times the gap.
    """
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## A guess in the query

    The remedy of [Xie et al.](https://arxiv.org/abs/2512.04268) is to write a guess of the query's label where the 0
    was, $\langle w_0, x\rangle$ with trainable $w_0$, in a layer of a *single* head (`yq-lsa`). We train both sorts of
    layer from random weights on tasks around $\mu = (2, 1, 0, -1, -2)$, by descent on the exact risk, and read out what
    they start from.
    """)
    return


@app.cell
def _(d):
    mean = np.array([2.0, 1.0, 0.0, -1.0, -2.0])
    task = LinearRegression(d, 10, GaussianPrior(mean=mean, cov=np.eye(d)), noise=0.5)
    kinds = ("lsa", "yq-lsa")
    trained = {kind: train(make_model(kind, task, key=jax.random.key(0)), task) for kind in kinds}
    read = {kind: explain(found.model, task) for kind, found in trained.items()}
    return mean, read, task, trained


@app.cell(hide_code=True)
def _(mean, read):
    compared, plane = plt.subplots(figsize=(7, 3), layout="constrained")
    places = np.arange(len(mean))
    plane.bar(places - 0.27, mean, 0.25, label="mean of the tasks", color="0.75")
    for _shift, (_kind, _found) in zip((0.0, 0.27), read.items(), strict=True):
        _none = ": 0 everywhere" if np.allclose(_found.one_step.start, 0) else ""  # a bar that nobody sees
        plane.bar(places + _shift, _found.one_step.start, 0.25, label=f"start of the trained {_kind}{_none}")
    plane.axhline(0, color="0.3", linewidth=0.8)
    plane.set(xlabel="coordinate", ylabel="value", title="What the layers start from")
    plane.legend(frameon=False)
    compared
    return


@app.cell(hide_code=True)
def _(least, mean, read, task, trained):
    _off = np.abs(np.subtract(read["yq-lsa"].one_step.start, mean)).max()
    _heads = least("multi-head-lsa", task, heads=6)
    mo.md(
        f"""
    | layer | risk (exact) |
    |---|---|
    | `lsa`, one head, trained | {trained["lsa"].risk.value:.4f} |
    | LSA with six heads, the best there is | {_heads:.4f} |
    | `yq-lsa`, one head and a guess, trained | {trained["yq-lsa"].risk.value:.4f} |
    | one step from the mean | {least("gd-beta", task):.4f} |

    The guess that was learnt is the mean of the tasks, to {_off:.0e}. In words:

    > lsa: {read["lsa"].sentence}
    >
    > yq-lsa: {read["yq-lsa"].sentence}
    """
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## A guess can be wrong

    A guess is knowledge about tasks, put into weights. If tasks move after training, it is wrong knowledge. We take the
    best layers for $c = 1$ and measure them, exactly, where tasks scatter around another $c$.
    """)
    return


@app.cell
def _(around):
    means = np.linspace(-1.0, 3.0, 33)
    fixed = {name: best(name, around(1.0)) for name in ("lsa", "yq-lsa")}
    fixed["lsa, 6 heads"] = best("multi-head-lsa", around(1.0), heads=6)
    moved = {name: [exact_risk(layer, around(c)) for c in means] for name, layer in fixed.items()}
    return means, moved


@app.cell(hide_code=True)
def _(means, moved):
    shifted, panel = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for _name, _risks in moved.items():
        panel.plot(means, _risks, label=_name)
    panel.axvline(1.0, color="0.5", linestyle=":", label="trained here")
    panel.set(xlabel="mean of the tasks that come, c", ylabel="risk (exact)", yscale="log")
    panel.set_yticks([2, 5, 10, 20], ["2", "5", "10", "20"])
    panel.minorticks_off()
    panel.legend(frameon=False)
    shifted
    return


@app.cell(hide_code=True)
def _(means, moved):
    _at = {c: int(np.argmin(np.abs(means - c))) for c in (-1.0, 0.0, 1.0, 3.0)}
    # What is said below.
    assert all(moved["yq-lsa"][_at[c]] == min(values[_at[c]] for values in moved.values()) for c in (1.0, 3.0))
    assert all(moved["lsa"][_at[c]] == min(values[_at[c]] for values in moved.values()) for c in (-1.0, 0.0))
    _cells = {name: " | ".join(f"{values[i]:.2f}" for i in _at.values()) for name, values in moved.items()}
    _rows = "\n".join(f"    | {name} | {cells} |" for name, cells in _cells.items())
    mo.md(
        f"""
    | trained at c = 1, tasks around c = | −1 | 0 | 1 | 3 |
    |---|---|---|---|---|
{_rows}

    At home the layer with a guess is the best of the three, and where tasks lie farther out in the same direction, too:
    its error grows as the square of the shift, like that of a gradient step from a wrong start. But where tasks move
    towards zero, the single head without a guess is better than both, which it pays for at home. What is best depends
    on where tasks will be.
    """
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## What to take along

    - With a mean in the tasks, no number of heads makes linear attention as good as one step of gradient descent from
      the right start. The exact gap is $\propto |\mu|^2$ here.
    - One head with a trainable guess closes it, and training finds the mean.
    - These are statements about one layer, linear attention, Gaussian tasks and inputs, a masked query. The
      [report](../report.md) has the same for other laws, and what became of it in a language model.
    """)
    return


if __name__ == "__main__":
    app.run()
