"""Imports objects that have only __array_interface__: hand-made ones and Pillow's (rule 61)."""

import array
import gc
import sys
import weakref

import numpy as np
import pytest
from PIL import Image

import dovetail as dt


class Holder:
    """An object with only this attribute, as in libraries older than the buffer protocol."""

    def __init__(self, interface, owner=None):
        self.__array_interface__ = interface
        self.owner = owner


def hold(a, **changes):
    return Holder({**a.__array_interface__, **changes}, a)


def of_bytes(data, typestr="|u1", shape=None, **more):
    shape = (len(data) // int(typestr[2:]),) if shape is None else shape
    return Holder({"version": 3, "shape": shape, "typestr": typestr, "data": data, **more})


# Memory at an address


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]


# Rule 61.
@pytest.mark.parametrize("name", ["bool", *INTEGERS, *FLOATS])
def test_every_type_is_taken_without_a_copy(name):
    a = np.array([[1, 0, 1], [0, 1, 0]], name)
    t = dt.from_array_interface(hold(a))
    assert (t.dtype, t.shape, t.tolist()) == (getattr(dt, name), (2, 3), a.tolist())
    assert t.data_ptr() == a.ctypes.data
    t[0, 0] = 0
    assert a[0, 0] == 0


# Rule 61.
@pytest.mark.parametrize(
    "view", [lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[1], lambda a: a[:0]]
)
def test_strides_are_followed(view):
    a = view(np.arange(12, dtype=np.int32).reshape(3, 4))
    t = dt.from_array_interface(hold(a))
    assert t.tolist() == a.tolist()
    assert t.shape == a.shape


def test_no_dimensions_are_one_element():
    assert dt.from_array_interface(hold(np.array(2.5))).item() == 2.5


# Rule 61.
def test_read_only_memory_gives_a_read_only_tensor():
    a = np.arange(3)
    a.flags.writeable = False
    t = dt.from_array_interface(hold(a))
    assert t.readonly
    with pytest.raises(ValueError, match="read-only"):
        t[0] = 1


# Rule 61.
def test_the_object_is_kept_until_the_last_view_goes():
    holder = hold(np.arange(3))
    alive, references = weakref.ref(holder), sys.getrefcount(holder)
    t = dt.from_array_interface(holder)
    assert sys.getrefcount(holder) == references + 1
    del holder
    view = t[1:]
    del t
    gc.collect()
    assert alive() is not None
    assert view.tolist() == [1, 2]
    del view
    assert alive() is None


def test_a_refused_object_is_not_kept():
    holder = hold(np.arange(3), typestr=">i8")
    references = sys.getrefcount(holder)
    with pytest.raises(dt.ExchangeError):
        dt.from_array_interface(holder)
    assert sys.getrefcount(holder) == references


# Memory in a buffer


def test_bytes_give_a_read_only_tensor_over_them():
    t = dt.from_array_interface(of_bytes(b"abcd", shape=(2, 2)))
    assert t.tolist() == [[97, 98], [99, 100]]
    assert t.readonly


def test_a_writable_buffer_is_shared_and_held():
    data = bytearray(16)
    t = dt.from_array_interface(of_bytes(data, "<i4"))
    t[1] = 0x01020304
    assert data[4:8] == b"\4\3\2\1"
    with pytest.raises(BufferError):
        data.append(0)
    del t
    data.append(0)


def test_a_refused_buffer_is_released():
    data = bytearray(16)
    with pytest.raises(dt.ExchangeError):
        dt.from_array_interface(of_bytes(data, "<i4", shape=(5,)))
    data.append(0)


def test_the_offset_counts_bytes():
    data = array.array("i", [1, 2, 3, 4])
    t = dt.from_array_interface(of_bytes(data, "<i4", shape=(2,), offset=8))
    assert t.tolist() == [3, 4]
    assert t.data_ptr() == data.buffer_info()[0] + 8


def test_the_elements_lie_inside_the_buffer():
    for more in (
        {"shape": (5,)},
        {"shape": (4,), "offset": 4},
        {"shape": (2,), "strides": (16,)},
        {"shape": (2,), "strides": (-4,)},
        {"shape": (1,), "offset": -4},
        {"shape": (1,), "offset": 17},
        {"shape": (1,), "offset": 2**62},
    ):
        with pytest.raises(dt.ExchangeError, match=r"outside|offset"):
            dt.from_array_interface(of_bytes(bytes(16), "<i4", **more))


