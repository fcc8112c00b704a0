"""Types and devices are exchanged by __dlpack_data_type__ and __dlpack_device__ (rule 63)."""

import gc
import sys
import weakref

import numpy as np
import pytest
import torch
import tvm_ffi
from peers import paddle

import dovetail as dt

DTYPES = [t for t in vars(dt).values() if isinstance(t, dt.DType)] + [dt.dtype("float4_e2m1fnx2")]
PAIRS = [(code, 1) for code in (1, 2, 3, 4, *range(7, 22))]
# The codes that are newer than dlpack.h 1.3 (newer_codes.h), which tvm-ffi does not know.
NEWER = {19, 20, 21}
ECHO = tvm_ffi.get_global_func("testing.echo")


def with_method(name, answer):
    """An object of a new class whose method `name` returns `answer`, or raises it."""

    def method(_):
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return type("Foreign", (), {name: method})()


def a_type(answer):
    return with_method("__dlpack_data_type__", answer)


def a_device(answer):
    return with_method("__dlpack_device__", answer)


# Rule 63.
@pytest.mark.parametrize("t", DTYPES, ids=str)
def test_a_type_tells_dlpacks_numbers_and_is_known_by_them(t):
    answer = t.__dlpack_data_type__()
    assert answer == (t.code, t.bits, t.lanes)
    assert [type(part) for part in answer] == [int, int, int]
    assert dt.dtype(a_type(answer)) == t == a_type(answer)


# Rule 63.
@pytest.mark.parametrize("pair", [*PAIRS, (42, 3)], ids=str)
def test_a_device_tells_dlpacks_numbers_and_is_known_by_them(pair):
    d = dt.Device(pair)
    answer = d.__dlpack_device__()
    assert answer == pair
    assert [type(part) for part in answer] == [int, int]
    assert dt.Device(a_device(answer)) == d == a_device(answer)


# Rule 63.
@pytest.mark.parametrize("t", [t for t in DTYPES if "complex" not in t.name], ids=str)
def test_a_function_of_tvm_ffi_takes_our_types(t):  # which has no complex ones
    seen = []
    assert tvm_ffi.convert(lambda x: seen.append(x) or x)(t) == t.name
    assert type(seen[0]) is tvm_ffi.dtype
    assert dt.dtype(seen[0]) == dt.dtype(ECHO(t)) == dt.dtype(tvm_ffi.convert(t)) == t


# Rule 63.
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[0] not in NEWER], ids=str)
def test_a_function_of_tvm_ffi_takes_our_devices(pair):
    d, seen = dt.Device(pair), []
    tvm_ffi.convert(seen.append)(d)
    assert type(seen[0]) is tvm_ffi.Device
    assert (seen[0].dlpack_device_type(), seen[0].index) == pair
    assert dt.Device(seen[0]) == dt.Device(ECHO(d)) == d


# Rule 63.
@pytest.mark.parametrize("name", ["float32", "bfloat16", "bool", "complex64", "float8_e4m3fn"])
def test_the_types_and_places_of_paddle_answer_for_themselves(name):
    t = getattr(paddle, name)
    assert dt.dtype(t).__dlpack_data_type__() == t.__dlpack_data_type__()
    assert dt.zeros(2, dtype=t, device=paddle.CPUPlace()).dtype is getattr(dt, name)


