"""Kernels called from Python: arguments, results and errors."""

import inspect
import math

import numpy as np
import pytest
from libraries import k, refused

import dovetail as dt


def floats(*values):
    return np.array(values, np.float32)


def library(name):
    return pytest.importorskip(name)


MAKERS = {
    "NumPy": lambda a: a,
    "PyTorch": lambda a: library("torch").from_numpy(a.copy()),
    "JAX": lambda a: library("jax").numpy.asarray(a),
    "Paddle": lambda a: dt.convert(a.copy(), library("paddle").Tensor),
    "Dovetail": lambda a: dt.asarray(a.copy()),
    "tvm-ffi": lambda a: library("tvm_ffi").from_dlpack(a.copy()),
}


@pytest.fixture(params=MAKERS)
def make(request):
    """Makes the tensor of one library of an array."""
    return MAKERS[request.param]


def numpy_of(x):
    return dt.from_dlpack(x).numpy()


# Results


def test_a_result_is_made_of_the_library_of_the_arguments(make):
    x, y = make(floats(1, 2)), make(floats(3, 4))
    z = k.scale_add(x, y, 2.0)
    assert type(z) is type(x)
    assert numpy_of(z).tolist() == [5, 8]


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "JAX"])
def test_a_given_output_is_written_and_returned(name):
    x, out = MAKERS[name](floats(1, 2)), MAKERS[name](floats(0, 0))
    assert k.scale_add(x, x, 2.0, out) is out
    assert k.scale_add(x, x, 2.0, out=out) is out
    assert numpy_of(out).tolist() == [3, 6]


def test_what_is_written_in_place_is_the_argument():
    x = floats(1, 2)
    assert k.increment(x, 3) is x
    assert x.tolist() == [4, 5]


def test_what_is_written_in_place_of_jax_is_a_new_array():
    array = MAKERS["JAX"](floats(4, 5))
    assert k.increment(array).tolist() == [5, 6]
    assert array.tolist() == [4, 5]


def test_several_results_are_a_tuple():
    x = floats(1, 2, 3, 4).reshape(2, 2)
    values, indices = k.first_of(x, 1)
    assert values.tolist() == [[1], [3]]
    assert indices.tolist() == [[0], [0]]
    given = np.zeros((2, 1), np.float32)
    assert k.first_of(x, 1, values=given)[0] is given
    assert given.tolist() == [[1], [3]]


def test_results_whose_size_depends_on_data(make):
    x = make(floats(1, -2, 3))
    found = k.positive(x)
    assert type(found) is type(x)
    assert numpy_of(found).tolist() == [1, 3]
    like, other = k.two(x)
    assert numpy_of(like).shape == (3,)
    assert numpy_of(other).shape == (2, 3)
    refused(RuntimeError, "two() returned an empty OwnedTensor", k.two, floats(1), is_empty=True)


def test_a_kernel_that_writes_nothing_returns_none():
    assert k.fail(floats(1)) is None


# Arguments


def echo(**named):
    return k.echo(floats(), ints=[], floats=[], **named).tolist()


def test_defaults_are_those_of_the_library():
    assert echo() == [0.5, 2, -3, 4, 1, 2, 3, 0, 0, 0, -1, -1]


def test_each_kind_of_argument_arrives():
    got = k.echo(
        floats(),
        1,
        2.5,
        3,
        200,
        False,
        "äb",
        view="",
        ints=(1, 2),
        floats=[0.5, 1],
        maybe=7,
        word="word",
    )
    assert got.tolist() == [1, 2.5, 3, 200, 0, 3, 0, 2, 2, 4.5, 7, 4]


def test_scalars_of_numpy_are_numbers():
    got = k.echo(
        floats(),
        np.float32(1.5),
        narrow=np.int64(7),
        flag=np.bool_(True),
        ints=[np.int8(1)],
        floats=[np.float64(2)],
    )
    assert got.tolist()[:5] == [1.5, 2, 7, 4, 1]
    assert echo(number=math.inf)[0] == math.inf


