"""Kernels within JAX's programs."""

import enum
import gc
import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from libraries import k, refused

X, Y = jnp.arange(4.0), jnp.ones(4)


def under_jit(function, *arrays, **named):
    """The call within a program, of a function whose arguments are all traced."""
    return jax.jit(lambda *traced: function(*traced, **named))(*arrays)


def test_a_call_within_a_program_gives_what_the_plain_call_gives():
    made = jax.jit(lambda x, y: k.scale_add(x, y, 2.0))(X, Y)
    assert isinstance(made, jax.Array)
    assert made.tolist() == k.scale_add(X, Y, 2.0).tolist() == [1, 3, 5, 7]


def test_a_function_is_traced_once_for_each_shape():
    traces = []

    @jax.jit
    def function(x):
        traces.append(x.shape)
        return k.scale_add(x, x, 1.0)

    for size in (3, 3, 5):
        assert function(jnp.ones(size)).tolist() == [2.0] * size
    assert traces == [(3,), (5,)]


def test_arrays_of_numpy_may_be_mixed_with_traced_ones():
    y = np.ones(4, np.float32)
    assert jax.jit(lambda x: k.scale_add(x, y, 2.0))(X).tolist() == [1, 3, 5, 7]


def test_what_jax_would_narrow_or_is_no_array_is_refused():
    def call(y):
        return lambda x: jax.jit(lambda x: k.scale_add(x, y, 1.0))(x)

    words = "scale_add(): argument 'y' is float64, which JAX makes float32 of. Pass float32"
    refused(TypeError, words, call(np.ones(4)), X)
    words = "scale_add(): argument 'y' (list) must be an array of JAX or NumPy"
    refused(TypeError, words, call([1.0] * 4), X)
    words = "total(): argument 'xs', element 2 (int) must be an array of JAX or NumPy"
    refused(TypeError, words, jax.jit(lambda x: k.total([x, 3])), X)


def test_each_kind_of_argument_arrives():
    def echoed(*arguments, **named):
        wanted = k.echo(np.asarray(X), *arguments, **named).tolist()
        with jax.enable_x64(True):
            got = jax.jit(lambda x: k.echo(x, *arguments, **named))(X)
        assert got.dtype == np.float64
        assert got.tolist() == wanted

    lists = {"ints": [1, 2**40], "floats": [0.1]}
    echoed(**lists)
    echoed(1, 2.5, -7, 255, False, "äö", view="", ints=(), floats=[], maybe=3, word="x" * 100)
    echoed(np.float32(0.1), np.float64(3), np.int8(-1), True, np.bool_(True), "", **lists)


def test_numbers_may_be_traced_too():
    assert under_jit(k.scale_add, X, Y, 2.0).tolist() == [1, 3, 5, 7]
    assert under_jit(k.scale_add, X, Y, 2).tolist() == [1, 3, 5, 7]
    assert under_jit(k.scale_add, X, Y, jnp.bfloat16(2)).tolist() == [1, 3, 5, 7]
    assert under_jit(k.increment, X, 3).tolist() == [3, 4, 5, 6]
    with jax.enable_x64(True):
        assert under_jit(k.increment, X, 2**40).tolist() == [2.0**40] * 4
    traced = jax.jit(lambda x, flag: k.echo(x, flag=flag, ints=[], floats=[]))
    with jax.enable_x64(True):
        assert [traced(X, flag)[4] for flag in (True, False)] == [1, 0]


def test_large_unsigned_numbers_are_what_they_are():
    assert under_jit(k.increment, X, jnp.uint32(3_000_000_000)).tolist() == [3e9] * 4
    with jax.enable_x64(True):
        assert under_jit(k.increment, X, jnp.uint64(2**62)).tolist() == [2.0**62] * 4
        words = "increment(): argument 'by' must be from -9223372036854775808 to "
        words += "9223372036854775807, and is 9223372036854775813"
        call = jax.jit(lambda x: k.increment(x, jnp.uint64(2**63 + 5) + x.size - 4))
        refused(jax.errors.JaxRuntimeError, words, call, X)


