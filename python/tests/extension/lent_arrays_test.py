"""Arguments of tvm-ffi and JAX, as the C interface borrows them: where the memory is, and who holds
it.
"""

import gc
import os
import sys
import weakref

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch
import tvm_ffi
from installation import compile_c, import_file

import dovetail as dt

READ_ONLY = 1
CPU = (1, 0)


@pytest.fixture(scope="module")
def capi(tmp_path_factory):
    target = tmp_path_factory.mktemp("capi") / "capi_user.so"
    compile_c("python/tests/extension/capi_user.c", target, include=dt.get_include())
    return import_file(target)


def borrow(capi, x):
    references = sys.getrefcount(x)
    ((described,), _, _) = capi.borrow(x)
    assert described.pop("object") is x
    assert sys.getrefcount(x) == references
    return described


def described_by_import(x, flags=0):
    """What the tensor is by its __dlpack__."""
    tensor = dt.from_dlpack(x)
    kind, bits, lanes = tensor.dtype.__dlpack_data_type__()
    return {
        "data": tensor.data_ptr(),
        "shape": tuple(tensor.shape),
        "strides": tuple(tensor.stride()),
        "dtype": (kind, bits, lanes),
        "device": CPU,
        "byte_offset": 0,
        "flags": flags,
        "stream": 0,
    }


# tvm-ffi

