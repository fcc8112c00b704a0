"""Pickled memory: which bytes a pickle has, where they lie afterwards, and who shares them."""

import concurrent.futures
import copy
import ctypes
import gc
import io
import itertools
import pickle
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest
from managed import SUBBYTE_TYPE_PADDED, Lent

import dovetail as dt

TYPES = ["bool", "int2", "int4", "uint8", "float16", "float32", "complex128", "bfloat16",
         "float8_e4m3fn", "float6_e3m2fn", "float4_e2m1fn", "float32x4"]  # fmt: skip
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def out_of_band(value):
    buffers = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return data, buffers


def sizes(buffers):
    return [buffer.raw().nbytes for buffer in buffers]


def in_order(order, dtype):
    """A tensor of shape (2, 4, 6) whose dimensions lie in the memory in this order."""
    shape = (2, 4, 6)
    dense = dt.zeros([shape[d] for d in order], dtype=dtype)
    return dense.permute([order.index(d) for d in range(3)])


# Rule 65.
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", itertools.permutations(range(3)), ids=str)
def test_a_dense_tensor_travels_as_its_memory_in_any_order_of_dimensions(order, dtype):
    tensor = in_order(order, dtype)
    data, buffers = out_of_band(tensor)
    assert sizes(buffers) == [tensor.nbytes]
    back = pickle.loads(data, buffers=buffers)
    assert back.data_ptr() == tensor.data_ptr() and back.strides == tensor.strides
    assert (back.dtype, back.shape, back.readonly) == (tensor.dtype, tensor.shape, False)


# Rule 65.
def test_a_tensor_lies_in_the_buffer_that_the_pickle_is_loaded_with():
    tensor = dt.arange(24, dtype="float32").reshape(4, 6).T[::-1]
    data, buffers = out_of_band(tensor)
    received = bytearray(buffers[0])
    back = pickle.loads(data, buffers=[received])
    start = np.frombuffer(received, np.uint8).ctypes.data
    assert back.data_ptr() - start == 5 * 4 and back.strides == tensor.strides == (-1, 6)
    back[0, 0] = -1
    assert np.frombuffer(received, np.float32)[5] == -1
    assert pickle.loads(data, buffers=[bytes(received)]).readonly


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "view",
    [lambda t: t.T, lambda t: t[1:3], lambda t: t[::-1, ::2], lambda t: t[:, 1], lambda t: t[2, 3],
     lambda t: t[:0], lambda t: t.reshape(24)[5:7]],
    ids=["T", "rows", "steps", "column", "element", "empty", "flat"],
)  # fmt: skip
def test_views_in_one_pickle_share_memory_again(view, protocol):
    tensor = dt.arange(24.0).reshape(4, 6)
    for pair in [(tensor, view(tensor)), (view(tensor), tensor)]:
        a, b = pickle.loads(pickle.dumps(pair, protocol=protocol))
        assert (a.tolist(), b.tolist()) == (pair[0].tolist(), pair[1].tolist())
        assert (a.strides, b.strides) == (pair[0].strides, pair[1].strides)
        if a.size and b.size:
            a[...] = -1
            assert (np.asarray(b) == -1).any()


def test_views_of_a_large_tensor_share_again_after_it():
    tensor = dt.zeros((100, 100))
    data, buffers = out_of_band([tensor, tensor[3], tensor[:, 5], tensor.T])
    assert sizes(buffers) == [40_000]
    whole, row, column, transposed = pickle.loads(data, buffers=buffers)
    whole[3, 5] = 7
    assert row[5].item() == column[3].item() == transposed[5, 3].item() == 7


def test_a_part_of_a_large_tensor_travels_without_the_rest():
    tensor = dt.arange(10_000, dtype="float32").reshape(100, 100)
    for part, nbytes, strides in [
        (tensor[3], 400, (1,)),
        (tensor[10:12].T, 800, (1, 100)),
        (tensor[:, 5], 400, (1,)),
        (tensor[::50, ::-25].T, 32, (1, 4)),
    ]:
        data, buffers = out_of_band(part)
        back = pickle.loads(data, buffers=buffers)
        assert sizes(buffers) == [nbytes] and back.strides == strides
        assert back.tolist() == part.tolist()


