"""Tensors in Ray's object store, as arguments of tasks, and in actors."""

import functools
import os
import pickle
import signal
import tracemalloc

import numpy as np
import pytest
import ray
from ray_cluster import STORE_BYTES, TYPES, in_store, random_tensor, same
from ray_cluster import cluster as cluster  # a fixture

import dovetail as dt

pytestmark = pytest.mark.usefixtures("cluster")


@ray.remote
def received(x):
    """What a task is given: the tensor, and whether it lies read-only in the object store."""
    return x, in_store(x) and x.readonly


def test_get_gives_read_only_tensors_in_the_object_store():
    tensor = random_tensor("float32")
    reference = ray.put(tensor)
    first, second = ray.get(reference), ray.get(reference)
    assert same(first, tensor)
    assert in_store(first) and not in_store(tensor)
    assert first.data_ptr() == second.data_ptr() != tensor.data_ptr()
    assert first.data_ptr() % 64 == 0
    assert first.readonly
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1
    tensor[0, 0] = 7
    assert ray.get(reference)[0, 0] != 7


def test_nothing_but_rays_copy_into_the_store_takes_memory():
    tensor = random_tensor("bfloat16", 16 << 20)
    ray.get(ray.put(tensor))  # imports what is needed
    tracemalloc.start()
    before = dt.allocator_stats("cpu")["allocations"]
    reference = ray.put(tensor)
    back = ray.get(reference)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert same(back, tensor)
    assert dt.allocator_stats("cpu")["allocations"] == before
    assert peak < tensor.nbytes // 4


@pytest.mark.parametrize("name", TYPES)
def test_each_type_comes_back_from_the_store_and_from_a_task(name):
    tensor = random_tensor(name)
    reference = ray.put(tensor)
    assert same(ray.get(reference), tensor)
    back, was_in_store = ray.get(received.remote(reference))
    assert same(back, tensor) and was_in_store and in_store(back)


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.T,
        lambda t: t[::-1, ::-1],
        lambda t: t[1:],
        lambda t: t.reshape(4, 2, -1).permute(2, 0, 1),
        lambda t: t.detach().requires_grad_(),
    ],
    ids=["transposed", "reversed", "slice", "permuted", "marked"],
)
def test_views_come_back_as_they_were(view):
    tensor = view(random_tensor("float16"))
    back = ray.get(ray.put(tensor))
    assert same(back, tensor) and in_store(back)


def test_tensors_that_share_memory_share_it_in_the_store():
    tensor = random_tensor("int32")
    back = ray.get(ray.put({"all": tensor, "transposed": [tensor.T, tensor[1]]}))
    transposed, row = back["transposed"]
    assert in_store(row)
    assert transposed.data_ptr() == back["all"].data_ptr()
    assert row.data_ptr() == back["all"][1].data_ptr()


def test_small_results_travel_in_rays_messages():
    for tensor in (dt.arange(3), dt.tensor(5.0), dt.zeros(0, 3)):
        back, was_in_store = ray.get(received.remote(tensor))
        assert same(back, tensor) and not was_in_store
        assert back.readonly or back.size == 0


def test_other_libraries_take_what_get_returns_without_a_copy():
    back = ray.get(ray.put(random_tensor("float32")))
    array = np.from_dlpack(back)
    assert array.ctypes.data == back.data_ptr() and not array.flags.writeable


@ray.remote
class Keeper:
    """Keeps the tensor that it was given, and a tensor of its own."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.total = dt.zeros(tensor.shape, dtype=tensor.dtype)

    def add(self):
        self.total.numpy()[...] += self.tensor.numpy()
        return self.total

    def facts(self):
        return in_store(self.tensor), self.tensor.readonly


def test_an_actor_keeps_tensors_in_the_store_and_returns_its_own():
    tensor = random_tensor("int32")
    keeper = Keeper.remote(ray.put(tensor))
    first, second = ray.get(keeper.add.remote()), ray.get(keeper.add.remote())
    assert np.array_equal(first.numpy(), tensor.numpy())
    assert np.array_equal(second.numpy(), tensor.numpy() * 2)
    assert ray.get(keeper.facts.remote()) == (True, True)


def test_a_view_keeps_the_object_and_the_last_one_gives_it_back():
    part = STORE_BYTES // 4
    view = ray.get(ray.put(dt.full(part, 7, dtype="uint8")))[1:]
    for value in range(8):  # twice what the store holds
        latest = ray.get(ray.put(dt.full(part, value, dtype="uint8")))
        assert in_store(latest) and latest[-1] == value
    assert in_store(view) and view.numpy().min() == view.numpy().max() == 7


@ray.remote(max_retries=0)
def die(x):
    os.kill(os.getpid(), signal.SIGKILL)


@ray.remote(max_retries=1)
def die_once(x, path):
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return x[0]
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_takes_no_tensor_with_it(tmp_path):
    tensor = random_tensor("float64")
    reference = ray.put(tensor)
    before = ray.get(reference)
    with pytest.raises(ray.exceptions.WorkerCrashedError):
        ray.get(die.remote(reference))
    assert same(before, tensor) and ray.get(reference).data_ptr() == before.data_ptr()
    assert same(ray.get(die_once.remote(reference, str(tmp_path / "died"))), tensor[0])


class Tampered:
    """Is pickled as a tensor whose pickle or whose memory is not what it was."""

    def __init__(self, tensor, change):
        memories = []
        data = pickle.dumps(tensor, protocol=5, buffer_callback=memories.append)
        self._pickled = change(data, bytes(memories[0].raw()))

    def __reduce__(self):
        data, memory = self._pickled
        return functools.partial(pickle.loads, buffers=[memory]), (data,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data, memory: (data, memory[:-1]), "cut or belongs to another pickle"),
        (lambda data, memory: (data, memory + b"x"), "cut or belongs to another pickle"),
        (lambda data, memory: (data.replace(b"float32", b"float99"), memory), "no element type"),
        (lambda data, memory: (data[:-9] + data[-8:], memory), "truncated"),
        (lambda data, memory: (data.replace(b"K\1", b"K\143", 1), memory), "another version"),
    ],
    ids=["cut", "longer", "type", "pickle", "version"],
)
def test_a_tampered_tensor_is_an_error(change, message):
    tensor = random_tensor("float32")
    reference = ray.put(Tampered(tensor, change))
    with pytest.raises(ray.exceptions.RaySystemError, match=message):
        ray.get(reference)
    with pytest.raises(ray.exceptions.RayTaskError, match=message):
        ray.get(received.remote(reference))
    assert same(ray.get(ray.put(tensor)), tensor)
