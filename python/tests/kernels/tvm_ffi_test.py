"""Kernels called by tvm-ffi, by the symbols that a library exports."""

import re
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import torch
import tvm_ffi
from libraries import k, path_of, refused

import dovetail as dt

m = tvm_ffi.load_module(path_of("kernel_library.so"))


def floats(*values):
    return np.array(values, np.float32)


X, Y = floats(0, 1, 2, 3), floats(1, 1, 1, 1)

MAKERS = {
    "NumPy": np.copy,
    "PyTorch": lambda array: torch.from_numpy(array.copy()),
    "tvm-ffi": lambda array: tvm_ffi.from_dlpack(torch.from_numpy(array.copy())),
    "Dovetail": lambda array: dt.asarray(array.copy()),
}


@pytest.mark.parametrize("library", MAKERS)
def test_tensors_of_each_library_are_taken(library):
    make = MAKERS[library]
    out = make(np.zeros_like(X))
    assert m["scale_add"](make(X), make(Y), 2.0, out) is None
    assert np.from_dlpack(out).tolist() == [1, 3, 5, 7]


def test_views_are_taken_as_they_are():
    out = np.zeros((4, 2), np.float32)
    m.scale_add(X[::-1], Y, 2, out[:, 1])
    assert out.tolist() == [[0, 7], [0, 5], [0, 3], [0, 1]]


def test_each_kind_of_argument_arrives():
    def echoed(*arguments):
        out = np.zeros(12)
        m.echo(X, *arguments, out)
        return out.tolist()

    lists = [1, 2**40], [0.1, 2]
    wanted = k.echo(X, 0.25, 2.5, -7, 255, False, "äö", view="", ints=lists[0], floats=lists[1])
    assert echoed(0.25, 2.5, -7, 255, False, "äö", "", *lists, None, None) == wanted.tolist()
    wanted = k.echo(X, 1, 2, 3, 4, True, "x" * 99, ints=[], floats=[], maybe=3, word="a\0b")
    assert echoed(1, 2, 3, 4, True, "x" * 99, "abc", [], (), 3, "a\0b") == wanted.tolist()


def test_what_has_a_default_may_be_left_out_at_the_end():
    x = np.copy(X)
    m.increment(x)
    assert x.tolist() == [1, 2, 3, 4]
    m.increment(x, 3)
    assert x.tolist() == [4, 5, 6, 7]
    m.fail(X)
    words = "echo() missing a required argument: 'ints'"
    refused(TypeError, words, m.echo, X)


def test_lists_and_what_may_be_none():
    out = np.zeros_like(X)
    m.total([X, Y, X], None, out)
    assert out.tolist() == [1, 3, 5, 7]
    m.total((), torch.ones(4), out)
    assert out.tolist() == [1, 1, 1, 1]
    m.total([torch.ones(4)] * 50, None, out)
    assert out.tolist() == [50] * 4


def test_tensors_that_a_kernel_returns():
    made = m.positive(X)
    assert isinstance(made, tvm_ffi.Tensor)
    assert np.from_dlpack(made).tolist() == [1, 2, 3]
    first, second = m.two(X, False)
    assert (first.shape, second.shape, str(second.dtype)) == ((4,), (2, 3), "int32")
    refused(RuntimeError, "two() returned an empty OwnedTensor", m.two, X, True)


