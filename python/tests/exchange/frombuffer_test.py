"""frombuffer follows torch's rules, one by one, except where Dovetail differs on purpose."""

import array
import gc
import mmap
import sys

import numpy as np
import pytest
import torch

import dovetail as dt


def test_the_elements_are_shared_both_ways():
    a = array.array("i", [1, 2, 3])
    t = dt.frombuffer(a, dtype=dt.int32)
    assert repr(t) == "tensor([1, 2, 3], dtype=dovetail.int32)"
    t[0] = -1
    assert a == array.array("i", [-1, 2, 3])
    a[1] = 7
    assert t.tolist() == [-1, 7, 3]


def test_bytes_are_read_as_the_type_asked_for():
    a = array.array("b", [-1, 0, 0, 0])
    t = dt.frombuffer(a, dtype=dt.int32)
    assert repr(t) == "tensor([255], dtype=dovetail.int32)"


BUFFER = bytearray(range(12))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float16", "bfloat16", "bool"])
@pytest.mark.parametrize("offset", [-13, -1, 0, 1, 3, 4, 8, 11, 12, 13, 2**62])
@pytest.mark.parametrize("count", [-5, -1, 0, 1, 2, 3, 4, 13, 2**40])
def test_counts_and_offsets_are_taken_and_refused_as_by_torch(count, offset, dtype):
    try:
        theirs = torch.frombuffer(
            BUFFER, dtype=getattr(torch, dtype), count=count, offset=offset
        ).view(torch.uint8)
    except (ValueError, RuntimeError):  # torch raises RuntimeError on overflow
        with pytest.raises(ValueError, match="frombuffer"):
            dt.frombuffer(BUFFER, dtype=dtype, count=count, offset=offset)
        return
    ours = dt.frombuffer(BUFFER, dtype=dtype, count=count, offset=offset)
    assert bytes(dt.frombuffer(ours, dtype=dt.uint8)) == theirs.numpy().tobytes()


@pytest.mark.parametrize("empty", [b"", bytearray(), array.array("i"), np.zeros((2, 0))], ids=repr)
def test_an_empty_buffer_is_refused(empty):
    with pytest.raises(ValueError, match="empty"):
        dt.frombuffer(empty, dtype=dt.uint8)


def test_what_is_wrong_with_a_count_or_offset_is_said():
    for arguments, message in [
        ({"count": 0}, "count must not be 0"),
        ({"offset": 12}, "offset is 12.*12 bytes"),
        ({"offset": -1}, "offset is -1"),
        ({"offset": 1}, "11 bytes.*no multiple.*int32"),
        ({"count": 4}, "4 elements of int32.*12 bytes.*hold 3"),
        ({"count": 3, "offset": 4}, "8 bytes after the offset of 4"),
    ]:
        with pytest.raises(ValueError, match=message):
            dt.frombuffer(BUFFER, dtype=dt.int32, **arguments)


def test_a_misaligned_offset_is_accepted():
    t = dt.frombuffer(BUFFER, dtype=dt.int32, count=2, offset=1)
    assert t.tolist() == np.frombuffer(BUFFER, np.int32, 2, 1).tolist()
    t = dt.frombuffer(bytearray(9), dtype=dt.float64, offset=1)
    t[0] = 2.5
    assert t.item() == 2.5


# Rule 60.
def test_a_read_only_buffer_gives_a_read_only_tensor():
    t = dt.frombuffer(b"abcd", dtype=dt.uint8)
    assert t.readonly
    with pytest.raises(ValueError, match="read-only"):
        t[0] = 0
    assert not dt.frombuffer(bytearray(4), dtype=dt.uint8).readonly
    assert dt.frombuffer(memoryview(bytearray(4)).toreadonly(), dtype=dt.uint8).readonly


def test_a_buffer_of_more_dimensions_is_flattened():
    array2d = np.arange(6, dtype=np.int32).reshape(2, 3)
    t = dt.frombuffer(array2d, dtype=dt.int32)
    assert t.shape == (6,) and t.tolist() == list(range(6))
    assert t.data_ptr() == array2d.__array_interface__["data"][0]


