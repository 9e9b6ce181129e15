"""A prior of one's own: a pool of K tasks, from memorising them to ridge regression."""

import marimo

__generated_with = "0.25.2"
app = marimo.App()

with app.setup:
    import jax
    import jax.numpy as jnp
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np

    from descant import GaussianPrior, LinearRegression, best, risk
    from descant.measure import exact_risk
    from descant.tasks import AbstractPrior, GaussianMixture, discrete_moments


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Your own prior: K tasks, from memorising to ridge

    How many tasks must a learner have seen before it *learns* new ones instead of recognising old ones?
    [Raventós et al.](https://arxiv.org/abs/2306.15063) trained transformers on a pool of $K$ regression tasks and found
    that they behave like the best predictor *for the pool* when $K$ is small, and like ridge regression, which knows
    nothing of the pool, when $K$ is large. We look at the two predictors themselves, and at what one layer of linear
    attention can do in between. It is also an example of how to bring a law of one's own.

    ## The law

    A prior is a class. It must be able to `sample`. What else it knows makes more possible: with `moments` the risk of
    one layer is exact; with `components` (it is a mixture of Gaussians, here of zero width) the posterior is known.
    """)
    return


@app.class_definition
class Pool(AbstractPrior):
    """One of K tasks, all alike."""

    tasks: jax.Array  # (K, d)

    def check(self, d):
        if self.tasks.shape[1] != d:
            raise ValueError(f"tasks have {self.tasks.shape[1]} numbers; expected d = {d}.")

    def sample(self, d, *, key):
        return self.tasks[jax.random.randint(key, (), 0, len(self.tasks))]

    def moments(self, d):
        return discrete_moments(np.asarray(self.tasks), np.full(len(self.tasks), 1 / len(self.tasks)))

    def components(self, d):
        count = len(self.tasks)
        return GaussianMixture(jnp.full(count, -jnp.log(count)), self.tasks, jnp.zeros((count, d, d)))


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    (`descant.tasks.PoolPrior` is the same with checks and weights; `descant risk bayes --prior pool:16` uses it.)

    ## Two tests

    Pools are drawn from $N(0, I)$ in $d = 3$ dimensions; prompts have $n = 6$ examples with Gaussian inputs and noise
    0.5. For each pool we take the best predictor there is for it (Bayes: every task of the pool weighed by how well it
    fits the examples) and measure it twice: on prompts whose task is one of the pool, and on prompts with *new* tasks
    from $N(0, I)$. The best predictor for new tasks is ridge regression.
    """)
    return


@app.cell
def _():
    d, n, noise, samples = 3, 6, 0.5, 4096
    sizes = (1, 4, 16, 64, 256)
    new = LinearRegression(d, n, GaussianPrior.isotropic(d), noise=noise)
    ridge = risk(best("bayes", new), new, samples=65_536)

    def pool_of(K, index):
        drawn = jax.random.normal(jax.random.fold_in(jax.random.key(index), K), (K, d))
        return LinearRegression(d, n, Pool(drawn), noise=noise)

    seen, unseen = {}, {}
    for K in sizes:
        pool = pool_of(K, 0)
        expert = best("bayes", pool)
        seen[K] = risk(expert, pool, samples=samples)
        unseen[K] = risk(expert, new, samples=samples)
    return new, pool_of, ridge, samples, seen, sizes, unseen


@app.cell
def _(new, pool_of, sizes):
    # One step from a learnt start, which one layer of attention with a guess takes; exact, so many pools cost nothing.
    pools = 32

    def layer_on(pool):
        layer = best("gd-beta", pool)
        return exact_risk(layer, pool), exact_risk(layer, new)

    layers = {K: np.array([layer_on(pool_of(K, index)) for index in range(pools)]) for K in sizes}
    step = exact_risk(best("gd-beta", new), new)
    return layers, pools, step


