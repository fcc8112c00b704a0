"""jax.numpy.asarray() and arithmetic of JAX's arrays take tensors, by __jax_array__."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dovetail as dt


def test_asarray_shares_the_memory_and_array_copies_it():
    t = dt.tensor([1.0, 2.0, 3.0])
    shared = jnp.asarray(t)
    assert isinstance(shared, jax.Array) and shared.dtype == jnp.float32
    assert shared.unsafe_buffer_pointer() == t.data_ptr()
    copied = jnp.array(t)
    assert copied.tolist() == [1, 2, 3] and copied.unsafe_buffer_pointer() != t.data_ptr()


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float16", "bfloat16", "complex64"])
def test_the_element_type_is_the_tensors(dtype):
    t = dt.tensor([0, 1, 1], dtype=dtype)
    made = jnp.asarray(t)
    assert made.dtype.name == dtype and made.tolist() == [0, 1, 1]
    assert jnp.asarray(t, dtype=jnp.float32).dtype == jnp.float32


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "complex128"])
def test_types_of_64_bits_are_narrowed_as_those_of_numpy_are(dtype):
    array = np.array([1, 2, 3], dtype)
    made = jnp.asarray(dt.from_dlpack(array))
    assert made.dtype == jnp.asarray(array).dtype and made.tolist() == [1, 2, 3]
    with jax.enable_x64(True):
        assert jnp.asarray(dt.from_dlpack(array)).dtype == array.dtype


def test_lists_of_tensors_and_arithmetic_with_arrays():
    t = dt.tensor([1.0, 2.0])
    assert jnp.asarray([t, t]).tolist() == [[1, 2], [1, 2]]
    assert jnp.stack([t, t]).shape == (2, 2)
    assert (jnp.ones(2) + t).tolist() == [2, 3]


def test_read_only_memory_is_shared_since_jax_never_writes():
    t = dt.tensor([1.0, 2.0])
    view = dt.frombuffer(memoryview(t).toreadonly(), dtype=dt.float32)
    assert view.readonly and jnp.asarray(view).unsafe_buffer_pointer() == t.data_ptr()


def test_a_tensor_that_requires_gradients_is_refused():
    with pytest.raises(dt.ExchangeError, match="gradient"):
        jnp.asarray(dt.tensor([1.0], requires_grad=True))


def test_no_copies_forbids_the_narrowing():
    with jax.enable_x64(False), dt.no_copies(), pytest.raises(dt.ExchangeError):
        jnp.asarray(dt.tensor([1], dtype="int64"))


def test_functions_that_trace_their_arguments_say_what_to_pass():
    with pytest.raises(ValueError, match=r"jax\.numpy\.array\(\)"):
        jax.jit(lambda x: x + 1)(dt.tensor([1.0]))
