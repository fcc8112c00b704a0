"""Device and DType: how they are made, printed, compared, hashed and pickled."""

import copy
import copyreg
import pickle
from unittest import mock

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch
import tvm_ffi
from peers import COMPLEX, FLOATS, INTEGERS, JAX_FLOAT8, STANDARD, TORCH_FLOAT8, paddle

import dovetail as dt

DEVICES = [
    ("cpu", "cpu", (1, 0)),
    ("cpu:0", "cpu", (1, 0)),
    ("cuda", "cuda:0", (2, 0)),
    ("cuda:1", "cuda:1", (2, 1)),
    ("cuda_host", "cuda_host", (3, 0)),
    ("rocm:3", "rocm:3", (10, 3)),
    ((2, 3), "cuda:3", (2, 3)),
    ((1, 0), "cpu", (1, 0)),
    ((42, 1), "device(42):1", (42, 1)),
    ("device(42):1", "device(42):1", (42, 1)),
    (torch.device("cpu"), "cpu", (1, 0)),
    (torch.device("cuda:2"), "cuda:2", (2, 2)),
    (torch.device("cuda"), "cuda:0", (2, 0)),
    (paddle.CPUPlace(), "cpu", (1, 0)),
    (paddle.to_tensor([1.0]).place, "cpu", (1, 0)),
    (jax.devices()[0], "cpu", (1, 0)),
    (jnp.zeros(1).device, "cpu", (1, 0)),
    (tvm_ffi.device("cuda:1"), "cuda:1", (2, 1)),
    (dt.Device("cuda:1"), "cuda:1", (2, 1)),
]


@pytest.mark.parametrize(("given", "text", "pair"), DEVICES, ids=str)
def test_a_device_is_known_by_name_pair_and_the_objects_of_other_libraries(given, text, pair):
    device = dt.Device(given)
    assert str(device) == text
    assert repr(device) == f"dovetail.Device('{text}')"
    assert device == dt.Device(pair)
    assert hash(device) == hash(dt.Device(pair))
    assert device.index == pair[1]
    assert device.type == text.partition(":")[0]