@pytest.mark.parametrize(
    ("named", "error", "words"),
    [
        ({"number": "1"}, TypeError, "argument 'number' must be a float, and is a str"),
        ({"number": None}, TypeError, "argument 'number' must be a float, and is None"),
        ({"narrow": 1.5}, TypeError, "argument 'narrow' must be an int, and is a float"),
        (
            {"narrow": 2**31},
            OverflowError,
            "must be from -2147483648 to 2147483647, and is 2147483648",
        ),
        ({"narrow": 10**30}, OverflowError, "and is 1000000000000000000000000000000"),
        ({"byte": -1}, OverflowError, "argument 'byte' must be from 0 to 255, and is -1"),
        ({"flag": 1}, TypeError, "argument 'flag' must be a bool, and is an int"),
        ({"text": b"x"}, TypeError, "argument 'text' must be a str, and is a bytes"),
        ({"text": "\ud800"}, UnicodeEncodeError, "surrogates"),
        ({"maybe": "x"}, TypeError, "argument 'maybe' must be a float, and is a str"),
        ({"word": 3}, TypeError, "argument 'word' must be a str, and is an int"),
    ],
)
def test_wrong_values_are_named(named, error, words):
    refused(error, words, echo, **named)


def test_wrong_lists_are_named():
    call = k.echo
    refused(
        TypeError,
        "'ints' must be a list of ints, and element 1 is a float",
        call,
        floats(),
        ints=[1.5],
        floats=[],
    )
    refused(
        TypeError, "'ints' must be a list of ints, and is an int", call, floats(), ints=3, floats=[]
    )
    refused(
        TypeError,
        "'floats' must be a list of floats, and element 1 is a str",
        call,
        floats(),
        ints=[],
        floats=["a"],
    )


class Loud:
    """Raises where a number is asked for."""

    def __float__(self):
        raise LookupError("loud")

    __index__ = __float__


class Resizes:
    """Takes the memory of an array away where a number is asked for."""

    def __init__(self, array):
        self.array = array

    def __index__(self):
        self.array.resize(1 << 20, refcheck=False)
        return 1


def test_the_code_of_a_number_can_not_take_memory_away():
    x = np.ones(3, np.float32)
    assert k.first_of(x, Resizes(x))[0].tolist() == [1]


class Calls:
    """Calls the kernel where a number is asked for."""

    def __float__(self):
        return float(k.scale_add(floats(1), floats(1), self)[0])


def test_calls_within_calls_end_with_an_error():
    refused(RecursionError, "", k.scale_add, floats(1), floats(1), Calls())


def test_an_error_of_the_arguments_own_code_stays():
    refused(LookupError, "loud", echo, number=Loud())
    refused(LookupError, "loud", echo, narrow=Loud())


def test_calls_are_bound_as_those_of_python():
    x = floats(1)
    refused(TypeError, "scale_add() missing a required argument: 'a'", k.scale_add, x, x)
    refused(
        TypeError,
        "scale_add() takes at most 4 positional arguments, and got 5",
        k.scale_add,
        x,
        x,
        1,
        x,
        x,
    )
    refused(TypeError, "scale_add() got an unexpected keyword argument 'b'", k.scale_add, x, x, b=1)
    refused(
        TypeError, "scale_add() got multiple values for argument 'x'", k.scale_add, x, x, 1, x=x
    )
    refused(TypeError, "first_of() takes at most 2 positional arguments", k.first_of, x, 1, x)
    assert k.scale_add(a=2, y=x, x=x).tolist() == [3]
    name = "".join(["sc", "ale"]) + "_x"
    refused(TypeError, "unexpected keyword argument 'scale_x'", k.scale_add, x, x, **{name: 1})


