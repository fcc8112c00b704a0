"""Handlers over Dovetail's tensors, called by XLA from jax.jit."""

import ctypes
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

HANDLERS = ctypes.CDLL(str(pathlib.Path("tests/xla_ffi/jax_test_handlers.so").resolve()))
for name in ["CastTo", "Write", "Address"]:
    handler = jax.ffi.pycapsule(getattr(HANDLERS, f"{name}Handler"))
    jax.ffi.register_ffi_target(name, handler, platform="cpu")

WHOLE = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
NARROW = [
    "bfloat16",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e4m3b11fnuz",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float4_e2m1fn",
    "int4",
    "uint4",
    "int2",
    "uint2",
]


def cast(x, dtype):
    call = jax.ffi.ffi_call("CastTo", jax.ShapeDtypeStruct(x.shape, dtype))
    return jax.jit(call)(x)


@pytest.mark.parametrize("name", WHOLE + NARROW)
def test_every_type_is_read_and_written(name):
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    values = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]]).astype(dtype)
    wide = np.dtype("complex128" if dtype.kind == "c" else "float64")
    np.testing.assert_array_equal(np.asarray(cast(jnp.asarray(values), wide)), values.astype(wide))
    back = np.asarray(cast(jnp.asarray(values.astype(wide)), dtype))
    assert back.dtype == dtype
    np.testing.assert_array_equal(back.astype(wide), values.astype(wide))


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (2, 1, 3, 1, 2, 1, 2, 1)])
def test_numbers_empty_arrays_and_many_dimensions(shape):
    values = np.ones(shape, np.float32)
    result = np.asarray(cast(jnp.asarray(values), np.dtype("int32")))
    assert result.shape == shape
    assert (result == 1).all()


def test_an_argument_can_not_be_written():
    call = jax.jit(jax.ffi.ffi_call("Write", jax.ShapeDtypeStruct((2,), jnp.float32)))
    with pytest.raises(jax.errors.JaxRuntimeError, match="The tensor is read-only"):
        call(jnp.ones(2, jnp.float32)).block_until_ready()


def test_the_memory_is_jaxs_own():
    x = jnp.arange(12.0).reshape(3, 4)
    address = jax.jit(jax.ffi.ffi_call("Address", jax.ShapeDtypeStruct((), jnp.uint64)))(x)
    assert int(address) == x.unsafe_buffer_pointer()