INT16 = a_type((0, 16, 1))
OF_TYPES = {
    "dtype": lambda: dt.dtype(INT16),
    "tensor": lambda: dt.tensor([1], dtype=INT16).dtype,
    "to_tensor": lambda: dt.to_tensor([1], INT16).dtype,
    "empty": lambda: dt.empty(2, dtype=INT16).dtype,
    "zeros": lambda: dt.zeros(2, dtype=INT16).dtype,
    "full": lambda: dt.full(2, 1, dtype=INT16).dtype,
    "arange": lambda: dt.arange(2, dtype=INT16).dtype,
    "frombuffer": lambda: dt.frombuffer(bytearray(2), dtype=INT16).dtype,
    "to": lambda: dt.zeros(2).to(INT16).dtype,
    "to, by keyword": lambda: dt.zeros(2).to(dtype=INT16).dtype,
    "to, after a device": lambda: dt.zeros(2).to("cpu", INT16).dtype,
    "ipc.empty": lambda: dt.ipc.empty(2, dtype=INT16).dtype,
}
CPU = a_device((1, 0))
OF_DEVICES = {
    "Device": lambda: dt.Device(CPU),
    "tensor": lambda: dt.tensor([1], device=CPU).device,
    "to_tensor": lambda: dt.to_tensor([1], place=CPU).device,
    "empty": lambda: dt.empty(2, device=CPU).device,
    "from_dlpack": lambda: dt.from_dlpack(np.zeros(2), device=CPU).device,
    "__dlpack__": lambda: dt.from_dlpack(dt.zeros(2).__dlpack__(dl_device=CPU)).device,
    "to": lambda: dt.zeros(2).to(CPU).device,
    "to, by keyword": lambda: dt.zeros(2).to(device=CPU, dtype=INT16).device,
    "current_stream": lambda: dt.current_stream(CPU).device,
    "allocators": lambda: dt.allocators(CPU) == dt.allocators("cpu") and dt.Device("cpu"),
    "explain": lambda: dt.explain(np.zeros(2), device=CPU) and dt.Device("cpu"),
}


# Rule 63.
@pytest.mark.parametrize("call", OF_TYPES)
def test_whatever_has_the_method_is_taken_as_a_type(call):
    assert OF_TYPES[call]() is dt.int16


# Rule 63.
@pytest.mark.parametrize("call", OF_DEVICES)
def test_whatever_has_the_method_is_taken_as_a_device(call):
    assert OF_DEVICES[call]() == dt.Device("cpu")


def test_the_method_is_looked_up_on_the_class():
    x = type("Foreign", (), {})()
    x.__dlpack_data_type__ = x.__dlpack_device__ = lambda: pytest.fail("It was called.")
    removed = type("Removed", (type(INT16), type(CPU)), {})
    removed.__dlpack_data_type__ = removed.__dlpack_device__ = None
    for no_type in (x, removed(), type(INT16)):
        with pytest.raises(TypeError, match="element type"):
            dt.dtype(no_type)
    for no_device in (x, removed(), type(CPU)):
        with pytest.raises(ValueError, match="is no device"):
            dt.Device(no_device)


def test_the_type_and_the_index_may_be_enumerations_and_the_index_none():
    kind = type("Kind", (), {"__int__": lambda _: 2, "__hash__": None})()
    assert dt.Device(a_device((kind, None))) == dt.Device((kind, None)) == dt.Device("cuda:0")
    assert dt.dtype(a_type((kind, np.int64(64), True))) is dt.float64


@pytest.mark.parametrize("x", [dt.zeros(2), np.zeros(2), torch.zeros(2)], ids=lambda x: type(x))
def test_a_tensor_is_neither_a_type_nor_a_device(x):
    with pytest.raises(TypeError, match=r"is a tensor, not a device; pass x\.device"):
        dt.empty(2, device=x)
    with pytest.raises(TypeError, match=r"is a tensor, not an element type; pass x\.dtype"):
        dt.empty(2, dtype=x)
    assert dt.empty(2, dtype=x.dtype, device=x.__dlpack_device__()).device == dt.Device("cpu")


BAD_TYPES = [
    ("2, 32, 1", TypeError, r"not a tuple \(code, bits, lanes\)"),
    ([2, 32, 1], TypeError, r"returned \[2, 32, 1\], not a tuple"),
    ((2, 32), TypeError, "not a tuple"),
    ((2, 32, 1, 0), TypeError, "not a tuple"),
    (("2", 32, 1), TypeError, "'2' in .* is no integer"),
    ((2, 32.0, 1), TypeError, "32.0 in .* is no integer"),
    ((2, 32, None), TypeError, "None in .* is no integer"),
    ((-1, 32, 1), ValueError, "code and bits are 0 to 255"),
    ((2, 1 << 100, 1), ValueError, "code and bits are 0 to 255"),
    ((2, 32, 65536), ValueError, "lanes are 1 to 65535"),
    ((2, 288, 1), ValueError, "code and bits are 0 to 255"),
    ((2, 32, 0), ValueError, "1 to 65535 lanes, not 0"),
    ((2, 33, 1), ValueError, "names no element type: .* 33 bits"),
    ((99, 8, 1), ValueError, "type code 99 with 8 bits"),
]