def test_negative_zero_keeps_its_sign():
    zeros = jnp.full(4, -0.0)
    both = jax.jit(lambda x, y: (k.scale_add(x, y, 0.0), k.scale_add(x, y, -0.0)))(Y, zeros)
    assert [np.signbit(made).tolist() for made in both] == [[False] * 4, [True] * 4]


def test_a_text_is_passed_and_not_what_its_class_says_of_it():
    class Word(str, enum.Enum):
        ABC = "abc"

    with jax.enable_x64(True):
        made = jax.jit(lambda x: k.echo(x, text=Word.ABC, ints=[], floats=[]))(X)
    assert made[5] == 3


def test_a_traced_number_of_another_kind_is_refused():
    words = "scale_add(): argument 'a' must be a float, and is float32[4]"
    refused(TypeError, words, under_jit, k.scale_add, X, Y, X)
    words = "scale_add(): argument 'a' must be a float, and is complex64[]"
    refused(TypeError, words, under_jit, k.scale_add, X, Y, 1j)
    words = "increment(): argument 'by' must be an int, and is float32[]"
    refused(TypeError, words, under_jit, k.increment, X, 1.5)
    words = "first_of(): argument 'k' is a size of results, and must be an int that JAX does not"
    refused(TypeError, words, under_jit, k.first_of, X, 2)


def test_what_is_left_out_may_be_left_out():
    assert under_jit(lambda x: k.total([x, x]), X).tolist() == [0, 2, 4, 6]
    assert under_jit(lambda x, y: k.total([x, x], y), X, Y).tolist() == [1, 3, 5, 7]
    assert under_jit(lambda x: k.total([], x), Y).tolist() == [1, 1, 1, 1]
    assert under_jit(lambda x: k.total((x,) * 40), Y).tolist() == [40] * 4


def test_what_a_kernel_changes_is_a_result():
    assert under_jit(k.increment, X).tolist() == [1, 2, 3, 4]
    assert jax.jit(lambda x: (k.increment(x), x))(X)[1].tolist() == X.tolist()
    donated = jax.jit(lambda x: k.increment(x * 1.0), donate_argnums=0)
    assert donated(jnp.arange(4.0)).tolist() == [1, 2, 3, 4]


def test_several_results_are_a_tuple():
    low, high = under_jit(k.halves, X)
    assert (low.tolist(), high.tolist()) == ([0, 1], [2, 3])
    with jax.enable_x64(True):
        values, indices = jax.jit(lambda x: k.first_of(x, 2))(jnp.ones((2, 3, 4)))
    assert (values.shape, indices.shape, indices.dtype) == ((2, 3, 2), (2, 3, 2), np.int64)


def test_a_type_that_jax_does_not_have_is_an_error():
    words = (
        "first_of(): argument 'indices' can't be made: the library of the arguments has no int64"
    )
    refused(TypeError, words, jax.jit(lambda x: k.first_of(x, 2)), X)


def test_a_result_may_not_be_given():
    words = "scale_add(): argument 'out' must be left out: JAX's arrays never change"
    refused(TypeError, words, under_jit, lambda x, out: k.scale_add(x, x, 1.0, out), X, Y)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_types_arrive_bit_by_bit(dtype):
    x = jnp.array([1, 2.5, -3], dtype)
    made = under_jit(k.increment, x)
    assert (made.dtype, made.tolist()) == (x.dtype, [2, 3.5, -2])


def test_empty_arrays_are_taken():
    assert under_jit(k.scale_add, X[:0], X[:0], 1.0).shape == (0,)
    assert under_jit(k.increment, X[:0]).shape == (0,)