def test_a_column_that_is_pickled_twice_is_one_column():
    column = dt.zeros((100, 100))[:, 5]
    a, b = pickle.loads(pickle.dumps([column, column]))
    assert a is b


def test_repeated_elements_travel_once():
    row = dt.frombuffer(bytes(4), dtype="float32")
    tensor = dt.from_dlpack(np.broadcast_to(np.asarray(row), (1000, 1000)))
    data, buffers = out_of_band(tensor)
    back = pickle.loads(data, buffers=buffers)
    assert sizes(buffers) == [4] and back.strides == (0, 0) and back.readonly


def test_a_read_only_view_shares_the_memory_of_a_writable_one_only_if_both_may():
    memory = bytearray(8)
    writable, fixed = dt.frombuffer(memory, dtype="uint8"), dt.from_dlpack(readonly_array(memory))
    a, b = pickle.loads(pickle.dumps((writable, fixed)))
    a[0] = 1
    assert (a.readonly, b.readonly) == (False, True)


def readonly_array(memory):
    array = np.frombuffer(memory, np.uint8)
    array.flags.writeable = False
    return array


def test_padded_elements_keep_a_byte_each():
    lent = Lent((3,), code=17, bits=4, flags=SUBBYTE_TYPE_PADDED).fill([1, 2, 3], ctypes.c_uint8)
    tensor = dt.from_dlpack(lent.capsule())
    data, buffers = out_of_band(tensor)
    back = pickle.loads(data, buffers=buffers)
    assert sizes(buffers) == [3] and back.tolist() == tensor.tolist() == [0.5, 1.0, 1.5]


def test_a_pickle_keeps_no_memory():
    tensor = dt.zeros(1000)
    before = dt.allocator_stats("cpu")["allocated_bytes"]
    data, buffers = out_of_band([tensor, tensor[2:]])
    back = pickle.loads(data, buffers=buffers)
    del tensor, buffers, back
    gc.collect()
    assert dt.allocator_stats("cpu")["allocated_bytes"] == before - 4000


def test_each_pickle_has_the_memory_as_it_is_then():
    tensor = dt.zeros(4)
    first = pickle.dumps(tensor)
    tensor[0] = 1
    assert pickle.loads(first).tolist() == [0, 0, 0, 0]
    assert pickle.loads(pickle.dumps(tensor)).tolist() == [1, 0, 0, 0]


class Stream:
    """A pickler that is used for several pickles, and the unpickler that reads them."""

    def __init__(self):
        self.file = io.BytesIO()
        self.pickler = pickle.Pickler(self.file, protocol=5)
        self.unpickler = pickle.Unpickler(self.file)

    def send(self, value):
        """Return what the receiver gets, and the bytes that travelled."""
        start = self.file.tell()
        self.pickler.dump(value)
        nbytes = self.file.tell() - start
        self.file.seek(start)
        return self.unpickler.load(), nbytes


