"""Exports through the buffer protocol and the array interface, and imports of any buffer."""

import array
import ctypes
import io
import struct
import sys

import numpy as np
import pytest
import torch

import dovetail as dt

NUMPY_TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
               "float16", "float32", "float64", "complex64", "complex128"]  # fmt: skip
LAYOUTS = {
    "row-major": lambda a: a,
    "column-major": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-2],
    "a row": lambda a: a[1],
    "one element": lambda a: a[1, 2:3],
    "no elements": lambda a: a[:0],
    "another empty": lambda a: a[:, 5:],
    "new axes": lambda a: a[None, :, None],
}


def base(name="int64"):
    return np.arange(12).astype(name).reshape(3, 4)


# Rule 60.
@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_numpy_shares_the_memory_of_every_type_it_has(name):
    t = dt.tensor(base(name))
    a = np.asarray(t)
    assert a.dtype == name and a.tolist() == base(name).tolist()
    assert a.__array_interface__["data"][0] == t.data_ptr()
    a[0, 0] = 1
    assert t[0, 0].item() == 1


# Rule 60.
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_goes_out_and_comes_back(layout):
    view = LAYOUTS[layout]
    t = view(dt.tensor(base())) if layout != "column-major" else dt.tensor(base()).T
    expected = view(base())
    a = np.asarray(t)
    m = memoryview(t)
    assert a.shape == expected.shape and a.tolist() == expected.tolist()
    assert m.shape == expected.shape and m.tolist() == expected.tolist()
    assert m.nbytes == expected.nbytes and m.itemsize == 8
    back = dt.tensor(m)
    assert back.shape == expected.shape and back.tolist() == expected.tolist()


def test_strides_that_mean_nothing_are_those_of_a_dense_tensor():
    t = dt.from_dlpack(torch.zeros(4, 1, 3).as_strided((4, 1, 3), (3, 777, 1)))
    assert memoryview(t).strides == (12, 12, 4)


def test_a_tensor_without_dimensions_is_one_item():
    m = memoryview(dt.tensor(2.5))
    assert m.ndim == 0 and m[()] == 2.5 and m.shape == ()
    assert struct.unpack("f", m.tobytes()) == (2.5,)


def test_bytes_gives_the_elements_row_by_row():
    t = dt.tensor(base("int16"))
    assert bytes(t) == base("int16").tobytes()
    assert bytes(t.T) == base("int16").T.tobytes()
    assert bytes(dt.tensor([7], dtype=dt.uint8)) == b"\x07"
    assert bytearray(dt.tensor([7], dtype=dt.uint8)) == b"\x07"


def test_files_and_structs_take_a_tensor():
    t = dt.zeros(4, dtype=dt.uint8)
    assert io.BytesIO(b"abcd").readinto(t) == 4
    assert t.tolist() == list(b"abcd")
    struct.pack_into("<H", t, 0, 0x0201)
    assert t.tolist()[:2] == [1, 2]


# Rule 60.
def test_a_read_only_tensor_gives_read_only_buffers():
    t = dt.frombuffer(b"abcd", dtype=dt.uint8)
    assert memoryview(t).readonly and not np.asarray(t).flags.writeable
    with pytest.raises(TypeError, match="not writable"):
        ctypes.c_char.from_buffer(t)
    with pytest.raises(TypeError, match="read-write"):
        struct.pack_into("B", t, 0, 1)


def test_a_consumer_without_strides_gets_dense_tensors_only():
    for view in [dt.tensor(base()).T, dt.tensor(base())[:, ::2], dt.tensor(base())[::-1]]:
        with pytest.raises(BufferError, match=r"strides.*copy\(\)"):
            io.BytesIO().write(view)
    assert io.BytesIO().write(dt.tensor(base())[1:]) == 64


class PyBuffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),  # in bytes
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    ]


def request(owner, flags):
    """The result of a buffer request with these flags."""
    view = PyBuffer()
    get = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(PyBuffer), ctypes.c_int)(
        ("PyObject_GetBuffer", ctypes.pythonapi)
    )
    get(owner, view, flags)
    facts = {
        "address": view.buf,
        "len": view.len,
        "itemsize": view.itemsize,
        "readonly": bool(view.readonly),
        "format": view.format,
        "shape": view.shape and view.shape[: view.ndim],
        "strides": view.strides and view.strides[: view.ndim],
    }
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    return facts


FLAGS = {"simple": 0, "writable": 1, "nd": 8, "strided": 0x18, "strided, writable": 0x19,
         "C": 0x38, "F": 0x58, "any order": 0x98, "records": 0x1D, "full": 0x11D,
         "full, read-only": 0x11C, "format": 0x1C}  # fmt: skip


