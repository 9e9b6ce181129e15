"""Does in-context learning do gradient descent? One layer, trained and read out; then two."""

import marimo

__generated_with = "0.25.2"
app = marimo.App()

with app.setup:
    import jax
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    from scipy.optimize import minimize

    from descant import LinearRegression, best, risk
    from descant.estimators import GD
    from descant.readout import explain
    from descant.training import make_model, train


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Does in-context learning do gradient descent?

    A transformer that is shown examples $(x_1, y_1), \dots, (x_n, y_n)$ and a query $x$ can answer with a good guess of
    the query's label, although none of its weights change. It has been said that what it does inside is a step of
    gradient descent on the examples. For one layer of *linear* attention on linear regression the question has an exact
    answer, because everything can be computed: the risk of any such layer, the best layer there is, and the best step
    of gradient descent. We compute all three, train a layer, and look at what it became.

    The setting of this page: $y_i = \langle w, x_i\rangle + \varepsilon_i$ with $w \sim N(0, I)$, inputs $N(0, I)$,
    noise of size 0.5, $d = 5$ dimensions and $n = 10$ examples. The risk is the mean of
    $(\hat y - \langle w, x\rangle)^2$ over tasks, examples and queries.
    """)
    return


@app.cell
def _():
    task = LinearRegression(d=5, n=10, noise=0.5)
    names = ("zero", "gd", "lsa", "ridge")
    risks = {name: risk(best(name, task), task) for name in names}
    return risks, task


@app.cell(hide_code=True)
def _(risks):
    assert abs(risks["gd"].value - risks["lsa"].value) < 1e-9
    mo.md(
        f"""
    | predictor | risk | |
    |---|---|---|
    | `zero`: answers 0 | {risks["zero"].value:.4f} | exact |
    | `gd`: the best single step of gradient descent from 0 | {risks["gd"].value:.4f} | exact |
    | `lsa`: the best layer of linear self-attention, over all weights | {risks["lsa"].value:.4f} | exact |
    | `ridge`: the best predictor of all | {risks["ridge"].value:.4f} | ± {risks["ridge"].standard_error:.4f} |

    The best layer and the best step have the same risk, to rounding. So here a layer of linear attention *can* do no
    better than a step of gradient descent. And both are far from ridge regression: one step is not much.
    """
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## What a trained layer is

    A best layer need not be unique, and a training need not find it. So we start at random weights and minimise the
    risk. `explain` then reads the algorithm off the weights, whatever their scale or sign.
    """)
    return


@app.cell
def _(task):
    trained = train(make_model("lsa", task, key=jax.random.key(1)), task)
    inside = explain(trained.model, task)
    return inside, trained


@app.cell(hide_code=True)
def _(inside, trained):
    assert inside.verdict == "is"
    mo.md(
        f"""
    Its risk is {trained.risk.value:.4f} ({trained.risk.method}), and the read-out says:

    > {" ".join((inside.sentence, *inside.sentences))}
    """
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The same by the papers' recipe

    Minimising the exact risk is our convenience. Networks are trained on sampled prompts: draw prompts, compare the
    answer with the query's label, take a step of Adam, again and again.
    """)
    return


@app.cell
def _(task):
    start = make_model("lsa", task, key=jax.random.key(1))
    sampled = train(start, task, solver="adam", objective="query", steps=2000, batch=512, lr=0.02, schedule="cosine")
    seen = explain(sampled.model, task)
    return sampled, seen


@app.cell(hide_code=True)
def _(risks, sampled):
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axes.plot([row["step"] for row in sampled.rows], [row["loss"] for row in sampled.rows], label="training loss")
    for _name, _style in (("zero", ":"), ("gd", "--"), ("ridge", "-.")):
        axes.axhline(risks[_name].value, color="0.4", linestyle=_style, label=_name)
    axes.set(xlabel="step of Adam", ylabel="mean squared error", yscale="log", title="One layer of linear attention")
    axes.set_yticks([0.3, 0.5, 1, 2, 5], ["0.3", "0.5", "1", "2", "5"])
    axes.minorticks_off()
    axes.legend(frameon=False, ncols=2)
    figure
    return


@app.cell(hide_code=True)
def _(risks, sampled, seen):
    mo.md(
        f"""
    The loss comes down to the line of one gradient step and stays there. The layer that came out has an exact risk of
    {sampled.risk.value:.4f}, {sampled.risk.value / risks["gd"].value - 1:.2%} above the least. The read-out, which has
    to be careful now because 2,000 noisy steps end near the optimum and not in it:

    > {" ".join((seen.sentence, *seen.sentences))}
    """
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Two layers

    If one layer is one step, two layers might be two steps. We train two layers of the `diag` network of
    [linear transformers](https://arxiv.org/abs/2402.14180) on the same task, and compare with the best two steps of
    gradient descent, their sizes chosen by minimising the risk on 16,384 contexts.
    """)
    return


@app.cell
def _(task):
    def two_steps(sizes):
        return risk(GD(np.zeros(task.d), sizes), task, samples=16_384).value

    sizes = minimize(two_steps, [0.6, 0.6], method="Nelder-Mead", options={"xatol": 1e-2, "fatol": 1e-3}).x
    steps = risk(GD(np.zeros(task.d), sizes), task, samples=65_536, key=jax.random.key(2))
    quick = {"random_starts": 2, "pieces": 4, "most_pieces": 8, "drawn": 8}  # a small search: seconds, not minutes
    deep = train(make_model("diag", task, layers=2, key=jax.random.key(0)), task, **quick)
    deeper = explain(deep.model, task)
    return deep, deeper, sizes, steps


@app.cell(hide_code=True)
def _(deep, deeper, risks, sizes, steps):
    # What is said below, and at the end.
    assert deep.risk.value < 0.6 * steps.value and deeper.match is not None and "GD++" in deeper.sentence
    mo.md(
        f"""
    | predictor | risk |
    |---|---|
    | one layer, one step | {risks["gd"].value:.4f} (exact) |
    | the best two steps of gradient descent, of sizes {sizes[0]:.2f} and {sizes[1]:.2f} | {steps.value:.4f} ± {steps.standard_error:.4f} |
    | two layers, trained | {deep.risk.value:.4f} ± {deep.risk.standard_error:.4f} |
    | ridge | {risks["ridge"].value:.4f} ± {risks["ridge"].standard_error:.4f} |

    Two layers are better than the best two steps of gradient descent that we found. Why, the read-out says:

    > {" ".join((deeper.sentence, *deeper.sentences))}

    The first layer does not only take a step: it also changes the *inputs* of all tokens, so that the second step is
    preconditioned. That is GD++, and it is an algorithm of its own.
    """  # noqa: E501
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## So, does it?

    - **One layer, tasks around zero**: yes. The best layer is one step of gradient descent, and training finds it.
    - **Two layers**: not plain gradient descent. The trained network has about half the risk of the best two steps, and
      is described by GD++ nearly, not exactly: the percentage above is what is explained of its predictions on this
      task. It is the best of a small search, not a proven optimum.
    - **Tasks that are not around zero**: no longer even for one layer. That is
      [the next notebook](initial_guess.md).

    All of this holds for linear attention and Gaussian inputs. Nothing here was measured on a language model.
    """)
    return


if __name__ == "__main__":
    app.run()
