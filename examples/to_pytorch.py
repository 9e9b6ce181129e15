"""A model of Descant as a PyTorch module: the same answers, and its weights can be trained there."""

import jax
import numpy as np
import torch

from descant import GaussianPrior, LinearRegression
from descant.attention import make_model, to_torch

if __name__ == "__main__":
    task = LinearRegression(d=3, n=8, prior=GaussianPrior.isotropic(3, mean=1.0), noise=0.5)
    model = make_model("yq-lsa", task, key=jax.random.key(0))
    module = to_torch(model)

    keys = jax.random.split(jax.random.key(1), 2048)
    prompts = jax.vmap(lambda key: task.sample(key=key))(keys)
    x, y, x_query, target = (
        torch.tensor(np.asarray(part)) for part in (prompts.x, prompts.y, prompts.x_query, prompts.y_query)
    )
    ours = torch.tensor(np.asarray(jax.vmap(model)(prompts)))
    print(f"largest difference {(module(x, y, x_query) - ours).abs().max().item():.1e}")

    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    for step in range(301):
        loss = ((module(x, y, x_query) - target) ** 2).mean()
        if step % 100 == 0:
            print(f"step {step}: mean squared error {loss.item():.4f}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
