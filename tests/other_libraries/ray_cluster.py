"""What the tests of Ray share: a Ray of two processors, and what memory a tensor is in."""

import glob
import os
import random

import pyarrow as pa
import pytest
import ray

import dovetail as dt

STORE_BYTES = 160 << 20  # /dev/shm is small in containers
TYPES = [name for name in dt.__all__ if isinstance(getattr(dt, name), dt.DType)]


@pytest.fixture(scope="module")
def cluster():
    """A Ray of this test's own. Its value is what ray.init() returns."""
    yield ray.init(
        address="local",
        num_cpus=2,
        resources={"first": 1},  # for what must not run on another node
        include_dashboard=False,
        object_store_memory=STORE_BYTES,
        log_to_driver=False,
        logging_level="CRITICAL",
    )
    ray.shutdown()


def random_tensor(dtype, nbytes=3 << 17):
    """A tensor of `nbytes` bytes; by default so many that Ray puts it into its object store."""
    data = random.Random(str(dtype)).randbytes(nbytes)
    if str(dtype) == "bool":
        data = bytes(byte & 1 for byte in data)
    return dt.frombuffer(bytearray(data), dtype=dtype).reshape(2, -1)


def same(a, b):
    """Whether two tensors have the same type, layout, mark and elements, bit by bit."""
    return (a.dtype, a.shape, a.strides, a.requires_grad, _bytes_of(a)) == (
        b.dtype, b.shape, b.strides, b.requires_grad, _bytes_of(b))  # fmt: skip


def _bytes_of(tensor):
    if tensor.size == 0:
        return b""
    return bytes(dt.frombuffer(tensor.detach().contiguous(), dtype=dt.uint8))


def file_of(tensor):
    """The file that the tensor's memory maps in this process, or "" for other memory and none."""
    address = tensor.data_ptr()
    with open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.split()
            first, last = (int(end, 16) for end in fields[0].split("-"))
            if first <= address < last:
                return fields[5] if len(fields) > 5 else ""
    return ""


def in_store(tensor):
    return file_of(tensor).startswith("/dev/shm/plasma")


def files_beside(path):
    """All files of Dovetail in /dev/shm that the process which made the file `path` has there."""
    assert os.path.basename(path).startswith("dovetail."), path
    return glob.glob(path.rsplit(".", 1)[0] + ".*")


def column(tensor):
    """A column with a tensor in each row, over the memory of `tensor`."""
    type_ = pa.fixed_shape_tensor(pa.from_numpy_dtype(tensor.dtype.name), tensor.shape[1:])
    return pa.ExtensionArray.from_storage(type_, pa.array(tensor, type=type_.storage_type))