# Both are checked when JAX traces the call: the plain call's text, and its class.
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (k.scale_add, (X, Y[:2], 1.0)),
        (k.scale_add, (X, jnp.ones((4, 1)), 1.0)),
        (k.scale_add, (X, Y.astype(jnp.int32), 1.0)),
        (k.increment, (jnp.ones(3, jnp.int8),)),
        (k.halves, (jnp.ones(3),)),
        (lambda x: k.scale_add(x, x, "a"), (X,)),
        (lambda x: k.scale_add(x, x, None), (X,)),
        (lambda x: k.increment(x, 2**70), (X,)),
        (lambda x: k.echo(x, byte=256, ints=[], floats=[]), (X,)),
        (lambda x: k.echo(x, ints=[1.5], floats=[]), (X,)),
        (lambda x: k.first_of(x, -1), (X,)),
        (lambda x: k.total([x, x[:1]]), (X,)),
        (lambda x: k.total([x], x[:1]), (X,)),
        (lambda x: k.scale_add(x, x), (X,)),
        (lambda x: k.scale_add(x, None, 1.0), (X,)),
    ],
)
def test_bad_arguments_have_the_plain_calls_error(function, arguments):
    def error_of(call):
        with pytest.raises((TypeError, ValueError, OverflowError)) as found:
            call(*arguments)
        # (JAX notes something of its own behind its errors.)
        return found.type, re.sub(r"\([\w.]+\)", "(array)", str(found.value))

    assert error_of(jax.jit(function)) == error_of(function)


def test_what_a_kernel_throws_is_jaxs_error():
    with jax.enable_x64(True):
        call = jax.jit(lambda x: k.first_of(x, 9))
        words = "INVALID_ARGUMENT: first_of(): there are fewer"
        refused(jax.errors.JaxRuntimeError, words, call, X)
    for what, code in {
        "value": "INVALID_ARGUMENT: fail(): no such value",
        "index": "OUT_OF_RANGE: fail(): no such index",
        "overflow": "OUT_OF_RANGE: fail(): too large",
        "memory": "RESOURCE_EXHAUSTED: fail(): std::bad_alloc",
        "other": "INTERNAL: fail(): an exception that is no std::exception",
        "bytes": "INTERNAL: fail(): bad ?",
        "thread": "OUT_OF_RANGE: fail(): in a thread",
    }.items():
        call = jax.jit(lambda x, what=what: k.fail(x, what))

        def wait(x, call=call):
            call(x)
            jax.effects_barrier()
            jax.block_until_ready(jnp.zeros(1) + x)

        refused(jax.errors.JaxRuntimeError, code, wait, X)


def test_a_kernel_without_results_is_called_too():
    assert jax.jit(lambda x: k.fail(x))(X) is None


def test_a_size_that_depends_on_data_is_refused():
    words = "positive() has results whose sizes depend on data, and can't be traced by JAX"
    refused(TypeError, words, jax.jit(k.positive), X)


def test_vmap_calls_the_kernel_for_each_element():
    x, y = jnp.arange(12.0).reshape(3, 4), jnp.ones((4, 3))
    made = jax.vmap(lambda x, y, a: k.scale_add(x, y, a), in_axes=(0, 1, 0))(x, y, jnp.arange(3))
    assert made.tolist() == (x * jnp.arange(3)[:, None] + 1).tolist()
    assert jax.vmap(k.increment)(x).tolist() == (x + 1).tolist()
    assert jax.vmap(jax.vmap(k.increment, 1), 0)(x[None, :, :]).shape == (1, 4, 3)
    assert jax.jit(jax.vmap(lambda x: k.total([x, x])))(x).tolist() == (2 * x).tolist()


def test_control_flow_may_call_it():
    def step(carry, x):
        carry = k.scale_add(carry, x, 2.0)
        return carry, carry.sum()

    last, sums = jax.lax.scan(step, jnp.zeros(4), jnp.ones((3, 4)))
    assert (last.tolist(), sums.tolist()) == ([7.0] * 4, [4, 12, 28])
    assert jax.lax.cond(True, k.increment, lambda x: x, X).tolist() == [1, 2, 3, 4]


def test_within_shard_map_results_differ_along_the_axes_of_the_arguments():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    rows, whole = jax.P("d"), jax.P()

    def shards(function, out_specs=rows):
        return jax.jit(
            jax.shard_map(function, mesh=mesh, in_specs=(rows, whole), out_specs=out_specs)
        )

    def steps(x, y):
        return jax.lax.scan(lambda c, _: (k.scale_add(c, y, 2.0), None), x, length=3)[0]

    assert shards(lambda x, y: k.scale_add(x, y, 2.0))(X, Y).tolist() == [1, 3, 5, 7]
    assert shards(steps)(X, Y).tolist() == [7, 15, 23, 31]
    same = shards(lambda x, y: k.scale_add(y, y, 2.0), whole)
    assert same(X, Y).tolist() == [3] * 4
    # A result of shards is not the same on all devices.
    with pytest.raises(ValueError, match="out_specs"):
        shards(lambda x, y: k.scale_add(x, y, 2.0), whole)(X, Y)