def test_wrong_tensors_are_named():
    x = floats(1, 2)
    call = k.scale_add
    refused(TypeError, "scale_add(): argument 'x' must be a tensor, and is None", call, None, x, 1)
    refused(TypeError, "scale_add(): argument 'x': 'str' object is no tensor", call, "x", x, 1)
    refused(
        TypeError,
        "argument 'y' (numpy.ndarray) must be float32, and is float64",
        call,
        x,
        x.astype(float),
        1,
    )
    refused(TypeError, "argument 'x' (numpy.ndarray) must have 1 dimension", call, x[None], x, 1)
    refused(
        ValueError,
        "argument 'y' (numpy.ndarray) has size n = 1 in dimension 0, and argument 'x' has n = 2",
        call,
        x,
        x[:1],
        1,
    )
    frozen = x.copy()
    frozen.flags.writeable = False
    refused(
        BufferError,
        "argument 'out' (numpy.ndarray) is written by the function, and is read-only",
        call,
        x,
        x,
        1,
        frozen,
    )
    refused(
        ValueError,
        "argument 'low' has memory in common with argument 'x', and must not",
        k.halves,
        x,
        x[:1],
        floats(0),
    )
    deep = np.zeros((1,) * 32, np.float32)
    refused(TypeError, "must have 1 dimension", call, deep, x, 1)


def test_wrong_sizes_are_named():
    x = floats(1, 2)
    refused(ValueError, "argument 'k' must be from 0 to", k.first_of, x, -1)
    refused(
        ValueError,
        "argument 'values' (numpy.ndarray) has size k = 3 in dimension 0, and argument 'k' has",
        k.first_of,
        x,
        2,
        values=floats(0, 0, 0),
    )
    refused(ValueError, "there are fewer", k.first_of, x, 3)


def test_lists_of_tensors():
    x = floats(1, 2)
    assert k.total([x, x]).tolist() == [2, 4]
    assert k.total((x,), bias=x).tolist() == [2, 4]
    assert k.total([x] * 100).tolist() == [100, 200]
    refused(
        TypeError,
        "argument 'xs' must be a list or tuple of tensors, and is a numpy.ndarray",
        k.total,
        x,
    )
    refused(TypeError, "argument 'xs', element 2: 'int' object is no tensor", k.total, [x, 3])
    refused(
        ValueError,
        "argument 'xs', element 2 (numpy.ndarray) has size n = 1 in dimension 0, and an element",
        k.total,
        [x, x[:1]],
    )
    refused(ValueError, "no argument has the size n", k.total, [])


def test_copies_are_made_where_the_kernel_allows_them():
    x = np.arange(6, dtype=np.float64).reshape(2, 3).T
    assert k.packed(x).tolist() == x.tolist()
    assert k.packed(dt.asarray(x)).tolist() == x.tolist()


# Exceptions


@pytest.mark.parametrize(
    ("what", "error", "words"),
    [
        ("value", ValueError, "no such value"),
        ("index", IndexError, "no such index"),
        ("overflow", OverflowError, "too large"),
        ("memory", MemoryError, "bad_alloc"),
        ("other", RuntimeError, "an exception that is no std::exception"),
        ("runtime", RuntimeError, "it failed"),
        ("thread", IndexError, "in a thread"),
    ],
)
def test_exceptions_of_the_function_become_those_of_python(what, error, words):
    refused(error, words, k.fail, floats(1), what)


# Functions


def test_a_function_tells_of_itself():
    assert str(inspect.signature(k.scale_add)) == "(x, y, a, out=None)"
    assert str(inspect.signature(k.first_of)) == "(x, k, *, values=None, indices=None)"
    assert str(inspect.signature(k.echo)) == (
        "(x, number=0.5, single=2, narrow=-3, byte=4, flag=True, text='ab', *, view='abc', ints, "
        "floats, maybe=None, word=None, out=None)"
    )
    assert k.scale_add.__name__ == "scale_add"
    assert k.scale_add.__module__ == "under_test"
    assert inspect.isbuiltin(k.scale_add)
    assert "What it got, as numbers." in k.echo.__doc__
    assert "out  float32[n], writable; None: a new one" in k.scale_add.__doc__
