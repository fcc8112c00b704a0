"""dovetail.ray: actors share tensors through Ray's direct transport."""

import dataclasses
import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types

import numpy as np
import pytest
import ray
from ray_actors import VIEWS, Actor, shared
from ray_cluster import TYPES, file_of, files_beside, in_store, random_tensor, same
from ray_cluster import cluster as cluster  # a fixture

import dovetail as dt
import dovetail.ray

# Ray imports this module when a transfer fails, only for collective groups. The module needs
# PyTorch; without it, the thread that follows transfers would end.
sys.modules.setdefault(
    "ray.experimental.collective", types.SimpleNamespace(destroy_collective_group=None)
)


@pytest.fixture(scope="module")
def actors(cluster):
    dovetail.ray.register()  # a second time, which does nothing
    return Actor.remote(), Actor.remote()


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "this never happened"
        gc.collect()
        time.sleep(0.02)


def test_actors_have_one_memory(actors):
    producer, consumer = actors
    made = producer.make.remote()
    file = ray.get(made)["file"]
    assert os.path.exists(file)
    tensor, readonly, where, plain = ray.get(consumer.facts.remote(made))
    assert same(tensor, random_tensor("float32"))
    assert (where, readonly, plain) == (file, False, 5)
    ray.get(consumer.keep.remote(made))
    ray.get(consumer.write.remote(3))
    assert ray.get(producer.read.remote()).numpy().max() == 3
    ray.get(producer.write.remote(4))
    assert ray.get(made)["tensor"][0, 0] == 4


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("name", TYPES)
def test_each_type_arrives(actors, name, share):
    producer, consumer = actors
    made = producer.make.remote(name, share=share)
    tensor, readonly, where, _ = ray.get(consumer.facts.remote(made))
    assert same(tensor, random_tensor(name))
    assert not readonly and where.startswith("/dev/shm/dovetail.")


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("view", VIEWS)
def test_views_arrive_as_they_were(actors, view, share):
    producer, _ = actors
    expected = VIEWS[view](random_tensor("float64"))
    tensor = ray.get(producer.make.remote("float64", view=view, share=share))["tensor"]
    if view in ("column", "steps") and not share:
        expected = expected.copy()  # without the gaps, as in a pickle
    assert same(tensor, expected)
    assert tensor.readonly == (view == "read-only")


def test_other_memory_is_copied_once_for_all_receivers(actors):
    producer, consumer = actors
    made = producer.make.remote(share=False)
    assert ray.get(made)["file"] == ""
    first, second = ray.get(made)["tensor"], ray.get(made)["tensor"]
    assert first.data_ptr() == second.data_ptr()
    assert ray.get(consumer.facts.remote(made))[2] == file_of(first)


