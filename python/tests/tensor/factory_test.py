"""tensor, to_tensor, empty, zeros, full and arange, compared with PyTorch, and their errors."""

import array
import math

import ml_dtypes
import numpy as np
import pytest
import torch

import dovetail as dt


def name_of(dtype):
    return str(dtype).split(".")[-1]


INFERRED = [
    1, 1.5, True, 1j, [], [[], []], [1, 2], [1, 2.5], [True, 2], [True, 2.5], [1, 2j], [[1], [2]],
    ((1, 2), [3, 4]), [[[]]], range(3), [range(2), (5, 6)], np.float64(1.5), [np.float64(1.5)],
    [np.float16(1.5)], [np.int8(1)], [np.int8(1), 2], [np.int8(1), 2.0], [np.float16(1), 2],
    [np.float64(1), 2], [np.float16(1), 2.0], [np.bool_(True)], [np.complex128(1)],
    [np.uint8(1), np.int8(1)], [np.uint8(1), np.int16(1)], [np.float32(1), np.float64(1)],
    [np.complex64(1), np.float64(1)], [np.zeros(2), np.ones(2)], np.arange(6).reshape(2, 3),
    np.zeros((2, 0), np.int16),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy")
@pytest.mark.parametrize("data", INFERRED, ids=repr)
def test_types_and_shapes_are_those_that_torch_infers(data):
    ours, theirs = dt.tensor(data), torch.tensor(data)
    assert ours.dtype.name == name_of(theirs.dtype)
    assert ours.shape == tuple(theirs.shape)
    assert ours.tolist() == theirs.tolist()


TORCH_TYPES = [torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
               torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
               torch.complex128]  # fmt: skip


@pytest.mark.parametrize("a", TORCH_TYPES, ids=name_of)
@pytest.mark.parametrize("b", TORCH_TYPES, ids=name_of)
def test_mixed_types_are_promoted_as_torch_promotes(a, b):
    data = [torch.ones((), dtype=a), torch.ones((), dtype=b)]
    assert dt.tensor(data).dtype.name == name_of(torch.promote_types(a, b))


@pytest.mark.parametrize(
    "pair",
    [(np.int64(1), np.uint64(1)), (ml_dtypes.float8_e5m2(1), np.float16(1))],
    ids=repr,
)
def test_types_without_a_common_one_need_a_dtype(pair):
    with pytest.raises(ValueError, match=r"no common type.*dtype="):
        dt.tensor(list(pair))
    assert dt.tensor(list(pair), dtype=dt.float32).tolist() == [1, 1]


@pytest.mark.parametrize("name", ["int32", "uint8", "float32", "bool", "complex64", "float16"])
@pytest.mark.parametrize("data", [[1.75, -0.0, 3], [True, False], [0, 200]], ids=repr)
def test_a_given_dtype_converts_as_torch_does(data, name):
    theirs = torch.tensor(data, dtype=getattr(torch, name))
    for source in [data, np.array(data), torch.tensor(data)]:
        assert dt.tensor(source, dtype=name).tolist() == theirs.tolist()


@pytest.mark.parametrize(
    "data, where",
    [
        ([[1, 2], [3]], r"data\[1\].*length is 1 where 2"),
        ([[1, 2], 3], r"data\[1\].*number where a sequence"),
        ([1, [2]], r"data\[1\].*sequence where a number"),
        ([[[1], [2]], [[3], [4, 5]]], r"data\[1\]\[1\]"),
        ([[], [1]], r"data\[1\]"),
        ([np.zeros(2), np.zeros(3)], r"data\[1\]"),
    ],
)
def test_ragged_data_are_refused_with_the_place(data, where):
    with pytest.raises(ValueError, match=where):
        dt.tensor(data)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**64, 10**40])
def test_ints_beyond_int64_are_an_overflow_error(value):
    with pytest.raises(OverflowError):
        dt.tensor([value])
    assert dt.tensor([value], dtype=dt.float64).tolist() == [float(value)]


