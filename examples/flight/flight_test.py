"""The example's server and client, as two processes that are joined by gRPC."""

import contextlib
import json
import pathlib
import random
import subprocess
import sys
import textwrap
import time

import numpy as np
import pyarrow as pa
import pyarrow.flight as flight
import pytest
import torch
from batches import ARROW_TYPES, from_batch, to_batch
from client import TensorClient
from server import TensorServer

import dovetail as dt

TYPES = [name for name in dt.__all__ if isinstance(getattr(dt, name), dt.DType)]
SERVER = pathlib.Path(__file__).parent / "server.py"


def random_tensor(dtype, shape=(8, 4, -1), nbytes=3 << 12):
    data = random.Random(str(dtype)).randbytes(nbytes)
    if str(dtype) == "bool":
        data = bytes(byte & 1 for byte in data)
    return dt.frombuffer(bytearray(data), dtype=dtype).reshape(shape)


def bytes_of(tensor):
    return bytes(dt.frombuffer(tensor.contiguous(), dtype="uint8")) if tensor.size else b""


def same(a, b):
    return (a.dtype, a.shape, bytes_of(a)) == (b.dtype, b.shape, bytes_of(b))


@contextlib.contextmanager
def serving():
    """A server in another process, and its location."""
    with subprocess.Popen([sys.executable, SERVER], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, f"grpc://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def client():
    """A client of a server in another process."""
    with serving() as (_, location), TensorClient(location) as client:
        yield client


@pytest.fixture
def near():
    """A server in this process, whose memory can be looked at, and a client of it."""
    with TensorServer() as server, TensorClient(f"grpc://127.0.0.1:{server.port}") as client:
        yield server, client


def test_every_type_goes_there_and_comes_back(client):
    for name in [*TYPES, "float32x4"]:
        tensor = random_tensor(name)
        client.put(name, tensor)
        for aligned in (True, False):
            back = client.get(name, aligned=aligned)
            assert same(back, tensor), name
            assert back.readonly, name
            assert not aligned or back.data_ptr() % 64 == 0, name


@pytest.mark.parametrize("shape", [(), (3,), (0,), (0, 3), (2, 0, 4), (1, 1), (3, 5)], ids=str)
def test_every_shape_goes_there_and_comes_back(client, shape):
    for name in ("float32", "bfloat16", "int4", "bool"):
        tensor = dt.full(shape, 1, dtype=name)
        client.put(name, tensor)
        assert same(client.get(name), tensor), name


def test_tensors_of_any_library_go_there_and_come_back_as_any_others(client):
    client.put("torch", torch.arange(6, dtype=torch.bfloat16).reshape(2, 3))
    client.put("numpy", np.arange(6.0).reshape(2, 3).T)
    assert dt.convert(client.get("torch"), torch.Tensor).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert np.from_dlpack(client.get("numpy")).tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("name", sorted(ARROW_TYPES))
def test_other_clients_read_types_that_arrow_has(client, name):
    tensor = random_tensor(name)
    client.put("x", tensor)
    column = client.do_get(flight.Ticket("x")).read_all()["tensor"].combine_chunks()
    array = column.to_numpy_ndarray()
    assert array.dtype.name == name and array.tobytes() == bytes_of(tensor)
    assert array.shape == tensor.shape


# ---- Copies ----


def test_a_batch_is_over_the_tensors_memory_and_a_tensor_over_the_batchs():
    for name in ("float32", "bfloat16", "int4"):
        tensor = random_tensor(name)
        allocations = dt.allocator_stats("cpu")["allocations"]
        assert from_batch(to_batch(tensor)).data_ptr() == tensor.data_ptr()
        assert dt.allocator_stats("cpu")["allocations"] == allocations


def test_a_strided_tensor_is_copied_once():
    allocations = dt.allocator_stats("cpu")["allocations"]
    tensor = dt.zeros(64, 64).T
    to_batch(tensor)
    assert dt.allocator_stats("cpu")["allocations"] == allocations + 2


def test_what_arrives_lies_in_grpcs_memory_and_alignment_is_one_copy_of_arrows(near):
    server, client = near
    tensor = random_tensor("float32", nbytes=3 << 20)
    batch = to_batch(tensor)
    assert pa.total_allocated_bytes() < 1 << 16
    client.put("x", tensor)
    kept = server.tensor("x")
    assert same(kept, tensor) and kept.data_ptr() != tensor.data_ptr()
    assert server.tensor("x").data_ptr() == kept.data_ptr()
    as_it_came = client.get("x", aligned=False)
    assert as_it_came.data_ptr() not in (tensor.data_ptr(), kept.data_ptr())
    assert pa.total_allocated_bytes() < 1 << 16  # nothing of this is Arrow's
    aligned = client.get("x")
    assert same(aligned, tensor) and aligned.data_ptr() % 64 == 0
    assert pa.total_allocated_bytes() < tensor.nbytes + (1 << 16)
    del batch


def peak(process):
    """The most memory that a process had since reset_peak(), in bytes."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def reset_peak(process):
    pathlib.Path(f"/proc/{process}/clear_refs").write_text("5")
    return peak(process)


def test_the_sender_needs_no_memory_for_a_message_and_the_receiver_less_than_three_times_its_size():
    tensor = dt.full((64, 1 << 20), 7, dtype="bfloat16")
    with serving() as (process, location), TensorClient(location) as client:
        client.put("small", tensor[:1])
        before, before_there = reset_peak("self"), reset_peak(process.pid)
        client.put("x", tensor)
        assert peak("self") - before < tensor.nbytes / 4
        assert peak(process.pid) - before_there < tensor.nbytes * 2.75
        before, before_there = reset_peak("self"), reset_peak(process.pid)
        back = client.get("x", aligned=False)
        assert peak("self") - before < tensor.nbytes * 2.75
        assert peak(process.pid) - before_there < tensor.nbytes / 4
    assert same(back, tensor)


# ---- Faults ----


def test_an_unknown_name_is_an_error(client):
    with pytest.raises(KeyError, match="no tensor has the name 'nothing'"):
        client.get("nothing")


def changed(batch, **facts):
    known = json.loads(batch.schema.metadata[b"dovetail"])
    return batch.replace_schema_metadata({"dovetail": json.dumps(known | facts)})


BATCH = to_batch(dt.arange(6, dtype="int32").reshape(2, 3))
BITS = to_batch(dt.zeros(2, 3, dtype="bfloat16"))


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (BATCH.replace_schema_metadata({}), "was not made by to_batch"),
        (pa.record_batch({"x": [1, 2]}), "was not made by to_batch"),
        (BATCH.replace_schema_metadata({"dovetail": "{"}), "Expecting property name"),
        (changed(BATCH, dtype="float32"), "says dovetail.float32, and the column has"),
        (changed(BATCH, dtype="int99"), "no element type"),
        (changed(BATCH, shape=[2, 4]), "can't have the shape"),
        (changed(BITS, shape=[2, 4]), "frombuffer"),
        (changed(BITS, shape=[-2, 3]), "can't have the shape"),
    ],
    ids=[
        "no metadata",
        "other batch",
        "cut",
        "other type",
        "no type",
        "shape",
        "more bytes",
        "negative",
    ],
)
def test_a_batch_that_was_tampered_with_is_refused_and_the_server_keeps_what_it_had(
    client, batch, message
):
    client.put("x", dt.arange(3))
    writer, _ = client.do_put(flight.FlightDescriptor.for_path("x"), batch.schema)
    with pytest.raises(pa.ArrowInvalid, match=message):
        with writer:
            writer.write_batch(batch)
    assert client.get("x").tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=message):
        from_batch(batch)


@pytest.mark.parametrize("count", [0, 2])
def test_two_batches_and_none_are_refused(client, count):
    writer, _ = client.do_put(flight.FlightDescriptor.for_path("nothing"), BATCH.schema)
    with pytest.raises(pa.ArrowInvalid, match=f"one record batch of at most 2 GiB, not {count}"):
        with writer:
            for _ in range(count):
                writer.write_batch(BATCH)
    with pytest.raises(KeyError):
        client.get("nothing")


def test_a_server_that_is_killed_is_an_error_and_what_had_arrived_stays():
    tensor = random_tensor("bfloat16")
    with serving() as (process, location), TensorClient(location) as client:
        client.put("x", tensor)
        back = client.get("x")
        process.kill()
        process.wait()
        with pytest.raises(flight.FlightUnavailableError):
            client.get("x")
        with pytest.raises(flight.FlightUnavailableError):
            client.put("x", tensor)
    assert same(back, tensor)


SEND = """
    import sys
    sys.path[:] = {path!r}
    import dovetail as dt
    from client import TensorClient
    tensor = dt.full({shape}, 7, dtype="int32")
    client = TensorClient({location!r})
    print("sending", flush=True)
    client.put("x", tensor)
"""


def test_a_client_that_is_killed_leaves_a_whole_tensor_or_the_one_that_was_there():
    old, new = dt.arange(3), dt.full((8, 1 << 20), 7, dtype="int32")
    with serving() as (process, location), TensorClient(location) as client:
        client.put("x", old)
        code = textwrap.dedent(SEND).format(path=sys.path, shape=new.shape, location=location)
        for delay in range(8):
            with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as sender:
                sender.stdout.readline()
                time.sleep(delay / 40)
                sender.kill()
            tensor = client.get("x")
            assert same(tensor, old) or same(tensor, new)
        assert process.poll() is None