ERRORS = (TypeError, ValueError, IndexError, RuntimeError, MemoryError)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("scale_add", (X, Y[:2], 1.0, X)),
        ("scale_add", (X, np.ones((4, 1), np.float32), 1.0, X)),
        ("scale_add", (X, Y.astype(int), 1.0, X)),
        ("scale_add", (X, Y, "a", X)),
        ("scale_add", (X, Y, None, X)),
        ("scale_add", (X,)),
        ("scale_add", (X, Y, 1.0, X, X)),
        ("scale_add", (X, None, 1.0, X)),
        ("increment", (np.ones(3, np.int8),)),
        ("increment", (floats(1), 1.5)),
        ("halves", (floats(1, 2), X[:1], X[:1])),
        ("halves", (floats(1, 2, 3), X[:1], X[:1])),
        ("total", ([X, X[:1]], None, X)),
        ("fail", (X, 3)),
        ("fail", (X, "value")),
        ("fail", (X, "index")),
        ("fail", (X, "bytes")),
        ("fail", (X, "other")),
        ("fail", (X, "memory")),
        ("first_of", (X, -1, X, np.zeros(4, int))),
        ("first_of", (X, 3, X, np.zeros(4, int))),
        ("first_of", (X, 9, np.zeros(9, np.float32), np.zeros(9, int))),
        ("packed", (np.ones((2, 2), np.float32).T, np.ones((2, 2), np.float32).T)),
    ],
)
def test_bad_arguments_have_the_plain_calls_error(name, arguments):
    def error_of(call, *named):
        with pytest.raises(ERRORS) as e:
            call(*named)
        text = str(e.value).replace("(numpy.ndarray)", "(tvm_ffi.Tensor)")
        # (tvm-ffi does not tell whose tensor it is.)
        text = text.replace("numpy.ascontiguousarray(out)", "a contiguous copy")
        return e.type, re.sub(r'Pass \w+\.astype\("(\w+)"\)', r"Pass a tensor of \1", text)

    plain = getattr(k, name)
    if name == "first_of":
        x, size, values, indices = arguments
        wanted = error_of(lambda: plain(x, size, values=values, indices=indices))
    else:
        wanted = error_of(plain, *arguments)
    if name == "packed":  # the package makes copies, and refuses `out`; tvm-ffi refuses `x` first
        wanted = (
            wanted[0],
            wanted[1].replace("'out'", "'x'").replace(", and read the result there", ""),
        )
    assert error_of(getattr(m, name), *arguments) == wanted


def test_kinds_that_tvm_ffi_does_not_know_are_runtime_errors():
    refused(RuntimeError, "fail(): too large", m.fail, X, "overflow")
    words = "echo(): argument 'byte' must be from 0 to 255, and is 256"
    refused(RuntimeError, words, m.echo, X, 1, 2, 3, 256, True, "", "", [], [])


def test_what_is_no_tensor_is_refused_and_a_result_is_not_made():
    words = "total(): argument 'xs' must be a list or tuple of tensors, and is a tvm_ffi.Tensor"
    refused(TypeError, words, m.total, X, None, X)
    refused(
        TypeError,
        "argument 'xs', element 1 must be a tensor, and is None",
        m.total,
        [None],
        None,
        X,
    )
    words = "scale_add(): argument 'out' must be a tensor, which the function writes"
    refused(TypeError, words, m.scale_add, X, Y, 1.0)
    refused(TypeError, words, m.scale_add, X, Y, 1.0, None)


def test_types_arrive_bit_by_bit():
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float64):
        x = torch.tensor([1, 2.5, -3], dtype=getattr(torch, np.dtype(dtype).name))
        m.increment(x)
        assert x.tolist() == [2, 3.5, -2]


def test_it_needs_neither_the_package_nor_numpy():
    program = f"""
import sys, tvm_ffi
m = tvm_ffi.load_module({path_of("kernel_library.so")!r})
import torch
x = torch.arange(1000.0)
m.on_threads(x, x)          # on one thread
assert x[-1] == 1998
try:
    m.two(x, False)
except RuntimeError as error:
    assert "two(): dovetail::Empty makes no tensor without the package" in str(error)
else:
    raise AssertionError
try:
    m.scale_add(x, x[:1], 1.0, x)
except ValueError as error:
    assert "argument 'y' (tvm_ffi.Tensor) has size n = 1 in dimension 0" in str(error)
else:
    raise AssertionError
assert "dovetail" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