def test_uint64_holds_what_int64_does_not():
    assert dt.tensor([2**64 - 1], dtype=dt.uint64).tolist() == [2**64 - 1]


@pytest.mark.parametrize(
    "value, dtype, error",
    [(300, "int8", OverflowError), (-1, "uint8", OverflowError), (8, "int4", OverflowError),
     (math.inf, "int32", OverflowError), (math.nan, "int32", ValueError),
     (1j, "float32", TypeError),
     (1j, "int32", TypeError), (math.nan, "float4_e2m1fn", ValueError)],
)  # fmt: skip
def test_values_that_a_type_does_not_hold_are_refused(value, dtype, error):
    for data in [value, [value], np.array(value)]:
        with pytest.raises(error, match=dtype):
            dt.tensor(data, dtype=dtype)


@pytest.mark.parametrize("data", ["text", ["a"], None, {1: 2}, {1}, object(), [None], [[1], ["b"]],
                                  np.array(["a"]), np.array([object()]), np.datetime64("2020")],
                         ids=repr)  # fmt: skip
def test_what_is_no_number_is_refused(data):
    with pytest.raises((TypeError, ValueError, BufferError)):
        dt.tensor(data)


def test_the_remedy_for_numpys_times_is_said():
    for data in [np.datetime64("2020-01-02"), [np.timedelta64(3, "s")]]:
        with pytest.raises(TypeError, match=r"64 scalar counts units of time.*\.astype"):
            dt.tensor(data)


@pytest.mark.parametrize("unit", ["ns", "us", "D", "Y", "generic"])
def test_numpys_times_are_no_numbers_whatever_their_unit(unit):
    time = np.timedelta64(3) if unit == "generic" else np.timedelta64(3, unit)
    t = dt.zeros(2, dtype="int64")
    for take in (
        lambda: t.__setitem__(0, time),
        lambda: dt.copyto(t, time, casting="unsafe"),
        lambda: dt.tensor([time], dtype="int64"),
        lambda: dt.full(2, time, dtype="int64"),
        lambda: dt.arange(time),
    ):
        with pytest.raises((TypeError, ValueError)):
            take()
    assert t.tolist() == [0, 0]


def test_a_list_that_contains_itself_is_refused():
    data = []
    data.append(data)
    with pytest.raises(ValueError, match="64"):
        dt.tensor(data)