# Rule 60.
@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_request_is_answered_as_numpy_answers_it(layout, flags, writable):
    a = LAYOUTS[layout](base("float32"))
    a.flags.writeable = writable
    t = dt.from_dlpack(a)
    try:
        theirs = request(a, FLAGS[flags])
    except ValueError:  # NumPy raises this type
        with pytest.raises(BufferError):
            request(t, FLAGS[flags])
        return
    ours = request(t, FLAGS[flags])
    if a.size == 0:  # addresses and strides have no meaning
        for facts in (ours, theirs):
            facts.update(address=None, strides=None)
    assert [bool(ours.pop(k)) for k in ("shape", "strides")] == [
        bool(theirs[k]) for k in ("shape", "strides")
    ]
    for key, value in ours.items():
        assert value == theirs[key], key


def test_a_request_for_a_writable_buffer_of_a_read_only_tensor_names_the_remedy():
    with pytest.raises(BufferError, match=r"read-only.*copy\(\)"):
        request(dt.frombuffer(b"ab", dtype=dt.uint8), FLAGS["writable"])


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "complex32", "int4", "float32x4"])
def test_types_without_a_format_are_refused_with_the_type(name):
    t = dt.zeros(2, dtype=name)
    with pytest.raises(BufferError, match=name):
        memoryview(t)
    assert not hasattr(t, "__array_interface__")


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4", "float32x4"])
def test_consumers_of_plain_bytes_take_every_type(name):
    t = dt.zeros(2, dtype=name)
    out = io.BytesIO()
    out.write(t)
    assert out.getvalue() == bytes(t.nbytes)


def test_a_tensor_that_requires_grad_is_refused_naming_detach():
    t = dt.tensor([1.0], requires_grad=True)
    with pytest.raises(BufferError, match="detach"):
        memoryview(t)
    assert not hasattr(t, "__array_interface__")
    assert memoryview(t.detach()).tolist() == [1.0]


# Rule 60.
def test_a_buffer_keeps_the_memory_and_is_released_once():
    owner = bytearray(8)
    t = dt.frombuffer(owner, dtype=dt.int32)
    before = sys.getrefcount(t)
    m = memoryview(t)
    assert sys.getrefcount(t) == before + 1
    del t
    with pytest.raises(BufferError):
        owner.append(0)
    m.release()
    owner.append(0)


# Rule 61.
def test_the_array_interface_is_version_3():
    t = dt.tensor(base("float32"))
    assert t.__array_interface__ == {
        "version": 3,
        "shape": (3, 4),
        "typestr": "<f4" if sys.byteorder == "little" else ">f4",
        "data": (t.data_ptr(), False),
        "strides": None,
    }
    assert t.T.__array_interface__["strides"] == (4, 16)
    assert dt.frombuffer(b"a", dtype=dt.uint8).__array_interface__["data"][1] is True


# Rule 61.
@pytest.mark.parametrize("name", NUMPY_TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_array_interface_describes_what_numpy_does(name, layout):
    a = LAYOUTS[layout](base(name))
    t = dt.from_dlpack(a)
    ours, theirs = t.__array_interface__, a.__array_interface__
    assert ours["typestr"] == theirs["typestr"] and ours["shape"] == theirs["shape"]
    if a.size:
        assert ours["data"] == theirs["data"]
        holder = type("Holder", (), {"__array_interface__": ours})()
        assert np.asarray(holder).tolist() == a.tolist()


# Rule 60.
@pytest.mark.parametrize(
    "source",
    [array.array("d", [1, 2, 3]), memoryview(b"abcdef")[::2], memoryview(bytearray(6)).cast("B"),
     (ctypes.c_int16 * 3)(1, 2, 3), (ctypes.c_float * 2 * 3)(), b"abc",
     memoryview(bytes(12)).cast("i", (3, 1))],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
def test_any_buffer_comes_in_with_its_shape_and_type(source):
    expected = np.asarray(memoryview(source))
    t = dt.tensor(source)
    assert t.shape == expected.shape and t.tolist() == expected.tolist()
    assert t.dtype.name == expected.dtype.name


@pytest.mark.parametrize("code", ["u" if sys.version_info < (3, 16) else "w"])
def test_text_and_objects_are_refused(code):
    for source in [array.array(code, "ab"), np.array([object()]), np.zeros(2, "i4,f4")]:
        with pytest.raises((BufferError, TypeError, ValueError)):
            dt.tensor(source)


TIMES = [np.datetime64("2020-01-02"), np.datetime64("NaT"), np.datetime64(5, "ns"),
         np.timedelta64(3, "s")]  # fmt: skip


@pytest.mark.parametrize("time", TIMES, ids=repr)
def test_numpys_times_are_not_taken_for_bytes(time):
    assert memoryview(time).format == "B"  # what NumPy says of them
    for take in (dt.asarray, lambda x: dt.convert(x, dt.Tensor), lambda x: dt.convert(x, "numpy")):
        with pytest.raises(dt.ExchangeError, match=r"64 scalar counts units of time.*\.astype"):
            take(time)
    assert dt.asarray(time.astype("int64")).item() == time.astype("int64")


# Rule 60.
def test_a_refused_buffer_is_released():
    owner = bytearray(16)
    source = (ctypes.c_longdouble * 1).from_buffer(owner)
    with pytest.raises(BufferError, match="g"):
        dt.tensor(source)
    del source
    owner.append(0)
