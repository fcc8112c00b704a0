"""tensorflow.Tensor both ways."""

import gc
import os
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest
import tensorflow as tf

import dovetail as dt

TYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


def aligned(n, dtype="float32"):
    """A NumPy array at an address that TensorFlow accepts, with the values 0, 1, ..., n - 1."""
    return dt.tensor(list(range(n)), dtype=dtype).numpy()


def pointer(x):
    return dt.from_dlpack(x).data_ptr()


def test_a_tensor_comes_in_read_only_and_shares_the_memory():
    x = tf.constant([[1.0, 2.0, 3.0]])
    t = dt.from_dlpack(x)
    assert (t.shape, t.dtype, t.readonly) == ((1, 3), dt.float32, True)
    assert pointer(x) == t.data_ptr()
    assert dt.explain(x).door == "tf.experimental.dlpack" and dt.explain(x).aliases
    del x
    gc.collect()
    assert t.tolist() == [[1, 2, 3]]


def test_a_copy_is_writable():
    t = dt.from_dlpack(tf.constant([1.0, 2.0]), copy=True)
    t[0] = 5
    assert t.tolist() == [5, 2]


@pytest.mark.parametrize("kind", ["string", "resource", "variant"])
def test_what_is_no_number_is_refused_where_tensorflow_would_abort(kind):
    x = {
        "string": lambda: tf.constant(["a"]),
        "resource": lambda: tf.Variable(1.0).handle,
        "variant": lambda: tf.raw_ops.EmptyTensorList(
            element_shape=-1, max_num_elements=1, element_dtype=tf.float32
        ),
    }[kind]()
    with pytest.raises(dt.ExchangeError, match=f"{kind}.*no numbers"):
        dt.from_dlpack(x)


def test_a_type_that_dlpack_lacks_is_an_exchange_error_with_tensorflows_as_its_cause():
    with pytest.raises(dt.ExchangeError, match="DT_QINT8 is not supported") as raised:
        dt.from_dlpack(tf.cast([1], tf.qint8))
    assert isinstance(raised.value.__cause__, tf.errors.InvalidArgumentError)


def test_a_tensor_of_a_graph_has_no_memory():
    errors = []

    @tf.function
    def traced(x):
        with pytest.raises(AttributeError, match="SymbolicTensor") as raised:
            dt.from_dlpack(x)
        errors.append(raised.value)
        return x

    traced(tf.ones(3))
    assert errors


@pytest.mark.parametrize(
    "name",
    TYPES,
)
def test_each_type_goes_both_ways_without_a_copy(name):
    t = dt.tensor([1, 0, 1], dtype=name)
    x = dt.convert(t, tf.Tensor, copy=False)
    assert x.dtype.name == name
    back = dt.from_dlpack(x)
    assert (back.data_ptr(), back.tolist()) == (t.data_ptr(), t.tolist())


@pytest.mark.parametrize("name", ["int4", "float8_e5m2"])
def test_a_type_that_tensorflow_does_not_take_is_named(name):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unsupported"):
        dt.convert(dt.zeros(2, dtype=name), tf.Tensor)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 3)])
def test_shapes_come_and_go(shape):
    x = dt.convert(dt.zeros(shape), tf.Tensor)
    assert tuple(x.shape) == shape and dt.from_dlpack(x).shape == shape


def test_the_memory_lives_as_long_as_the_tensor():
    a = aligned(4)
    before = sys.getrefcount(a)
    x = dt.convert(a, tf.Tensor, copy=False)
    assert sys.getrefcount(a) == before + 1 and pointer(x) == a.ctypes.data
    del x
    gc.collect()
    assert sys.getrefcount(a) == before


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: aligned(8)[1:], "not aligned"),
        (lambda: aligned(8)[::2], "not contiguous"),
        (lambda: aligned(8)[::-1], "negative strides"),
    ],
    ids=["misaligned", "strided", "negative"],
)
def test_what_tensorflow_would_abort_on_or_refuse_is_copied(make, reason):
    a = make()
    x = dt.convert(a, tf.Tensor)
    assert pointer(x) != a.ctypes.data
    assert tf.negative(x).numpy().tolist() == [-value for value in a.tolist()]
    assert reason in dt.explain(a, tf.Tensor).reason
    with pytest.raises(dt.ExchangeError, match=reason):
        dt.convert(a, tf.Tensor, copy=False)


def test_read_only_memory_is_shared_and_never_written():
    a = aligned(16)
    a.flags.writeable = False
    x = dt.convert(a, tf.Tensor, copy=False)
    assert pointer(x) == a.ctypes.data
    variable = tf.Variable(x)
    variable.assign_add(tf.ones(16))
    variable.scatter_nd_update([[0]], [9.0])
    variable[3:5].assign([7.0, 7.0])
    other = tf.Variable(tf.zeros(16))
    other.assign(x)
    other.assign_sub(tf.ones(16))
    tf.function(lambda y: tf.nn.relu(-y) + 1, jit_compile=True)(x)
    tf.tensor_scatter_nd_update(x, [[0]], [5.0])
    assert a.tolist() == list(range(16))


def test_an_eager_tensor_is_given_back_and_its_own_class_is_known():
    x = tf.constant(["any", "type"])
    assert dt.convert(x, tf.Tensor) is x and dt.convert(x, type(x)) is x
    y = tf.constant([1.0, 2.0])
    copied = dt.convert(y, tf.Tensor, copy=True)
    assert pointer(copied) != pointer(y)
    assert type(dt.convert(np.ones(2), type(y))) is type(y)


def test_a_variable_comes_in_by_convert():
    assert dt.convert(tf.Variable([1.0, 2.0]), np.ndarray).tolist() == [1, 2]


def test_nobody_imports_tensorflow_for_the_user():
    program = (
        "import sys, numpy, dovetail as dt\n"
        "class Tensor: pass\n"
        "class EagerTensor: pass\n"
        "for x in (Tensor(), EagerTensor()):\n"
        "    try: dt.from_dlpack(x)\n"
        "    except AttributeError: pass\n"
        "for target in (Tensor, EagerTensor):\n"
        "    try: dt.convert(numpy.ones(1), target)\n"
        "    except TypeError: pass\n"
        "print('tensorflow' in sys.modules)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"
