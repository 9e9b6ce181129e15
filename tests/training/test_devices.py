"""Adam on eight devices, which are threads of this one: the same training but for rounding."""

import json
import os
import subprocess
import sys

import jax
import pytest

from descant import LinearRegression, UniformNoise
from descant.attention import Full
from descant.training import AdamTrainer

# Another number of devices takes another process.
SCRIPT = """
import json
import jax
from descant import LinearRegression, UniformNoise
from descant._trainer import to_end
from descant.attention import Full
from descant.training import AdamTrainer

task = LinearRegression(2, 3, noise=UniformNoise(2.0))
found = {}
for objective, members, batch in (("query", 1, 1024), ("weights", 8, 32)):
    models = [Full.random(2, 1, key=jax.random.key(index), scale=0.2) for index in range(members)]
    for devices in (None, 8):
        trainer = AdamTrainer(
            models, task, objective=objective, key=jax.random.key(1), steps=3, chunk=3, lr=0.05, batch=batch,
            devices=devices,
        )
        found[f"{members} members {devices}"] = to_end(trainer).info["losses"]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_losses_on_eight_devices_are_those_on_one():
    flags = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=1"
    environment = {**os.environ, "XLA_FLAGS": flags}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert len(found) == 4
    for name, losses in found.items():
        if name.endswith("None"):
            other = found[name.replace("None", "8")]
            assert losses == pytest.approx(other, rel=2e-5), name  # float32, three steps
            assert len(set(losses)) == len(losses)


def test_what_cannot_be_parted_is_refused():
    task, model = LinearRegression(2, 3, noise=UniformNoise(2.0)), Full.random(2, 1, key=jax.random.key(0))
    with pytest.raises(ValueError, match="devices"):
        AdamTrainer(model, task, key=jax.random.key(1), devices=len(jax.devices()) + 1)
    with pytest.raises(ValueError, match="empty list"):
        AdamTrainer(model, task, key=jax.random.key(1), devices=[])
    with pytest.raises(ValueError, match="expected members a multiple of 2, or batch a multiple of 256"):
        AdamTrainer(model, task, key=jax.random.key(1), batch=128, devices=jax.devices() * 2)