def test_the_object_itself_may_be_the_buffer():
    class Buffer(bytearray):
        __array_interface__ = {"version": 3, "shape": (2,), "typestr": "<i2"}  # noqa: RUF012

    buffer = Buffer(b"\1\0\2\0")
    t = dt.from_array_interface(buffer)
    assert t.tolist() == [1, 2]
    t[0] = 5
    assert buffer[0] == 5


def test_a_buffer_with_gaps_is_refused():
    with pytest.raises(dt.ExchangeError, match="gaps"):
        dt.from_array_interface(of_bytes(memoryview(bytes(16))[::2], shape=(4,)))


# Errors


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"typestr": ">i8"}, "newbyteorder"),
        ({"typestr": "|O8"}, "Python objects"),
        ({"typestr": "<U2"}, "text"),
        ({"typestr": "<M8[ns]"}, "dates"),
        ({"typestr": "|V8", "descr": [("a", "<i4"), ("b", "<i4")]}, "fields"),
        ({"typestr": "nonsense"}, "<f4"),
        ({"typestr": 7}, "typestr"),
        ({"typestr": None}, "typestr"),
        ({"shape": None}, "shape"),
        ({"shape": 3}, "shape"),
        ({"shape": (-3,)}, "negative"),
        ({"shape": (2**62, 4)}, "64-bit"),
        ({"shape": (1,) * 65}, "65"),
        ({"strides": (8, 8)}, "strides"),
        ({"strides": 8}, "strides"),
        ({"shape": (2,), "strides": (12,)}, "not a multiple"),
        ({"data": (0, False)}, "no data"),
        ({"data": ("0x10", False)}, "integer"),
        ({"data": (4096,)}, "pair"),
        ({"data": 4096}, "buffer"),
        ({"data": None}, "buffer"),
        ({"mask": np.array([True, False, True])}, "mask"),
        ({"version": 2}, "version 2"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_can_not_be_shared_is_refused_with_the_reason(changes, why):
    with pytest.raises(dt.ExchangeError, match=why):
        dt.from_array_interface(hold(np.arange(3), **changes))


def test_an_object_without_the_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="__array_interface__"):
        dt.from_array_interface(object())


def test_an_attribute_that_is_no_dict_is_refused():
    with pytest.raises(dt.ExchangeError, match="not a dict"):
        dt.from_array_interface(Holder([1, 2]))


def test_what_the_attribute_raises_is_handed_on():
    class Broken:
        @property
        def __array_interface__(self):
            raise KeyError("not today")

    with pytest.raises(KeyError, match="not today"):
        dt.from_array_interface(Broken())


# Functions that accept any array


def test_tensor_copies_such_objects():
    a = np.arange(6.0).reshape(2, 3)
    t = dt.tensor(hold(a.T))
    assert t.tolist() == a.T.tolist()
    t[0, 0] = 9
    assert a[0, 0] == 0
    assert dt.tensor([hold(a[0]), hold(a[1])]).tolist() == a.tolist()


def test_such_objects_can_be_assigned():
    t = dt.zeros(2, 3, dtype=dt.float64)
    t[...] = hold(np.arange(6.0).reshape(2, 3))
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]]
    t[0] = hold(np.array(7.0))
    assert t[0].tolist() == [7, 7, 7]


def test_from_dlpack_is_dlpack_alone():
    with pytest.raises(AttributeError, match="__dlpack__"):
        dt.from_dlpack(hold(np.arange(3)))


def test_an_image_of_pillow_is_taken():
    image = Image.new("RGB", (3, 2), (1, 2, 3))
    t = dt.tensor(image)
    assert (t.dtype, t.shape) == (dt.uint8, (2, 3, 3))
    assert t.tolist() == np.asarray(image).tolist()
    assert dt.from_array_interface(image).tolist() == t.tolist()


# Rule 61.
def test_a_tensor_goes_out_and_in_again():
    t = dt.arange(6).reshape(2, 3).T
    back = dt.from_array_interface(Holder(t.__array_interface__, t))
    assert back.data_ptr() == t.data_ptr()
    assert back.strides == t.strides
