"""The order of work on SYCL's queues, and when memory is given back.

Each test holds a queue back by a kernel (oneapi_runtime.Gate): what is not ordered behind it runs
before it. The tests named after a fault leave the wait out and see the fault every time; they show
that the tests beside them would.
"""

import gc
import os
import threading
import time

import pytest
from oneapi_runtime import Gate, dpctl, dpt, usm  # before Dovetail: it names the CPU's driver

import dovetail as dt

COUNT = 64
OLD, ADDED = 1, 100


def queues():
    return [dpctl.SyclQueue(), dpctl.SyclQueue(property="in_order")]


def on_the_host(memory):
    """Return the first int32 at a USM address as it is now. (The device is the CPU's.)"""
    import ctypes

    return ctypes.c_int.from_address(memory).value


def produced(queue):
    """Return a dpctl array, and the gate that holds back the work that makes its elements."""
    x = dpt.full(COUNT, OLD, dtype="i4", sycl_queue=queue)
    queue.wait()
    produced = Produced(x)
    gate = Gate(queue)
    gate.add(x.usm_data, COUNT, ADDED)
    return produced, gate


class Produced:
    """A dpctl array. (dpctl waits for the queue when an array is asked for the USM interface.)"""

    def __init__(self, array):
        self.array = array
        self.__sycl_usm_array_interface__ = array.__sycl_usm_array_interface__
        self.sycl_queue = array.sycl_queue

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class WithoutQueue:
    """A producer that lets nobody wait for its work."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, stream=None, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


# ---- Coming in ----


@pytest.mark.parametrize("queue", queues(), ids=["unordered", "in order"])
@pytest.mark.parametrize("way", [dt.from_dlpack, dt.from_usm_array_interface])
def test_our_work_waits_for_the_producers_queue(queue, way):
    x, gate = produced(queue)
    with gate:
        t = way(x)
        copy = t.copy()  # submitted, and waiting
        time.sleep(0.05)
        gate.release()
        assert copy.to("cpu").tolist() == [OLD + ADDED] * COUNT


@pytest.mark.parametrize("queue", queues(), ids=["unordered", "in order"])
def test_fault_without_the_producers_wait_we_read_too_early(queue):
    x, gate = produced(queue)
    with gate:
        assert dt.from_dlpack(WithoutQueue(x)).to("cpu").tolist() == [OLD] * COUNT


# ---- Going out ----


def pending(queue):
    """Return a tensor of ours whose copy is held back on the queue, and the gate."""
    source = dt.full((COUNT,), OLD + ADDED, dtype=dt.int32, device="oneapi:0")
    t = dt.full((COUNT,), OLD, dtype=dt.int32, device="oneapi:0")
    dt.current_stream("oneapi:0").synchronize()
    gate = Gate(queue)
    gate.add(dpctl.memory.MemoryUSMDevice(64, queue=queue), 1, 0)
    with dt.stream(queue):
        t[...] = source
    return t, gate


def copied_by(consumer, capsule_of):
    """Return what a consumer's copy on its queue finds in a tensor, as a dpctl array."""
    result = dpt.zeros(COUNT, dtype="i4", sycl_queue=consumer)
    consumer.wait()
    array = dpt.from_dlpack(capsule_of)
    event = consumer.memcpy_async(result.usm_data, array.usm_data, COUNT * 4)
    return result, event


class For:
    """A tensor that is exported for one consumer's queue."""

    def __init__(self, tensor, stream):
        self._tensor, self._stream = tensor, stream

    def __dlpack__(self, **arguments):
        return self._tensor.__dlpack__(**{**arguments, "stream": self._stream})

    def __dlpack_device__(self):
        return self._tensor.__dlpack_device__()


@pytest.mark.parametrize("queue", queues(), ids=["unordered", "in order"])
@pytest.mark.parametrize("consumer", queues(), ids=["to unordered", "to in order"])
def test_the_consumers_queue_waits_for_our_work_and_the_host_does_not(queue, consumer):
    t, gate = pending(queue)
    with gate:
        result, event = copied_by(consumer, For(t, consumer))
        time.sleep(0.05)
        assert event.execution_status != dpctl.event_status_type.complete
        gate.release()
        event.wait()
        assert dpt.asnumpy(result).tolist() == [OLD + ADDED] * COUNT