@pytest.mark.parametrize(
    "buffer", [np.arange(10)[::2], np.arange(6).reshape(2, 3).T, memoryview(b"abcd")[::2]]
)
def test_a_buffer_that_is_not_contiguous_is_refused_with_the_remedy(buffer):
    with pytest.raises(ValueError, match="copy it"):
        dt.frombuffer(buffer, dtype=dt.uint8)


def test_an_object_without_the_protocol_is_refused():
    for other in [[1, 2], 3, "text", None]:
        with pytest.raises(ValueError, match="buffer protocol"):
            dt.frombuffer(other, dtype=dt.uint8)


def test_requires_grad_is_for_numbers_with_derivatives():
    assert dt.frombuffer(bytearray(8), dtype=dt.float32, requires_grad=True).requires_grad
    for dtype in [dt.int32, dt.bool, dt.uint8]:
        with pytest.raises(ValueError, match="require gradients"):
            dt.frombuffer(bytearray(8), dtype=dtype, requires_grad=True)


def test_arguments_of_other_kinds_are_type_errors():
    for arguments in [{}, {"dtype": None}, {"dtype": dt.int8, "count": 1.0}, {"dtype": 3},
                      {"dtype": dt.int8, "offset": "a"}, {"dtype": dt.int8, "other": 1},
                      {"dtype": dt.int8, "requires_grad": 1}]:  # fmt: skip
        with pytest.raises(TypeError):
            dt.frombuffer(BUFFER, **arguments)
    with pytest.raises(TypeError, match="positional"):
        dt.frombuffer(BUFFER, dt.int8)


# Rule 60.
def test_the_owner_cannot_be_resized_while_a_tensor_uses_its_buffer():
    owner = bytearray(8)
    t = dt.frombuffer(owner, dtype=dt.int32)
    row = t[1:]
    del t
    with pytest.raises(BufferError):
        owner.append(0)
    del row
    owner.append(0)


# Rule 60.
def test_a_refused_request_does_not_hold_the_buffer():
    owner = bytearray(8)
    before = sys.getrefcount(owner)
    for arguments in [{"count": 0}, {"offset": 9}, {"offset": 1}, {"requires_grad": True}]:
        with pytest.raises(ValueError):
            dt.frombuffer(owner, dtype=dt.int32, **arguments)
    gc.collect()
    assert sys.getrefcount(owner) == before
    owner.append(0)


def test_the_memory_outlives_its_owner():
    t = dt.frombuffer(bytearray(b"abcd"), dtype=dt.uint8)
    gc.collect()
    assert t.tolist() == list(b"abcd")


def test_a_memory_map_is_shared():
    with mmap.mmap(-1, 4096) as memory:
        t = dt.frombuffer(memory, dtype=dt.float32)
        t[7] = 2.5
        assert memory[28:32] == np.float32(2.5).tobytes()
        with pytest.raises(BufferError):
            memory.close()
        del t


def test_elements_that_share_bytes_are_counted_in_bits():
    assert dt.frombuffer(bytes([0x21, 0x43]), dtype=dt.int4).tolist() == [1, 2, 3, 4]
    assert dt.frombuffer(bytes([0x21, 0x43]), dtype=dt.int4, count=3).tolist() == [1, 2, 3]
    assert dt.frombuffer(bytes(3), dtype=dt.float6_e2m3fn).shape == (4,)
    with pytest.raises(ValueError, match=r"no multiple.*6 bits"):
        dt.frombuffer(bytes(4), dtype=dt.float6_e2m3fn)
    with pytest.raises(ValueError, match="hold 4"):
        dt.frombuffer(bytes(3), dtype=dt.float6_e2m3fn, count=5)
    assert dt.frombuffer(bytes(2), dtype="float4_e2m1fn_x2").shape == (2,)
