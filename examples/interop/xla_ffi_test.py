"""The handler of xla_ffi.cc, as a program in JAX registers and calls it."""

import ctypes
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import pytest

LIBRARY = ctypes.CDLL(str(pathlib.Path("examples/interop/xla_ffi.so").resolve()))
jax.ffi.register_ffi_target(
    "normalise_rows", jax.ffi.pycapsule(LIBRARY.normalise_rows), platform="cpu"
)


@jax.jit
def normalise_rows(x):
    return jax.ffi.ffi_call("normalise_rows", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def test_rows_have_a_sum_of_one():
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    np.testing.assert_allclose(
        normalise_rows(jnp.asarray(x)), x / x.sum(axis=1, keepdims=True), rtol=1e-6
    )
    # XLA lays the transposed argument out row-major first.
    np.testing.assert_allclose(normalise_rows(jnp.asarray(x).T).sum(axis=1), np.ones(4), rtol=1e-6)


def test_another_element_type_is_an_error_of_jax():
    with pytest.raises(
        jax.errors.JaxRuntimeError,
        match=r"FAILED_PRECONDITION.*elements are int32, not float32",
    ):
        normalise_rows(jnp.ones((3, 4), jnp.int32)).block_until_ready()


def test_another_number_of_dimensions_is_an_error_of_jax():
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"INVALID_ARGUMENT.*Pass a matrix"):
        normalise_rows(jnp.ones(3)).block_until_ready()