@pytest.mark.parametrize("queue", queues(), ids=["unordered", "in order"])
def test_without_a_queue_the_host_waits(queue):
    t, gate = pending(queue)
    with gate:
        threading.Timer(0.1, gate.release).start()
        t.__dlpack__(max_version=(1, 0))
        assert on_the_host(t.data_ptr()) == OLD + ADDED


@pytest.mark.parametrize("queue", queues(), ids=["unordered", "in order"])
def test_the_usm_array_interface_is_given_when_the_work_is_done(queue):
    t, gate = pending(queue)
    with gate:
        threading.Timer(0.1, gate.release).start()
        assert t.__sycl_usm_array_interface__["data"] == (t.data_ptr(), False)
        assert on_the_host(t.data_ptr()) == OLD + ADDED


@pytest.mark.parametrize("queue", queues(), ids=["unordered", "in order"])
def test_fault_a_consumer_that_asks_for_no_wait_reads_too_early(queue):
    t, gate = pending(queue)
    with gate:
        result, event = copied_by(dpctl.SyclQueue(), For(t, -1))
        event.wait()
        assert dpt.asnumpy(result).tolist() == [OLD] * COUNT


def test_work_follows_our_stream_as_a_queue():
    t = dt.full((COUNT,), OLD, dtype=dt.int32, device="oneapi:0")
    for stream in (dt.current_stream("oneapi:0"), dt.Stream("oneapi:0")):
        queue = stream.sycl_queue
        assert isinstance(queue, dpctl.SyclQueue) and queue.is_in_order
        with dt.stream(queue):
            assert dt.current_stream("oneapi:0") == stream
    with Gate(dt.current_stream("oneapi:0").sycl_queue) as gate:
        gate.add(dpt.from_dlpack(t).usm_data, COUNT, ADDED)
        threading.Timer(0.05, gate.release).start()
        assert t.to("cpu").tolist() == [OLD + ADDED] * COUNT


# ---- Giving back ----


def read_late(consumer, stream):
    """Let a consumer read our memory after it dropped it, and return what it read.

    `stream` is what the consumer tells us of its queue. Meanwhile the memory may be reused.
    """
    queue = dt.current_stream("oneapi:0").sycl_queue
    t = dt.full((COUNT,), OLD, dtype=dt.int32, device="oneapi:0")
    queue.wait()
    capsule = t.__dlpack__(stream=stream, max_version=(1, 0))
    address = t.data_ptr()
    result = dpctl.memory.MemoryUSMHost(COUNT * 4, queue=consumer)
    with Gate(consumer) as gate:
        gate.copy(result, usm(address, COUNT * 4, consumer), COUNT)
        del t, capsule
        gc.collect()
        news = [dt.full((COUNT,), 7, dtype=dt.int32, device="oneapi:0") for _ in range(4)]
        queue.wait()
        reused = address in [n.data_ptr() for n in news]
        gate.release()
        consumer.wait()
    return on_the_host(result._pointer), reused


@pytest.mark.parametrize("consumer", queues(), ids=["unordered", "in order"])
def test_memory_is_reused_after_the_consumers_work(consumer):
    assert read_late(consumer, consumer) == (OLD, False)


@pytest.mark.parametrize("consumer", queues(), ids=["unordered", "in order"])
def test_fault_memory_of_a_consumer_that_tells_nothing_is_reused_before(consumer):
    assert read_late(consumer, None) == (7, True)


def test_lent_memory_is_given_back_after_our_work():
    queue = dpctl.SyclQueue()
    x, gate = produced(queue)
    with gate:
        with dt.stream(queue):
            copy = dt.from_dlpack(x).copy()  # held back
        address, owner = x.array.usm_data._pointer, x.array.usm_data
        count = len(gc.get_referrers(owner))
        del x
        gc.collect()
        assert len(gc.get_referrers(owner)) <= count and on_the_host(address) == OLD
        gate.release()
        assert copy.to("cpu").tolist() == [OLD + ADDED] * COUNT