def test_a_process_may_end_while_programs_run():
    code = """
import jax, jax.numpy as jnp, libraries
cast = jax.jit(lambda x: libraries.k.cast(x))
for _ in range(200):
    last = cast(jnp.ones(100_000, jnp.int8))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300, env=environment)


@pytest.mark.parametrize(
    ("name", "count", "operands"),
    [
        ("total", -1, [-1, -1, 0]),
        ("total", 1, [2**61, -1, 0]),
        ("total", 1, [-5, 0, 0]),
        ("total", 1, [1, 2, 0]),
        ("increment", 1, [1, -1]),
        ("increment", 1, [1, 3]),
        ("increment", 1, [1]),
    ],
)
def test_a_program_for_another_library_of_the_name_is_refused(name, count, operands):
    call = jax.ffi.ffi_call(f"dovetail.under_test.{name}", jax.ShapeDtypeStruct((4,), X.dtype))
    words = f"{name}(): XLA passes other arguments than JAX traced"
    numbers = {"@operands": np.array(operands, np.int64)}
    refused(Exception, words, jax.jit(lambda x: call(*[x] * max(count, 0), **numbers)), X)


def test_an_exported_program_runs_where_the_library_was_loaded():
    allowed = [jax.export.DisabledSafetyCheck.custom_call("dovetail.under_test.scale_add")]
    program = jax.jit(lambda x: k.scale_add(x, x, 2.0))
    exported = jax.export.export(program, disabled_checks=allowed)(X).serialize()
    code = f"""
import jax, libraries
program = jax.export.deserialize(bytearray({bytes(exported)!r}))
assert program.call(jax.numpy.arange(4.0)).tolist() == [0, 3, 6, 9]
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300, env=environment)


def test_a_derivative_without_a_rule_is_an_error():
    function = jax.grad(lambda x: k.scale_add(x, x, 2.0).sum())
    refused(ValueError, "The FFI call to `dovetail.under_test.scale_add` cannot be", function, X)


def test_a_custom_rule_gives_derivatives():
    @jax.custom_vjp
    def scale_add(x, y, a):
        return k.scale_add(x, y, a)

    scale_add.defvjp(
        lambda x, y, a: (k.scale_add(x, y, a), (x, a)),
        lambda kept, g: (k.scale_add(g, jnp.zeros_like(g), kept[1]), g, g @ kept[0]),
    )
    gradients = jax.jit(jax.grad(lambda *all: (scale_add(*all) ** 2).sum(), argnums=(0, 1, 2)))
    wanted = jax.grad(lambda x, y, a: ((a * x + y) ** 2).sum(), argnums=(0, 1, 2))
    for got, expected in zip(gradients(X, Y, 2.0), wanted(X, Y, 2.0), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_copy_that_a_parameter_allows_is_made():
    x = jnp.arange(6, dtype=jnp.int32).reshape(2, 3)
    assert under_jit(k.packed, x.astype(jnp.bfloat16)).tolist() == x.tolist()
    assert under_jit(k.cast, jnp.ones(3, jnp.int8)).dtype == np.float32
    words = "packed(): argument 'x' (jax.Array) must be float32"
    refused(TypeError, words, under_jit, k.packed, 1j * x)


def test_many_calls_leak_nothing():
    call = jax.jit(lambda x: k.total([k.scale_add(x, x, 1.0), k.increment(x)]))
    call(X)
    gc.collect()
    count = len(jax.live_arrays())
    for _ in range(200):
        call(X).block_until_ready()
    gc.collect()
    assert len(jax.live_arrays()) == count


def test_eager_calls_take_arrays_of_all_types():
    x = jnp.array([1, 2], ml_dtypes.bfloat16)
    assert k.increment(x).tolist() == [2, 3]
    assert x.tolist() == [1, 2]
