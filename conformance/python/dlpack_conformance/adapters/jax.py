"""JAX: arrays never change, and have no strides."""

from ..adapter import Adapter

_SETUP = 'import jax, jax.numpy as jnp; jax.config.update("jax_enable_x64", True)'

ADAPTER = Adapter(
    name="jax",
    setup=_SETUP,
    version="jax.__version__",
    dtype="jnp.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 "
    "float64 complex64 complex128 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn "
    "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu",
    array="jnp.array({values}, dtype={dtype})",
    ones="jnp.ones({size}, dtype={dtype})",
    take="jnp.from_dlpack({x})",
    here="jax.devices('cpu')[0]",
    values="{y}.tolist()",
    devices={
        "cuda": {
            # Without this, it takes most of the device's memory at once.
            "setup": 'import os; os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"\n' + _SETUP,
            "array": "jax.device_put(jnp.array({values}, dtype={dtype}), jax.devices('cuda')[0])",
            "ones": "jnp.ones({size}, dtype={dtype}, device=jax.devices('cuda')[0])",
            "here": "jax.devices('cuda')[0]",
            "work": "{y} + 0",
        }
    },
)