def test_a_queue_may_be_destroyed_before_the_memory_that_was_used_on_it():
    for _ in range(20):
        queue = dpctl.SyclQueue()
        t = dt.full((COUNT,), OLD, dtype=dt.int32, device="oneapi:0")
        capsule = t.__dlpack__(stream=queue, max_version=(1, 0))
        with dt.stream(queue):
            u = t.copy()
        del queue
        gc.collect()
        assert u.to("cpu").tolist() == [OLD] * COUNT
        del t, capsule, u
    assert dt.zeros((COUNT,), device="oneapi:0").to("cpu").tolist() == [0] * COUNT


# ---- Threads and processes ----


# Each thread waits for dpctl's work: where a queue waits for another queue's host task, threads of
# dpctl's alone may wait for each other for ever.
def test_threads_exchange_side_by_side():
    errors = []

    def work(number):
        try:
            queue = dpctl.SyclQueue()
            for i in range(30):
                x = dpt.full(COUNT + number, i, dtype="i4", sycl_queue=queue)
                queue.wait()
                t = dt.from_dlpack(x)
                with dt.stream(queue):
                    y = dpt.from_dlpack(t.copy())
                assert dpt.asnumpy(y).tolist() == [i] * (COUNT + number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads)


def test_a_forked_child_is_told_and_hangs_nowhere():
    t = dt.arange(3, device="oneapi:0")
    child = os.fork()
    if child == 0:
        try:
            t.to("cpu")
        except BaseException as error:
            os._exit(0 if "forked" in str(error) else 1)
        os._exit(2)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert t.to("cpu").tolist() == [0, 1, 2]


# ---- Streams that are none ----


@pytest.mark.parametrize("stream", [0, 1, 2, 5, -2, 1 << 40])
def test_a_number_is_no_queue(stream):
    t = dt.arange(3, device="oneapi:0")
    with pytest.raises(dt.StreamError, match=r"dpctl\.SyclQueue"):
        t.__dlpack__(stream=stream)


@pytest.mark.parametrize("stream", ["a", 1.5, object(), dpctl.SyclDevice()])
def test_another_object_is_no_queue(stream):
    t = dt.arange(3, device="oneapi:0")
    with pytest.raises(TypeError, match="stream must be"):
        t.__dlpack__(stream=stream)
    with pytest.raises(TypeError):
        dt.stream(stream, device="oneapi:0")


def test_a_number_is_no_queue_of_stream():
    with pytest.raises(TypeError, match="no stream of oneapi:0"):
        dt.stream(12345, device="oneapi:0")
    with pytest.raises(TypeError, match="no stream of cuda:0"):
        dt.stream(dpctl.SyclQueue(), device="cuda:0")


def test_a_queue_is_no_stream_of_another_device():
    with pytest.raises(dt.StreamError, match="SYCL queue is no stream of cpu"):
        dt.arange(3).__dlpack__(stream=dpctl.SyclQueue())
    with pytest.raises(TypeError, match="no CUDA stream"):
        dt.Stream("oneapi:0").__cuda_stream__()


def test_a_queue_of_another_context_is_refused():
    device = dpctl.SyclDevice()
    other = dpctl.SyclQueue(dpctl.SyclContext([device]), device)
    assert other.sycl_context != dpctl.SyclQueue().sycl_context
    t = dt.arange(3, device="oneapi:0")
    with pytest.raises(dt.StreamError, match="context"):
        t.__dlpack__(stream=other)
    with pytest.raises(dt.StreamError, match="context"):
        dt.stream(other)


def test_a_queue_of_a_part_of_a_device_is_refused():
    try:
        part = dpctl.SyclDevice().create_sub_devices(partition=1)[0]
    except Exception as error:
        pytest.skip(f"the device has no parts: {error}")
    t = dt.arange(3, device="oneapi:0")
    with pytest.raises(dt.StreamError, match="root device"):
        t.__dlpack__(stream=dpctl.SyclQueue(part))