def test_the_error_of_a_type_stays_whatever_python_has_cached_of_its_class():
    class Type:
        def __dlpack_data_type__(self):
            sys._clear_type_cache()
            return (99, 8, 1)

    with pytest.raises(ValueError, match="type code 99 with 8 bits"):
        dt.zeros(2).to(Type())


BAD_DEVICES = [
    ("cuda:0", TypeError, r"not a pair \(type, index\)"),
    ([1, 0], TypeError, "not a pair"),
    ((1,), TypeError, "not a pair"),
    ((1, 0, 0), TypeError, "not a pair"),
    (("1", 0), TypeError, "'1' in .* is no integer"),
    ((1.5, 0), TypeError, "1.5 in .* is no integer"),
    ((1, "0"), TypeError, "'0' in .* is no integer"),
    ((0, 0), ValueError, "no DLPack device"),
    ((-2, 0), ValueError, "no DLPack device"),
    ((2, -1), ValueError, "no DLPack device"),
    ((1 << 40, 0), ValueError, "no DLPack device"),
    ((2, 1 << 100), ValueError, "no DLPack device"),
]


def refused_by(calls, error, match):
    for call in calls:
        with pytest.raises(error, match=match) as raised:
            call()
        assert raised.type in (error, dt.ExchangeError)


# Rule 63.
@pytest.mark.parametrize(("answer", "error", "match"), BAD_TYPES, ids=str)
def test_a_bad_answer_of_a_type_is_an_error_that_shows_it(answer, error, match):
    x, references = a_type(answer), sys.getrefcount(answer)
    calls = [lambda: dt.dtype(x), lambda: dt.empty(2, dtype=x), lambda: dt.zeros(2).to(x)]
    refused_by(calls, error, match)
    assert sys.getrefcount(answer) == references
    assert dt.float32 != x


# Rule 63.
@pytest.mark.parametrize(("answer", "error", "match"), BAD_DEVICES, ids=str)
def test_a_bad_answer_of_a_device_is_an_error_that_shows_it(answer, error, match):
    x, references = a_device(answer), sys.getrefcount(answer)
    calls = [lambda: dt.Device(x), lambda: dt.empty(2, device=x), lambda: dt.zeros(2).to(x)]
    refused_by(calls, error, match)
    assert sys.getrefcount(answer) == references
    assert dt.Device("cpu") != x


@pytest.mark.parametrize("error", [RuntimeError, AttributeError, KeyError, TypeError])
def test_what_the_method_raises_is_the_cause(error):
    cause = error("of its own")
    for call in (lambda: dt.dtype(a_type(cause)), lambda: dt.Device(a_device(cause))):
        with pytest.raises(dt.ExchangeError, match=f"raised {error.__name__}: .*its own") as raised:
            call()
        assert "'Foreign' object's __dlpack_d" in str(raised.value)
        assert raised.value.__cause__ is cause


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interrupt_in_the_method_comes_through(error):
    stop = error("now")
    for x in (a_type(stop), a_device(stop)):
        for call in (lambda x=x: dt.zeros(2).to(x), lambda x=x: dt.zeros(2).to("cpu").to(x)):
            with pytest.raises(error, match="now"):
                call()


def test_an_object_is_not_kept_and_is_asked_each_time():
    x = a_type((2, 32, 1))
    assert dt.dtype(x) is dt.float32
    type(x).__dlpack_data_type__ = lambda _: (0, 8, 1)
    assert dt.dtype(x) is dt.int8
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None
