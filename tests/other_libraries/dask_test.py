"""Dask and distributed: what travels between processes, and arrays over tensors."""

import os
import subprocess
import sys

import dask
import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster, get_worker
from dask.sizeof import sizeof
from distributed.protocol import deserialize, serialize
from distributed.scheduler import KilledWorker

import dovetail as dt

NAMES = ["bool", "int4", "uint8", "float16", "bfloat16", "float32", "complex128", "float8_e4m3fn",
         "float4_e2m1fn"]  # fmt: skip


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            host="127.0.0.1", protocol="tcp", memory_limit=None,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


def frames_of(value):
    header, frames = serialize(value, serializers=["dask", "pickle"], on_error="raise")
    return header, [memoryview(frame) for frame in frames]


def address(frame):
    return np.frombuffer(frame, np.uint8).ctypes.data


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_is_the_tensors_memory_and_a_tensor_lies_in_a_received_frame(name):
    tensor = dt.full((4, 6), 1, dtype=name).T
    header, (pickled, frame) = frames_of(tensor)
    assert address(frame) == tensor.data_ptr() and frame.nbytes == tensor.nbytes
    received = bytearray(frame)
    back = deserialize(header, [bytes(pickled), received])
    assert back.data_ptr() == address(received)
    assert (back.strides, back.dtype, back.readonly) == (tensor.strides, tensor.dtype, False)
    assert back.tolist() == tensor.tolist()


def test_a_list_of_views_is_one_frame_and_shares_again():
    tensor = dt.zeros((100, 100))
    header, frames = frames_of([tensor, tensor[3], tensor.T])
    assert [frame.nbytes for frame in frames[1:]] == [40_000]
    whole, row, transposed = deserialize(header, [bytes(frames[0]), bytearray(frames[1])])
    whole[3, 5] = 7
    assert row[5].item() == transposed[5, 3].item() == 7


def test_a_read_only_tensor_arrives_read_only():
    tensor = dt.frombuffer(bytes(16), dtype="float32")
    header, frames = frames_of(tensor)
    assert deserialize(header, [bytes(frames[0]), bytearray(frames[1])]).readonly


@pytest.mark.parametrize("name", NAMES)
def test_workers_get_and_give_tensors_of_any_type(client, name):
    tensor = dt.full((3, 5), 1, dtype=name).T

    def describe(t):
        return t, (t.dtype.name, t.shape, t.strides, t.readonly), os.getpid()

    back, seen, pid = client.submit(describe, tensor, pure=False).result()
    assert pid != os.getpid()
    assert seen == (name, (5, 3), (1, 5), False)
    assert (back.tolist(), back.strides) == (tensor.tolist(), tensor.strides)


def test_a_large_tensor_goes_from_worker_to_worker(client):
    first, second = client.scheduler_info()["workers"]
    n = 1_000_000
    made = client.submit(dt.arange, n, dtype="int64", workers=[first], pure=False)

    def total(t):
        return int(np.asarray(t).sum()), get_worker().address

    assert client.submit(total, made, workers=[second]).result() == (n * (n - 1) // 2, second)


def test_scattered_and_gathered(client):
    tensor = dt.arange(12, dtype="float32").reshape(3, 4).T
    (future,) = client.scatter([tensor], broadcast=True)
    back = client.gather(future)
    assert (back.tolist(), back.strides) == (tensor.tolist(), (1, 4))
    assert set(client.who_has(future)[future.key]) == set(client.scheduler_info()["workers"])


def test_sizes_are_those_of_the_memory():
    assert 4_000_000 <= sizeof(dt.zeros(1_000_000)) < 4_001_000
    row = np.broadcast_to(np.zeros(10, "f4"), (1000, 10))
    assert 40 <= sizeof(dt.from_dlpack(row)) < 1000


def test_a_token_is_the_same_for_the_same_values():
    a, b, c = (dt.arange(6).reshape(2, 3) for _ in range(3))
    c[0, 0] = 9
    assert dask.base.tokenize(a) == dask.base.tokenize(b) != dask.base.tokenize(c)


OPERATIONS = {
    "mean": lambda a: a.mean(),
    "std": lambda a: a.std(),
    "sum of products": lambda a: (a.T @ a + 1).sum(axis=0),
    "comparison": lambda a: da.where(a > 3, a, 0),
    "cast": lambda a: a.astype("float64")[::2, 1],
    "concatenation": lambda a: da.concatenate([a, a]),
    "mask": lambda a: a[a > 3],
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
@pytest.mark.parametrize("order", ["C", "F"])
def test_from_array_makes_an_array_that_computes(operation, order):
    tensor = dt.arange(24, dtype="float32").reshape(4, 6).copy(order)
    result = operation(da.from_array(tensor, chunks=3)).compute()
    expected = operation(da.from_array(np.asarray(tensor), chunks=3)).compute()
    assert type(result) is type(expected) and np.array_equal(result, expected)


def test_from_array_computes_with_bfloat16():
    tensor = dt.arange(6, dtype="bfloat16")
    assert da.from_array(tensor, chunks=2).astype("float32").sum().compute() == 15


def test_a_killed_worker_is_an_error_and_the_others_keep_their_tensors(client):
    kept_on, killed_on = client.scheduler_info()["workers"]
    kept = client.submit(dt.arange, 1000, workers=[kept_on], pure=False)
    kept.result()

    def die(t):
        os.kill(os.getpid(), 9)

    doomed = client.submit(die, dt.zeros(1000), workers=[killed_on], pure=False)
    with pytest.raises(KilledWorker):
        doomed.result(timeout=60)
    assert client.gather(kept).tolist() == list(range(1000))


def test_a_cut_frame_is_an_error():
    header, frames = frames_of(dt.arange(1000))
    with pytest.raises(ValueError, match="it is cut or belongs to another pickle"):
        deserialize(header, [bytes(frames[0]), bytes(frames[1])[:-1]])


def test_cuda_frames_are_for_gpus_only():
    from dovetail.dask import dask_setup

    dask_setup(None)
    header, _ = serialize(dt.arange(3), serializers=["cuda", "dask", "pickle"], on_error="raise")
    assert header["serializer"] == "pickle"


def test_importing_dovetail_imports_no_dask():
    code = "import sys, dovetail.dask; assert not {'dask', 'distributed'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)