WRITES = {
    "item": lambda tensor: tensor.__setitem__(0, 7),
    "slice": lambda tensor: tensor.__setitem__(slice(0, 1), [7]),
    "copyto": lambda tensor: dt.copyto(tensor[:1], 7),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_pickler_that_is_used_again_sends_what_was_written_in_between(write):
    tensor = dt.zeros(4)
    stream = Stream()
    first, _ = stream.send(tensor[:2])
    write(tensor)
    again, _ = stream.send(tensor[:2])
    assert first.tolist() == [0, 0] and again.tolist() == [7, 0]


def test_a_pickler_that_is_used_again_sends_memory_once():
    tensor = dt.zeros((100, 100))
    stream = Stream()
    whole, _ = stream.send(tensor)
    row, nbytes = stream.send(tensor[3])
    whole[3, 5] = 7
    assert row[5].item() == 7 and nbytes < 400


@pytest.mark.parametrize("part", [lambda t: t[3], lambda t: t[:, 5]], ids=["row", "column"])
def test_a_part_travels_without_the_rest_while_another_pickler_has_the_whole(part):
    tensor = dt.arange(10_000, dtype="float32").reshape(100, 100)
    first, second = Stream(), Stream()
    first.send(tensor)
    for stream in [second, second, Stream(), first]:
        received, nbytes = stream.send(part(tensor))
        assert received.tolist() == part(tensor).tolist() and nbytes < 1000
    assert len(pickle.dumps(part(tensor))) < 1000
    assert copy.deepcopy(part(tensor)).tolist() == part(tensor).tolist()
    whole, nbytes = second.send(tensor)
    row, _ = second.send(tensor[7])
    whole[7] = 1
    assert nbytes > 40_000 and row.tolist() == [1] * 100


def test_a_part_that_is_not_pickled_after_all_takes_nothing_from_the_whole():
    tensor = dt.arange(10_000, dtype="float32")
    stream = Stream()
    stream.send(tensor)
    for kept in [tensor[:10].__reduce_ex__(5), tensor[:10].__reduce_ex__(5)[0]]:
        assert pickle.loads(pickle.dumps(tensor)).tolist() == tensor.tolist()
        del kept


def test_a_pickle_that_is_made_while_another_is_has_memory_of_its_own():
    class Inner:
        def __init__(self, value):
            self.value = value

        def __reduce__(self):
            return bytes, (pickle.dumps(self.value),)

    tensor = dt.arange(10_000, dtype="float32").reshape(100, 100)
    value = [tensor, Inner(tensor[3]), Inner(tensor), tensor[3]]
    whole, part, again, row = pickle.loads(pickle.dumps(value))
    assert len(part) < 1000 < 40_000 < len(again)
    assert pickle.loads(part).tolist() == row.tolist() == tensor[3].tolist()
    assert pickle.loads(again).tolist() == whole.tolist() == tensor.tolist()


def test_threads_that_pickle_one_memory_send_it_each():
    tensor = dt.arange(10_000, dtype="float32").reshape(100, 100)
    value = [tensor, tensor[3], tensor[:, 5], tensor.T]

    def work():
        for _ in range(50):
            data, row = pickle.dumps(value), pickle.dumps(tensor[3])
            received = pickle.loads(data)
            assert 40_000 < len(data) < 42_000 and len(row) < 1000
            assert [part.tolist() for part in received] == expected
            received[0][3, 5] = -1
            assert received[1][5].item() == received[2][3].item() == -1

    expected = [part.tolist() for part in value]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work) for _ in range(4)]:
            done.result()


def test_multiprocessing_sends_views_that_share():
    tensor = dt.arange(6).reshape(2, 3)
    a, b = pickle.loads(ForkingPickler.dumps((tensor, tensor.T)))
    a[0, 1] = 9
    assert b[1, 0].item() == 9


def test_pickle_device_is_a_device_or_none():
    with pytest.raises((TypeError, ValueError)):
        dt.pickle_device("nowhere:0")
    with dt.pickle_device("cpu"), dt.pickle_device(None):
        assert pickle.loads(pickle.dumps(dt.arange(2))).tolist() == [0, 1]


def test_a_tensor_of_a_device_that_is_not_there_says_so():
    load_memory = dt.arange(2).__reduce_ex__(5)[1][1].__reduce_ex__(5)[0]
    with pytest.raises(
        RuntimeError, match=r'pickled on cuda:77 .*dovetail\.pickle_device\("cpu"\)'
    ):
        load_memory(bytes(4), 4, "cuda:77")
    with dt.pickle_device("cpu"):
        assert load_memory(bytes(4), 4, "cuda:77").tolist() == [0, 0, 0, 0]
    for wrong in [None, 1, b"cpu"]:
        with pytest.raises(TypeError, match="device must be a name"):
            load_memory(bytes(4), 4, wrong)