@app.cell(hide_code=True)
def _(layers, pools, ridge, seen, sizes, step, unseen):
    figure, panels = plt.subplots(
        2, 1, figsize=(7, 6.2), layout="constrained", sharex=True, gridspec_kw={"hspace": 0.06}
    )
    for _found, _label, _style in ((seen, "tasks of the pool", "o-"), (unseen, "new tasks", "s-")):
        _bars = [2 * _found[K].standard_error for K in sizes]
        panels[0].errorbar(sizes, [_found[K].value for K in sizes], _bars, fmt=_style, label=_label)
    panels[0].axhline(ridge.value, color="0.4", linestyle="--", label="ridge, new tasks")
    for _column, _label, _style in ((0, "tasks of the pool", "o-"), (1, "new tasks", "s-")):
        _values = [layers[K][:, _column] for K in sizes]
        _bars = [2 * each.std(ddof=1) / pools**0.5 for each in _values]
        panels[1].errorbar(sizes, [each.mean() for each in _values], _bars, fmt=_style, label=_label)
    panels[1].axhline(step, color="0.4", linestyle="--", label="best step for new tasks")
    for _panel, _title in zip(panels, ("The best predictor for the pool", "The best step for the pool"), strict=True):
        _panel.set(ylabel="risk", xscale="log", ylim=(-0.5, 8), title=_title)
        _panel.legend(frameon=False)
    panels[1].set_xlabel("tasks in the pool, K")
    figure
    return


@app.cell(hide_code=True)
def _(layers, pools, ridge, samples, seen, sizes, step, unseen):
    def _layer(K, column):
        values = layers[K][:, column]
        return f"{values.mean():.3f} ± {values.std(ddof=1) / pools**0.5:.3f}"

    def _bayes(found):
        return f"{found.value:.3f} ± {found.standard_error:.3f}"

    _rows = "\n".join(
        f"    | {K} | {_bayes(seen[K])} | {_bayes(unseen[K])} | {_layer(K, 0)} | {_layer(K, 1)} |" for K in sizes
    )
    mo.md(
        f"""
    | K | Bayes, pool | Bayes, new tasks | one step, pool | one step, new tasks |
    |---|---|---|---|---|
{_rows}
    | all of N(0, I) | {_bayes(ridge)} | | {step:.3f} (exact) | |

    Of Bayes: one pool of each size, standard errors over {samples:,} contexts, so how pools differ is not in them. Of
    the step: means over {pools} pools of exact risks, standard errors over pools. Bars in the figure are two of them.
    """
    )
    return


@app.cell(hide_code=True)
def _(layers, ridge, seen, step, unseen):
    # What is said below.
    assert seen[4].value < 0.05 and 1 < unseen[4].value < 3
    assert seen[256].value + 0.02 < ridge.value < unseen[256].value - 0.02
    assert layers[1][:, 0].max() < 1e-9 and abs(layers[64].mean(axis=0) - step).max() < 0.1 * step
    mo.md(
        f"""
    ## From memorising to ridge

    **Above.** With few tasks the best predictor recognises: with four tasks it is nearly always right
    (risk {seen[4].value:.3f}), and on a new task it answers with the old ones, whatever the examples say
    (risk {unseen[4].value:.1f}; answering 0 has 3). As the pool fills the space, recognising the nearest old task
    becomes as good as learning, and the two curves close in on ridge regression from both sides. At 256 tasks in three
    dimensions they are still apart ({seen[256].value:.3f} and {unseen[256].value:.3f}; ridge has {ridge.value:.3f}):
    a pool must be dense on the scale of what the examples leave open, and in more dimensions that takes more tasks.

    **Below.** One step of gradient descent from a learnt start (what one layer of linear attention with a guess can do)
    memorises a *single* task, in its start, and has risk 0 on it. But it has no place for several: all that it can know
    of a pool is its mean and its covariance. So it is soon nearly the same layer as for new tasks. It generalises early
    because it can't memorise.

    ## What to take along

    - What is best for a pool, and what is best for new tasks, are two predictors; more tasks bring them together.
    - Which of them a network becomes depends on what it can represent. One step from a learnt start goes over to the
      general one within tens of tasks here. That trained deep softmax networks do so at some $K$ is Raventós et al.'s
      finding; it was not repeated on this page.
    - A law of one's own is one class; [Your own](../extending.md) has the others.
    """
    )
    return


if __name__ == "__main__":
    app.run()
