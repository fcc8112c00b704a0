"""UCXX and dovetail.distributed: messages between two processes, on the CPU."""

import asyncio
import multiprocessing
import os
import signal

import numpy as np
import pytest

import dovetail as dt
from dovetail.distributed import describe

# In the default mode, "thread", connections of UCXX 0.52 sometimes time out.
os.environ["UCXPY_PROGRESS_MODE"] = "blocking"

# The processes import UCXX, and this one does not: its threads would not survive the forks.
CONTEXT = multiprocessing.get_context("fork")


def listen(channel, answer):
    """Listen, tell the port, and run `answer` with the first endpoint."""
    import ucxx

    async def main():
        ended = asyncio.Event()

        async def handle(endpoint):
            channel.send(await answer(endpoint))
            ended.set()

        listener = ucxx.create_listener(handle, 0)
        channel.send(listener.port)
        await ended.wait()
        await asyncio.sleep(60)  # the test ends this process

    asyncio.run(main())


def connect(channel, port, call):
    import ucxx

    async def main():
        return await call(await ucxx.create_endpoint("127.0.0.1", port))

    try:
        channel.send(asyncio.run(main()))
    except Exception as e:
        channel.send(repr(e))


def run(sender, receiver):
    """What the two coroutines return, each in a process, with an endpoint to the other."""
    channels = []
    processes = []

    def start(target, *arguments):
        ours, theirs = CONTEXT.Pipe()
        process = CONTEXT.Process(target=target, args=(theirs, *arguments))
        process.start()
        theirs.close()
        channels.append(ours)
        processes.append(process)

    def result(channel):
        assert channel.poll(60), "no message arrives"
        try:
            return channel.recv()
        except EOFError:
            return "killed"

    try:
        start(listen, receiver)
        start(connect, result(channels[0]), sender)
        return [result(channel) for channel in reversed(channels)]
    finally:
        for process in processes:
            process.kill()
            process.join()


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "complex32", "int4"])
def test_a_tensor_of_any_type_is_received_in_place(name):
    t = dt.from_dlpack(np.arange(24, dtype=np.float32) // 4).to(name)

    async def send(endpoint):
        await endpoint.send(describe(t).buffer())

    async def receive(endpoint):
        u = dt.zeros(24, dtype=name)
        pointer = u.data_ptr()
        await endpoint.recv(describe(u, writable=True).buffer())
        return u.tolist(), u.data_ptr() == pointer

    assert run(send, receive)[1] == (t.tolist(), True)


def test_types_of_the_buffer_protocol_go_as_they_are():
    async def send(endpoint):
        from ucxx._lib.arr import Array

        t = dt.arange(1000, dtype="float64")
        assert Array(t).ptr == t.data_ptr()  # what UCX is given
        await endpoint.send(t)

    async def receive(endpoint):
        u = dt.zeros(1000, dtype="float64")
        await endpoint.recv(u)
        return u.tolist()

    assert run(send, receive)[1] == list(range(1000))


# UCXX itself ignores strides and access rights.
def test_strided_and_read_only_tensors_are_refused():
    with pytest.raises(dt.ExchangeError, match="A buffer of bytes is contiguous"):
        describe(dt.zeros((4, 4))[:, ::2]).buffer()
    with pytest.raises(dt.ExchangeError, match="read-only"):
        describe(dt.frombuffer(b"abcd", dtype="int8"), writable=True)


def test_a_process_that_is_killed_ends_in_an_error():
    async def wait(endpoint):
        await endpoint.recv(dt.zeros(3))

    async def end(endpoint):
        os.kill(os.getpid(), signal.SIGKILL)

    error, killed = run(wait, end)
    assert "UCXX" in error and killed == "killed"
