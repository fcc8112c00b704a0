"""dovetail.stream() as a context, on an emulated GPU: it ends where it began."""

import threading

import emulated_gpu
import pytest

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())


def test_a_context_ends_on_the_thread_that_it_began_on():
    stream = dt.Stream("cuda:0")
    before = dt.current_stream("cuda:0")
    context = dt.stream(stream)
    context.__enter__()
    found = []

    def leave():
        with pytest.raises(RuntimeError, match="the thread that it began on"):
            context.__exit__(None, None, None)
        found.append(dt.current_stream("cuda:0"))

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    assert found == [before] and dt.current_stream("cuda:0") == stream
    context.__exit__(None, None, None)
    assert dt.current_stream("cuda:0") == before
    context.__exit__(None, None, None)  # once more means nothing
    assert dt.current_stream("cuda:0") == before
