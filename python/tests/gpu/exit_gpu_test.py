"""exit_test.py on emulated GPUs: the daemon threads wait for a device."""

import pytest
from daemon_threads import ends_with

PREPARE = """
import emulated_gpu
gpu = emulated_gpu.Gpu("cuda")
dt.register_backend(gpu.backend())
a = dt.zeros(64)
stream = dt.Stream("cuda:0")
"""
CALLS = {
    "a copy to a device": "a.to('cuda:0')",
    "a copy from a device": "a.to('cuda:0').to('cpu')",
    "a stream": "stream.synchronize()",
    "an event": "stream.record().synchronize()",
    "ipc": "dt.ipc.share(dt.ipc.empty((4,), device='cuda:0'))",
}


@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.parametrize("call", CALLS)
def test_a_process_ends_while_daemon_threads_wait_for_a_device(call, attempt):
    ends_with(PREPARE, CALLS[call])
