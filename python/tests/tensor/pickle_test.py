"""Pickling and copying of tensors: what is preserved, and what is shared."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import dovetail as dt

ALL_TYPES = ["bool", "int2", "int4", "int8", "int64", "uint4", "uint64", "float16", "float32",
             "float64", "bfloat16", "complex32", "complex64", "complex128", "bcomplex32",
             "float8_e3m4", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float6_e2m3fn",
             "float6_e3m2fn", "float4_e2m1fn"]  # fmt: skip
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def same(a, b):
    return (a.dtype, a.shape, a.readonly, a.requires_grad, a.tolist()) == (
        b.dtype, b.shape, b.readonly, b.requires_grad, b.tolist())  # fmt: skip


def round_trip(tensor, protocol):
    return pickle.loads(pickle.dumps(tensor, protocol=protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ALL_TYPES)
def test_every_type_comes_back(name, protocol):
    for shape in [(), (1,), (5,), (2, 3), (0, 3), (1, 0)]:
        tensor = dt.full(shape, 1, dtype=name)
        assert same(round_trip(tensor, protocol), tensor)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_read_only_and_requires_grad_come_back(protocol):
    read_only = dt.frombuffer(b"abcd", dtype=dt.uint8)
    back = round_trip(read_only, protocol)
    assert same(back, read_only)
    with pytest.raises(ValueError, match="read-only"):
        back[0] = 1
    marked = dt.tensor([1.0, 2.0], requires_grad=True)
    back = round_trip(marked, protocol)
    assert same(back, marked)
    back[0] = 5


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ALL_TYPES)
def test_a_read_only_tensor_without_elements_comes_back_read_only(name, protocol):
    for shape in [(0,), (2, 0, 4)]:
        read_only = dt.frombuffer(bytes(16), dtype=name, count=1)[:0].reshape(shape)
        assert read_only.readonly
        assert same(round_trip(read_only, protocol), read_only)


def test_vectors_keep_their_lanes():
    back = round_trip(dt.zeros(3, dtype="float32x4"), 5)
    assert back.dtype.name == "float32x4" and back.shape == (3,) and back.nbytes == 48


def test_protocol_5_hands_the_elements_over_without_a_copy():
    tensor = dt.arange(1000)
    buffers = []
    data = pickle.dumps(tensor, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 300 and len(buffers) == 1
    back = pickle.loads(data, buffers=buffers)
    assert back.data_ptr() == tensor.data_ptr()
    back[0] = -1
    assert tensor[0].item() == -1


def test_a_buffer_of_the_wrong_size_is_refused():
    buffers = []
    data = pickle.dumps(dt.arange(10), protocol=5, buffer_callback=buffers.append)
    for wrong in [b"", bytes(79), bytes(81)]:
        with pytest.raises(ValueError, match=f"had 80 bytes, and this buffer has {len(wrong)}"):
            pickle.loads(data, buffers=[wrong])


def test_read_only_buffers_are_shared_read_only_as_numpy_does():
    for x in (np.arange(4), dt.arange(4)):
        buffers = []
        data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
        lent = bytes(buffers[0])
        back = pickle.loads(data, buffers=[lent])
        address = np.frombuffer(lent, np.uint8).ctypes.data
        assert np.asarray(back).ctypes.data == address
        with pytest.raises(ValueError, match="read-only"):
            back[0] = 9


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_writable_tensor_is_writable_again(protocol):
    back = round_trip(dt.arange(4), protocol)
    back[0] = 9
    assert back.tolist() == [9, 1, 2, 3]


def test_pickles_are_read_by_another_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(dt.Tensor.tolist, (dt.arange(3),)) == [0, 1, 2]


def test_copy_shares_the_memory_and_deepcopy_does_not():
    tensor = dt.tensor([1.0, 2.0], requires_grad=True)
    shallow, deep = copy.copy(tensor), copy.deepcopy(tensor)
    assert shallow.data_ptr() == tensor.data_ptr() != deep.data_ptr()
    assert shallow.requires_grad and deep.requires_grad
    tensor[0] = 5
    assert shallow.tolist() == [5, 2] and deep.tolist() == [1, 2]


def test_a_deepcopy_of_a_read_only_tensor_is_writable():
    deep = copy.deepcopy(dt.frombuffer(b"ab", dtype=dt.uint8))
    deep[0] = 1
    assert deep.tolist() == [1, 98]


def test_a_tensor_twice_in_a_deepcopy_is_one_tensor():
    tensor = dt.arange(2)
    a, b = copy.deepcopy([tensor, tensor])
    assert a is b and a is not tensor


def test_numpy_reads_what_was_unpickled():
    back = round_trip(dt.arange(6).reshape(2, 3), 5)
    assert np.asarray(back).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_pickle_of_another_version_is_refused():
    load, (version, memory, *fields) = dt.arange(2.0).__reduce_ex__(5)
    assert load(version, memory.row, *fields).tolist() == [0, 1]
    for wrong in [(version + 1, memory.row, *fields), (version, memory.row, *fields, None)]:
        with pytest.raises(ValueError, match="pickled by another version of Dovetail"):
            load(*wrong)


FIELDS = ["offset", "dtype", "shape", "strides", "readonly", "padded", "requires_grad"]


# Rule 65.
@pytest.mark.parametrize(
    ("field", "wrong"),
    [("offset", 0.0), ("offset", None), ("dtype", dt.float32), ("dtype", None), ("shape", [2]),
     ("shape", 2), ("shape", (2.0,)), ("strides", [1]), ("strides", "1")]
    + [(flag, wrong) for flag in FIELDS[4:] for wrong in [None, 1, "zz", [], object()]],
    ids=repr,
)  # fmt: skip
def test_a_field_of_the_wrong_type_is_refused(field, wrong):
    load, (version, memory, *fields) = dt.arange(2.0).__reduce_ex__(5)
    fields[FIELDS.index(field)] = wrong
    with pytest.raises(TypeError):
        load(version, memory.row, *fields)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("offset", -1), ("offset", 1), ("offset", 9), ("offset", 2**62), ("dtype", "float64"),
     ("dtype", "float31"), ("shape", (3,)), ("shape", (-1,)), ("shape", (2, 2**61)),
     ("strides", (-1,)), ("strides", (2,)), ("strides", (1, 1)), ("strides", (2**62,))],
    ids=repr,
)  # fmt: skip
def test_a_field_that_leads_outside_the_memory_is_refused(field, wrong):
    load, (version, memory, *fields) = dt.arange(2.0).__reduce_ex__(5)
    fields[FIELDS.index(field)] = wrong
    with pytest.raises(ValueError):
        load(version, memory.row, *fields)


def test_a_tensor_of_integers_can_not_require_gradients():
    load, (version, memory, *fields) = dt.arange(2).__reduce_ex__(5)
    with pytest.raises(ValueError, match="gradient"):
        load(version, memory.row, *fields[:-1], True)