class Place:
    """A device place of a Paddle built with CUDA."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return f"Place({self.text})"


@pytest.mark.parametrize(
    ("text", "device"), [("gpu:1", "cuda:1"), ("cpu", "cpu"), ("gpu_pinned", "cuda_host")]
)
def test_the_places_of_paddle_have_other_names(text, device):
    assert dt.Device(Place(text)) == dt.Device(device)


def test_the_index_may_be_given_apart():
    assert dt.Device("cuda", 2) == dt.Device("cuda:2") == dt.Device(device="cuda", index=2)
    with pytest.raises(ValueError, match="negative"):
        dt.Device("cuda", -1)


def test_devices_differ_in_type_and_index_and_from_other_objects():
    different = {dt.Device(d) for d in ("cpu", "cuda:0", "cuda:1", "rocm:0", (42, 0))}
    assert len(different) == 5
    assert dt.Device("cpu") != dt.float32


@pytest.mark.parametrize(
    "text",
    ["", "gpu", "CUDA:0", "cuda:", "cuda:-1", "cuda:x", "cuda:1:2", "cuda:99999999999", " cpu"],
)
def test_a_name_of_no_device_is_a_value_error_that_lists_the_names(text):
    with pytest.raises(ValueError, match=r"Types: cpu, cuda, "):
        dt.Device(text)


@pytest.mark.parametrize("pair", [(2, -1), (1 << 40, 0), (2, 1 << 31), (-1, 0), (0, 0)], ids=str)
def test_a_pair_outside_of_dlpacks_numbers_is_a_value_error(pair):
    with pytest.raises(ValueError, match="DLPack device"):
        dt.Device(pair)


@pytest.mark.parametrize("value", [5, (1,), (1, 2, 3), ("cuda", 0), None], ids=repr)
def test_what_cannot_be_a_device_is_a_type_error(value):
    with pytest.raises(TypeError):
        dt.Device(value)


EVERY_NAME = [
    *STANDARD,
    *("bfloat16", "complex32", "bcomplex32", "handle", "int2", "int4", "uint2", "uint4"),
    *JAX_FLOAT8,
    *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
]


@pytest.mark.parametrize("name", EVERY_NAME)
def test_every_type_is_an_attribute_and_known_by_its_name(name):
    t = getattr(dt, name)
    assert dt.dtype(name) is t
    assert dt.dtype(t) is t
    assert (t.name, repr(t)) == (name, f"dovetail.{name}")
    assert t.itemsize == max(1, t.bits // 8)
    assert t.lanes == 1


def test_the_names_are_all_there_are():
    types = {name for name in dir(dt) if isinstance(getattr(dt, name), dt.DType)}
    assert types == set(EVERY_NAME)


@pytest.mark.parametrize("name", STANDARD)
def test_the_types_of_numpy_are_known(name):
    scalar = getattr(np, name)
    for given in (scalar, np.dtype(scalar), np.zeros(1, dtype=scalar).dtype):
        assert dt.dtype(given) == getattr(dt, name)


@pytest.mark.parametrize(
    "name", ["bfloat16", "complex32", "bcomplex32", "int2", "int4", "uint2", "uint4", *JAX_FLOAT8]
)
def test_the_types_of_ml_dtypes_are_known(name):
    scalar = getattr(ml_dtypes, name)
    assert dt.dtype(scalar) == dt.dtype(np.dtype(scalar)) == getattr(dt, name)


@pytest.mark.parametrize("name", [*STANDARD, "bfloat16", "complex32", *TORCH_FLOAT8])
def test_the_types_of_torch_are_known(name):
    assert dt.dtype(getattr(torch, name)) == getattr(dt, name)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, *COMPLEX, "bfloat16", "float8_e4m3fn"])
def test_the_types_of_jax_are_known(name):
    assert dt.dtype(getattr(jnp, name)) == dt.dtype(jnp.dtype(name)) == getattr(dt, name)


@pytest.mark.parametrize("name", ["bool", "int8", "int64", *FLOATS, *COMPLEX, "bfloat16"])
def test_the_types_of_paddle_are_known(name):
    assert dt.dtype(getattr(paddle, name)) == getattr(dt, name)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "bfloat16", "bool", "float32x4"])
def test_the_types_of_tvm_are_known(name):
    assert dt.dtype(tvm_ffi.dtype(name)) == dt.dtype(name)


@pytest.mark.parametrize(
    ("given", "name"), [(bool, "bool"), (int, "int64"), (float, "float32"), (complex, "complex64")]
)
def test_pythons_own_types_are_the_usual_ones(given, name):
    assert dt.dtype(given) is getattr(dt, name)


def test_lanes_make_another_type():
    t = dt.dtype("float32x4")
    assert (t.name, t.bits, t.lanes, t.itemsize, t.code) == ("float32x4", 32, 4, 16, 2)
    assert t == dt.dtype("float32x4") != dt.float32
    assert hash(t) == hash(dt.dtype("float32x4"))
    assert dt.dtype(torch.float4_e2m1fn_x2) == dt.dtype("float4_e2m1fnx2")


def test_types_differ_from_each_other():
    assert len({getattr(dt, name) for name in EVERY_NAME}) == len(EVERY_NAME)


@pytest.mark.parametrize("value", ["f4", "float", "", "float33", "torch.float32", "float32x0"])
def test_a_name_of_no_type_is_a_value_error(value):
    with pytest.raises(ValueError, match="no element type"):
        dt.dtype(value)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("bf16", "bfloat16"), ("half", "float16"), ("float", "float32"), ("double", "float64"),
     ("long", "int64"), ("torch.float32", "float32"), ("fp8_e4m3", "float8_e4m3")],
)  # fmt: skip
def test_a_name_that_others_use_is_answered_with_ours(name, suggestion):
    with pytest.raises(ValueError, match=f'did you mean "{suggestion}"'):
        dt.dtype(name)


@pytest.mark.parametrize(
    "value",
    [5, [], {}, object(), object, str, None, np.dtype("M8[s]"), np.dtype("S3"), torch.qint8],
    ids=repr,
)
def test_what_cannot_be_a_type_is_a_type_error(value):
    with pytest.raises(TypeError):
        dt.dtype(value)


def test_a_type_in_the_other_byte_order_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"byte order.*newbyteorder"):
        dt.dtype(np.dtype(">f4"))


class Equal:
    """Equal to all that has its hash."""

    def __init__(self, other):
        self.other = other

    def __hash__(self):
        return hash(self.other)

    def __eq__(self, other):
        return True


@pytest.mark.parametrize(
    ("known", "value"),
    [
        (np.float32(3), 3.0),
        (np.int8(7), 7),
        (np.float32, Equal(np.float32)),
        (np.dtype("int16"), Equal(np.dtype("int16"))),
        (jnp.float16, Equal(jnp.float16)),
        (torch.float64, Equal(torch.float64)),
    ],
    ids=["float", "int", "class", "numpy.dtype", "jax", "torch.dtype"],
)
def test_what_is_equal_to_a_known_type_is_no_type(known, value):
    dt.dtype(known)
    with pytest.raises(TypeError):
        dt.zeros(2, dtype=value)


def test_a_class_whose_type_changes_is_asked_each_time():
    class Scalar:
        dtype = np.dtype("float32")

    assert dt.dtype(Scalar) == dt.float32
    Scalar.dtype = np.dtype("int8")
    assert dt.dtype(Scalar) == dt.int8


def test_many_types_of_a_library_are_told_apart():
    given = [np.dtype("int8", metadata={"n": n}) for n in range(400)]
    assert {dt.dtype(t) for t in given} == {dt.int8}
    assert [dt.dtype(t) for t in (np.int8, np.int16, torch.int32)] == [dt.int8, dt.int16, dt.int32]


@pytest.mark.parametrize(
    "value", [dt.Device("cuda:1"), dt.Device((42, 3)), dt.float32, dt.dtype("bfloat16x2")], ids=str
)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_both_can_be_pickled_and_copied(value, protocol):
    assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert copy.copy(value) == copy.deepcopy(value) == value


@pytest.mark.parametrize("cls", [dt.Device, dt.DType])
def test_neither_can_be_changed_or_subclassed(cls):
    value = dt.Device("cpu") if cls is dt.Device else dt.float32
    with pytest.raises(AttributeError):
        value.index = 5
    with pytest.raises(AttributeError):
        value.anything = 5
    with pytest.raises(TypeError):
        type("Sub", (cls,), {})


@pytest.mark.parametrize("make, name", [(dt.dtype, "float32\0"), (dt.Device, "cpu\0")])
def test_a_name_is_read_to_its_end(make, name):
    with pytest.raises(ValueError):
        make(name)


@pytest.mark.parametrize("make_mock", [mock.Mock, mock.MagicMock])
def test_a_mock_is_neither(make_mock):
    for make in (dt.dtype, lambda x: dt.zeros(3, dtype=x), lambda x: dt.zeros(3).astype(x)):
        with pytest.raises(TypeError, match="is no element type"):
            make(make_mock())
    assert dt.float32 != make_mock()
    for make in (dt.Device, lambda x: dt.zeros(3, device=x), dt.Stream):
        with pytest.raises((TypeError, ValueError)):
            make(make_mock())


CLASSES = [dt.DType, dt.Device, dt.Stream, dt.Event, dt.Tensor, dt._core._StreamContext]


@pytest.mark.parametrize("cls", CLASSES)
def test_no_object_is_made_without_its_constructor(cls):
    for make in (cls.__new__, object.__new__, copyreg.__newobj__, type.__call__):
        with pytest.raises(TypeError):
            make(cls)
    with pytest.raises(TypeError):
        copyreg._reconstructor(cls, object, None)