def test_views_of_one_memory_share_it_again(actors):
    producer, consumer = actors
    made = producer.make_views.remote()
    whole, transposed, row = ray.get(consumer.addresses.remote(made))
    assert (transposed - whole, row - whole) == (0, random_tensor("int16").nbytes // 2)


def test_what_comes_back_to_its_maker_is_its_own(actors):
    producer, _ = actors
    made = producer.make.remote()
    assert ray.get(producer.facts.remote(made))[2] == ray.get(made)["file"]


def test_the_driver_puts_and_gets_its_own_memory(actors):
    tensor = shared(random_tensor("bfloat16"))
    reference = ray.put(tensor, _tensor_transport="dovetail")
    assert ray.get(reference).data_ptr() == tensor.data_ptr()
    made = ray.put({"tensor": tensor.T, "plain": 6}, _tensor_transport="dovetail")
    arrived, _, where, plain = ray.get(actors[0].facts.remote(made))
    assert same(arrived, tensor.T) and (where, plain) == (file_of(tensor), 6)


def test_other_puts_go_to_the_object_store_without_another_copy(actors):
    ray.get(ray.put(shared(random_tensor("int8")), _tensor_transport="dovetail"))
    tensor = random_tensor("float32")
    back = ray.get(ray.put(tensor))
    assert same(back, tensor) and in_store(back) and back.readonly


def test_a_receiver_names_the_memory_to_copy_into(actors):
    made = actors[0].make.remote("int64")
    target = dt.zeros(random_tensor("int64").shape, dtype="int64")
    ray.experimental.set_target_for_ref(made, [target])
    assert ray.get(made)["tensor"] is target
    assert same(target, random_tensor("int64"))


def test_numpy_takes_what_arrives_without_a_copy(actors):
    tensor = ray.get(actors[0].make.remote("int64"))["tensor"]
    array = np.from_dlpack(tensor)
    assert array.ctypes.data == tensor.data_ptr() and array.flags.writeable


def can_be_opened(handle):
    try:
        return dt.ipc.open(handle) is not None
    except dt.ExchangeError:
        return False


def test_memory_goes_with_the_last_reference_and_receivers_keep_it(actors):
    producer, _ = actors
    made = producer.make.remote(share=False)
    tensor = ray.get(made)["tensor"]
    handle = bytes(dt.ipc.share(tensor))
    del made
    assert same(tensor, random_tensor("float32"))
    assert can_be_opened(handle)
    del tensor
    gc.collect()
    wait_until(lambda: not can_be_opened(handle))


def test_a_tensor_elsewhere_than_on_the_cpu_is_refused(actors):
    elsewhere = types.SimpleNamespace(device=dt.Device("cuda:0"))  # no GPU is needed
    with pytest.raises(dt.ExchangeError, match=r"on cuda:0; pass tensor\.to\('cpu'\)"):
        dovetail.ray.Transport().extract_tensor_transport_metadata("id", [elsewhere])


# ---- Faults ----


def kill(actor):
    """Kill the actor's process as the system does, and wait until Ray knows."""
    os.kill(ray.get(actor.pid.remote()), signal.SIGKILL)
    with pytest.raises(ray.exceptions.ActorDiedError):
        ray.get(actor.pid.remote())


def test_a_sender_that_was_killed_is_an_error_and_what_had_arrived_stays(actors):
    _, consumer = actors
    sender, other = Actor.remote(), Actor.remote()
    arrived, lost = sender.make.remote(), other.make.remote()
    ray.get(consumer.keep.remote(arrived))
    tensor = ray.get(arrived)["tensor"]
    ray.wait([lost], fetch_local=False)
    kill(sender)
    kill(other)
    with pytest.raises(ray.exceptions.RayTaskError) as raised:
        ray.get(consumer.facts.remote(lost))
    assert isinstance(raised.value.cause, dt.ExchangeError) and "has ended" in str(raised.value)
    with pytest.raises(dt.ExchangeError, match="has ended"):
        ray.get(lost)
    assert same(tensor, random_tensor("float32"))
    assert same(ray.get(consumer.read.remote()), random_tensor("float32"))
    assert files_beside(file_of(tensor)) == []  # the receiver's error unlinked the sender's files


@pytest.mark.parametrize("end", [kill, ray.kill])
def test_the_next_transfer_unlinks_what_a_killed_sender_left(actors, end):
    producer, consumer = actors
    sender = Actor.remote()
    tensor = ray.get(sender.make.remote())["tensor"]
    assert len(files_beside(file_of(tensor))) == 1
    end(sender)

    def transfer():
        ray.get(consumer.facts.remote(producer.make.remote()))
        return files_beside(file_of(tensor)) == []

    wait_until(transfer)  # ray.kill() returns before the process has ended
    assert same(tensor, random_tensor("float32"))


def test_a_receiver_that_is_killed_takes_neither_sender_nor_tensor(actors, monkeypatch):
    aborted = threading.Event()

    def can_abort_transport(original=dovetail.ray.Transport.can_abort_transport):
        aborted.set()
        return original()

    monkeypatch.setattr(
        dovetail.ray.Transport, "can_abort_transport", staticmethod(can_abort_transport)
    )
    producer, consumer = actors
    receiver = Actor.remote()
    made = producer.make.remote()
    ray.get(receiver.keep.remote(made))
    pending = [receiver.facts.remote(made) for _ in range(50)]
    kill(receiver)
    pending.append(receiver.facts.remote(made))
    with pytest.raises(ray.exceptions.ActorDiedError):
        ray.get(pending)
    assert aborted.wait(60)  # Ray would kill the sender now if the transport let it
    assert same(ray.get(consumer.facts.remote(made))[0], random_tensor("float32"))
    assert ray.get(producer.pid.remote()) > 0


def received(metadata):
    return dovetail.ray.Transport().recv_multiple_tensors("", metadata, None)


@pytest.fixture
def metadata(actors):
    """What the sender of two tensors tells receivers; one of them was copied."""
    transport = dovetail.ray.Transport()
    tensors = [shared(random_tensor("bfloat16")), random_tensor("int4")]
    yield transport.extract_tensor_transport_metadata("id", tensors)
    transport.garbage_collect("id", None, tensors)


def changed(metadata, position, bits):
    content = bytearray(metadata.content)
    content[position] ^= bits
    return dataclasses.replace(metadata, content=bytes(content))


def test_metadata_that_was_tampered_with_is_an_error(metadata):
    assert len(received(metadata)) == 2
    handle = metadata.content.index(b"DT\x02")
    length = metadata.content[handle - 1]  # as pickles write it
    for position in range(handle, handle + length):
        with pytest.raises(ValueError, match="not a handle"):
            received(changed(metadata, position, 1))
    with pytest.raises(pickle.UnpicklingError):
        received(dataclasses.replace(metadata, content=metadata.content[:-1]))
    with pytest.raises(pickle.UnpicklingError, match="buffer"):
        received(dataclasses.replace(metadata, buffers=()))


def test_a_handle_of_another_version_is_an_error(metadata):
    of_version_3 = changed(metadata, metadata.content.index(b"DT\x02") + 2, 1)
    with pytest.raises(ValueError, match="version 3, and this Dovetail has version 2"):
        received(of_version_3)


def test_a_script_that_ends_with_living_actors_leaves_no_memory():
    script = """
        import ray
        from ray_actors import Actor

        ray.init(address="local", num_cpus=1, include_dashboard=False, object_store_memory=80 << 20,
                 log_to_driver=False, logging_level="CRITICAL")
        actor = Actor.remote()
        print(ray.get(actor.make.remote())["file"])
    """
    printed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert files_beside(printed.split()[-1]) == []
