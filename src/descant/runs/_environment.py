"""Where a run was made: versions, device, precision."""

import platform
from importlib.metadata import version
from typing import Any

import jax

PACKAGES = ("descant", "jax", "jaxlib", "equinox", "numpy", "optax", "scipy")
# A run that was begun under other values of these would not end in the same bits. The version of Descant isn't among
# them, because the key of a run holds a fingerprint of the whole source.
BITS_DEPEND_ON = ("jax", "jaxlib", "equinox", "numpy", "optax", "scipy", "device", "precision")


def environment() -> dict[str, Any]:
    """What the bits of a result depend on, beside the config and the code.

    >>> sorted(environment())
    ['descant', 'device', 'equinox', 'jax', 'jaxlib', 'numpy', 'optax', 'precision', 'python', 'scipy']
    """
    device = jax.devices()[0]
    settings: Any = jax.config  # its attributes are made at run time
    float_type = "float64" if settings.jax_enable_x64 else "float32"
    return {
        **{name: version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "device": device.device_kind if device.platform != "cpu" else f"cpu ({platform.machine()})",
        "precision": f"{float_type}, products {settings.jax_default_matmul_precision}",
    }


def changes(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What has changed and matters, in words."""
    return [f"{name} {then.get(name)} then, {now[name]} now" for name in BITS_DEPEND_ON if then.get(name) != now[name]]
