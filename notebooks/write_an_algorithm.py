"""Write an algorithm, compile it into attention, train it further, and read it as text again."""

import marimo

__generated_with = "0.25.2"
app = marimo.App()

with app.setup:
    import jax
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np

    from descant import LinearRegression, best, risk
    from descant.estimators import GD
    from descant.programs import changes, compile_program, decompile, free_program, program
    from descant.readout import explain
    from descant.training import train


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Write an algorithm, compile it, train it further

    Most work on in-context learning trains a network and asks afterwards what algorithm it became. Here we go the other
    way: write the algorithm down, have it compiled into the weights of an attention network (the *extended linear
    self-attention* of [Hagiwara](https://arxiv.org/abs/2503.23814)), and only then train, from there. What the training
    changed can be read as text again.

    The algorithm: three steps of gradient descent on $|Xw - y|^2 / 2$, of one size.
    """)
    return


@app.cell
def _():
    @program
    def descent(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.03, T=3):
        for t in range(T):
            w = w - eta * (X.T @ (X @ w) - X.T @ y)
        return w

    d, n, steps = 3, 20, 3
    compiled = compile_program(descent, n=n, d=d, T=steps)
    sizes = compiled.sizes
    return compiled, d, n, sizes, steps


@app.cell(hide_code=True)
def _(compiled):
    mo.Html(compiled.svg())
    return


@app.cell(hide_code=True)
def _(sizes):
    mo.md(
        f"""
    The network reads the matrix that holds X, y and w side by side, and has {sizes.blocks} blocks with {sizes.heads}
    heads in all: one block that makes $X^\\top y$ and $X^\\top X$, then one block for every step. Of its
    {sizes.parameters:,} weights {sizes.nonzeros} are not zero. Is it the algorithm? Run both on random numbers:
    """
    )
    return


@app.cell
def _(compiled, d, n, steps):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(n, d)), random.normal(size=(n, 1))
    w = np.zeros((d, 1))
    for _ in range(steps):
        w = w - 0.03 * (X.T @ (X @ w) - X.T @ y)
    difference = float(np.abs(compiled.run({"X": X, "y": y})["w"] - w).max())
    return (difference,)


@app.cell(hide_code=True)
def _(difference):
    mo.md(
        f"""
    The largest difference is {difference:.0e}: rounding.

    ## What it is worth

    As a predictor on prompts, $\\hat y = \\langle w_3, x\\rangle$, it has a risk. Tasks are $w \\sim N(0, I)$, inputs
    $N(0, I)$, noise 0.5. The step size 0.03 was a guess; so we also look for the best one, for three equal steps.
    """
    )
    return


@app.cell
def _(compiled, d, n, steps):
    task = LinearRegression(d=d, n=n, noise=0.5)
    start = free_program(compiled, task)  # the network with the program's numbers free to move
    samples = 32_768
    before = risk(start, task, samples=samples)
    # The same algorithm as an estimator; its gradient is divided by n, so its step sizes are n times ours.
    etas = np.linspace(0.02, 0.06, 21)
    curve = [risk(GD(np.zeros(d), np.full(steps, n * eta)), task, samples=samples) for eta in etas]
    equal = min(range(len(etas)), key=lambda index: curve[index].value)
    ridge = risk(best("ridge", task), task, samples=samples)
    return before, curve, equal, etas, ridge, samples, start, task


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Train it further

    Now every iteration gets numbers of its own, one for every term of the program, and Adam moves them, on fresh
    prompts. What is zero in the network stays zero: it remains a program.
    """)
    return


@app.cell
def _(start, task):
    trained = train(
        start,
        task,
        solver="adam",
        lr=0.02,
        steps=300,
        batch=512,
        schedule="cosine",
        samples=131_072,
        key=jax.random.key(1),
    )
    text = decompile(trained.model.settled())
    moved = changes(start, trained.model.settled())
    inside = explain(trained.model, task)
    return inside, moved, text, trained


@app.cell(hide_code=True)
def _(before, curve, equal, etas, ridge, trained):
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axes.plot(etas, [each.value for each in curve], label="three equal steps")
    axes.plot([0.03], [before.value], "o", label="as compiled")
    axes.plot([etas[equal]], [curve[equal].value], "s", label="best equal steps")
    axes.axhline(trained.risk.value, color="tab:green", linestyle="--", label="trained further")
    axes.axhline(ridge.value, color="0.4", linestyle=":", label="ridge, the least of all")
    axes.set(xlabel="step size η", ylabel="risk", yscale="log", title="The risk of three steps, by their size")
    axes.set_ylim(bottom=0.03)
    axes.legend(frameon=False)
    figure
    return


@app.cell(hide_code=True)
def _(before, curve, equal, etas, ridge, samples, trained):
    # What the figure and the next lines say.
    assert ridge.value < trained.risk.value < 0.8 * curve[equal].value < before.value and 0 < equal < len(etas) - 1
    _rows = (
        ("as compiled, η = 0.03", before),
        (f"the best equal steps, η = {etas[equal]:.3f}", curve[equal]),
        ("trained further", trained.risk),
        ("ridge", ridge),
    )
    _table = "\n".join(f"    | {words} | {each.value:.4f} ± {each.standard_error:.4f} |" for words, each in _rows)
    mo.md(
        f"""
    | predictor | risk |
    |---|---|
{_table}

    (Means over {samples:,} contexts with standard errors, of the trained network over 131,072. Those of networks are
    taken on prompts of tokens, the others on second moments, where chance is smaller.)

    ## What did the training change?

    The network is a program still, so it can be written as one:
    """
    )
    return


@app.cell(hide_code=True)
def _(text):
    mo.md("```python\n" + text.strip() + "\n```")
    return


@app.cell(hide_code=True)
def _(inside, moved):
    _table = "\n".join(
        f"    | {each.where} | `{each.what}` | {each.before:.4g} | {each.after:.4g} |"
        for each in moved
        if abs(each.after - each.before) > 1e-6
    )
    mo.md(
        f"""
    | where | what | written | after training |
    |---|---|---|---|
{_table}

    The steps have become unequal: over a spread of curvatures, a few steps of different sizes do more than as many
    equal ones. The numbers before `w` have moved too. Plain gradient descent has a 1 there; but three steps with such
    numbers are a polynomial of $X^\\top X$ times $X^\\top y$, and that may be a known method again. Its answers say
    which:

    > {inside.sentence} {inside.sentences[0]}

    ## What to take along

    - An algorithm can be put into attention exactly, and be a start for training that is understood.
    - What came out is readable because only the program's own numbers moved. With `free="all"` every weight moves, and
      the result is no program any more.
    - A compiled network is for one context length, here n = 20; [programs](../programs.md) has the limits.
    """
    )
    return


if __name__ == "__main__":
    app.run()
