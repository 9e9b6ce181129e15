"""Numerical ground rules, set once when the first room that computes is imported.

Exact numbers are the point of this library, so JAX runs in float64 here, and float32 products (where somebody asks for
them) are not rounded to TF32 on a GPU. Code that wants float32 says so with an explicit dtype.
"""

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