LAYOUTS = {
    "a vector": lambda: torch.arange(6.0),
    "a matrix": lambda: torch.arange(6.0).reshape(2, 3),
    "a transpose": lambda: torch.arange(6.0).reshape(2, 3).T,
    "steps": lambda: torch.arange(12.0)[1::2],
    "a broadcast": lambda: torch.arange(3.0).expand(4, 3),
    "no dimension": lambda: torch.tensor(2.0),
    "no element": lambda: torch.zeros(3, 0, 2),
    "seven dimensions": lambda: torch.zeros(1, 2, 1, 2, 1, 2, 1),
    **{
        str(dtype): lambda dtype=dtype: torch.ones(4).to(dtype)
        for dtype in (
            torch.bool,
            torch.int8,
            torch.int64,
            torch.float64,
            torch.bfloat16,
            torch.float8_e4m3fn,
            torch.complex64,
        )
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tensor_of_tvm_ffi_is_borrowed_where_it_lies_and_nothing_is_held(capi, layout):
    x = tvm_ffi.from_dlpack(LAYOUTS[layout]())
    described = borrow(capi, x)
    assert described.pop("held") == 0
    wanted = described_by_import(x)
    if 0 in x.shape:
        del described["data"], wanted["data"]
    assert described == wanted


def test_a_byte_offset_of_tvm_ffi_is_part_of_the_address(capi):
    base = torch.arange(8.0)
    x = tvm_ffi.from_dlpack(base[3:])
    assert borrow(capi, x)["data"] == base.data_ptr() + 12 == x.data_ptr()


def test_a_tensor_of_tvm_ffi_without_an_object_is_refused(capi):
    empty = tvm_ffi.core.Tensor.__new__(tvm_ffi.core.Tensor)
    with pytest.raises(dt.ExchangeError, match="has no object"):
        capi.borrow(empty)


def test_a_tensor_of_tvm_ffi_is_released_by_its_last_reference(capi):
    base = np.arange(3.0)
    references = sys.getrefcount(base)
    x = tvm_ffi.from_dlpack(base)
    borrow(capi, x)
    del x
    gc.collect()
    assert sys.getrefcount(base) == references


# JAX

JAX_ARRAYS = {
    "a vector": lambda: jnp.arange(6, dtype=jnp.float32),
    "a matrix": lambda: jnp.arange(6, dtype=jnp.float32).reshape(2, 3),
    "a transpose": lambda: jnp.arange(6, dtype=jnp.float32).reshape(2, 3).T,
    "no dimension": lambda: jnp.float32(2),
    "no element": lambda: jnp.zeros((3, 0, 2)),
    "seven dimensions": lambda: jnp.zeros((1, 2, 1, 2, 1, 2, 1)),
    "another device": lambda: jax.device_put(jnp.arange(3.0), jax.devices()[1]),
    **{
        dtype: lambda dtype=dtype: jnp.ones(4, dtype)
        for dtype in (
            "bool",
            "int8",
            "uint16",
            "int32",
            "float16",
            "bfloat16",
            "float8_e4m3fn",
            "complex64",
        )
    },
}


@pytest.mark.parametrize("name", JAX_ARRAYS)
def test_an_array_of_jax_is_borrowed_read_only_where_it_lies_and_held(capi, name):
    x = jax.block_until_ready(JAX_ARRAYS[name]())
    described = borrow(capi, x)
    assert described.pop("held") == 1
    assert described["data"] == x.unsafe_buffer_pointer() or x.size == 0
    wanted = described_by_import(x, READ_ONLY)
    if x.size == 0:
        for said in (described, wanted):
            del said["data"], said["strides"]
    assert described == wanted


def test_values_of_jax_are_there_before_they_are_read(capi):
    x = jnp.ones((400, 400)) / 400

    @jax.jit
    def work(x):
        for _ in range(20):
            x = x @ jnp.full((400, 400), 1 / 400)
        return x

    work(x)
    y = work(x)
    got = np.frombuffer(capi.bytes_after(y, y.nbytes, lambda: None), np.float32)
    np.testing.assert_array_equal(got, np.asarray(y).ravel())


def test_memory_of_jax_stays_for_the_call_when_the_array_is_deleted(capi):
    x = jnp.arange(1000, dtype=jnp.float32)
    wanted = np.array(x).tobytes()
    kept = []

    def delete():
        x.delete()
        kept.extend(jnp.full(1000, i, jnp.float32) for i in range(20))

    assert capi.bytes_after(x, len(wanted), delete) == wanted
    assert x.is_deleted()


def test_memory_of_jax_stays_for_the_call_when_the_array_is_donated(capi):
    add = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.arange(1000, dtype=jnp.float32)
    wanted = np.array(x).tobytes()
    results = []
    got = capi.bytes_after(x, len(wanted), lambda: results.append(jax.block_until_ready(add(x))))
    assert got == wanted
    np.testing.assert_array_equal(results[0], np.arange(1, 1001))


def test_an_array_of_jax_is_donated_in_place_after_a_call(capi):
    add = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.block_until_ready(jnp.zeros(1000, jnp.float32))
    address = borrow(capi, x)["data"]
    assert add(x).unsafe_buffer_pointer() == address
    assert x.is_deleted()


def test_an_array_of_jax_that_has_no_memory_is_refused_by_what_became_of_it(capi):
    deleted, donated = jnp.ones(3), jnp.ones(3)
    deleted.delete()
    jax.jit(lambda x: x + 1, donate_argnums=0)(donated)
    for x in (deleted, donated):
        with pytest.raises(dt.ExchangeError, match=r"argument 1: .* was deleted, or donated"):
            capi.borrow(x)


def test_an_array_of_jax_on_several_devices_is_refused(capi):
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("a",))
    for spec in (jax.sharding.PartitionSpec("a"), jax.sharding.PartitionSpec()):
        x = jax.device_put(jnp.ones(4), jax.sharding.NamedSharding(mesh, spec))
        with pytest.raises(dt.ExchangeError, match="unsharded"):
            capi.borrow(x)


def test_packed_types_of_jax_are_refused(capi):
    with pytest.raises(dt.ExchangeError, match="S4"):
        capi.borrow(jnp.ones(4, ml_dtypes.int4))


def test_an_array_of_jax_lives_no_longer_for_having_been_borrowed(capi):
    x = jnp.arange(3.0)
    borrow(capi, x)
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None