@pytest.mark.parametrize(
    "source",
    [np.arange(4, dtype=np.int16), array.array("d", [1, 2]), b"abc", bytearray(b"abc"),
     memoryview(b"abc"), torch.arange(3), dt.arange(3), np.arange(9).reshape(3, 3).T[::-1]],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
def test_arrays_keep_their_type_and_are_copied(source):
    copy = dt.tensor(source)
    assert copy.tolist() == (source if hasattr(source, "tolist") else memoryview(source)).tolist()
    assert not copy.readonly and copy.is_contiguous()
    if hasattr(source, "__dlpack__"):
        shared = dt.from_dlpack(source)
        assert copy.dtype == shared.dtype and copy.data_ptr() != shared.data_ptr()


def test_requires_grad_is_for_numbers_with_derivatives():
    assert dt.tensor([1.0], requires_grad=True).requires_grad
    assert not dt.to_tensor([1.0]).requires_grad
    assert dt.to_tensor([1.0], stop_gradient=False).requires_grad
    with pytest.raises(ValueError, match="int64"):
        dt.tensor([1], requires_grad=True)


def test_to_tensor_takes_paddles_arguments_by_position():
    tensor = dt.to_tensor([[0.2, 0.3]], "float64", "cpu", True)
    assert tensor.dtype == dt.float64 and str(tensor.device) == "cpu"


@pytest.mark.parametrize("make", [dt.zeros, dt.empty], ids=["zeros", "empty"])
def test_shapes_are_given_in_any_of_the_ways(make):
    for tensor in [make(2, 3), make((2, 3)), make([2, 3]), make(shape=(2, 3)), make(size=(2, 3))]:
        assert tensor.shape == (2, 3) and tensor.dtype == dt.float32
    assert make(4).shape == (4,) and make(()).shape == ()
    assert make(0, 3, dtype=torch.int8).dtype == dt.int8
    for wrong in [(-1,), (2**62, 4), [1] * 65]:
        with pytest.raises(ValueError):
            make(wrong)
    for wrong in [(), (1.5,), ("a",), (None,), (2, (3,))]:
        with pytest.raises(TypeError):
            make(*wrong)
    with pytest.raises(TypeError, match="once"):
        make(2, shape=(2,))
    with pytest.raises(MemoryError):
        make(2**50)


@pytest.mark.parametrize("dtype", ["int4", "float8_e4m3fn", "complex128", "float32x4", "bool"])
def test_zeros_are_zeros_of_every_type(dtype):
    tensor = dt.zeros(5, dtype=dtype)
    assert tensor.dtype.name == dtype
    assert not any(dt.frombuffer(tensor.copy(), dtype=dt.uint8).tolist())


@pytest.mark.parametrize("value", [3, 3.5, True, 1j, np.float64(2), torch.tensor(4)], ids=repr)
def test_full_has_the_type_of_its_value(value):
    ours, theirs = dt.full((2, 3), value), torch.full((2, 3), value)
    assert ours.dtype == dt.tensor(value).dtype and ours.tolist() == theirs.tolist()


def test_full_refuses_what_is_no_number_of_its_type():
    assert dt.full(2, 3.7, dtype=dt.int32).tolist() == [3, 3]
    for value, error in [([3], TypeError), ("a", TypeError), (300, OverflowError)]:
        with pytest.raises(error):
            dt.full(2, value, dtype=dt.uint8)


@pytest.mark.parametrize(
    "arguments",
    [(5,), (0,), (2, 7), (7, 2, -2), (0, 1, 0.3), (1.0,), (0.5, 3), (5, 5), (-3, 3, 2), (True,),
     (10**10, 10**10 + 2), (3, 1, -0.25), (np.int8(4),), (torch.tensor(4),)],
    ids=repr,
)  # fmt: skip
def test_arange_gives_what_torch_gives(arguments):
    ours, theirs = dt.arange(*arguments), torch.arange(*arguments)
    assert ours.dtype.name == name_of(theirs.dtype)
    assert ours.shape == tuple(theirs.shape)
    assert ours.tolist() == pytest.approx(theirs.tolist(), rel=1e-6)


def test_arange_converts_to_a_given_type():
    assert dt.arange(3, dtype=dt.float64).tolist() == [0.0, 1.0, 2.0]
    assert dt.arange(1, 5.0, dtype="int8").tolist() == [1, 2, 3, 4]
    assert dt.arange(5, dtype=dt.int4).tolist() == [0, 1, 2, 3, 4]
    assert dt.arange(start=1, stop=3).tolist() == [1, 2]
    assert dt.arange(-(2**63), 2**63 - 1, 2**62).tolist() == [-(2**63), -(2**62), 0, 2**62]


@pytest.mark.parametrize(
    "arguments",
    [(1, 5, 0), (1, 5, -1), (-1,), (0, math.inf), (math.nan,), (1j,), (0, 1, 0.0), (2**63,),
     (-(2**62), 2**62, 1e-300)],
    ids=repr,
)  # fmt: skip
def test_arange_refuses_what_never_ends_or_has_no_order(arguments):
    with pytest.raises(ValueError, match="arange"):
        dt.arange(*arguments)


def test_arange_refuses_bad_arguments():
    with pytest.raises(ValueError, match="integer type"):
        dt.arange(0, 3, 0.5, dtype=dt.int32)
    with pytest.raises(OverflowError):
        dt.arange(300, dtype=dt.uint8)
    for wrong in [(), ("a",), (1, 2, 3, 4)]:
        with pytest.raises(TypeError):
            dt.arange(*wrong)


def test_a_device_without_backend_is_an_error_that_says_so():
    with pytest.raises(RuntimeError, match="vulkan"):
        dt.zeros(2, device="vulkan:0")
