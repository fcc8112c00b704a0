"""Contexts that broke, were reset, or are green, on a real GPU. Skipped where there is none.

Each test is a process of its own, which must come to an end.

python -m pytest context_test.py      # with dovetail and PyTorch importable, no Bazel needed
"""

import subprocess
import sys
import textwrap

import pytest
import torch_on_gpu  # noqa: F401

START = """
import ctypes
import torch
import dovetail as dt

cuda = ctypes.CDLL("libcuda.so.1")

def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    assert code == 0, (name, code)

def tell(function):
    try:
        print("value", function())
    except Exception as error:
        print("raised", type(error).__name__, error)
"""
BREAK = """
x = torch.zeros(4, device="cuda")
tell(lambda: x[torch.tensor([99], device="cuda")].tolist())  # a kernel's assertion fails
"""


def run(*parts):
    """What a process that runs this code prints, and its exit status."""
    code = "\n".join(map(textwrap.dedent, (START, *parts, "print('the end')")))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr, done.returncode


def test_after_a_kernel_failed_memory_is_dropped_and_the_process_ends():
    alone, status = run(BREAK)
    assert "raised" in alone, alone
    output, own_status = run(
        """
        t = dt.zeros(1 << 20, device="cuda:0")
        u = dt.from_dlpack(torch.ones(1 << 20, device="cuda"))
        v = torch.from_dlpack(dt.ones(1 << 20, device="cuda:0"))
        """,
        BREAK,
        """
        del t, u, v
        tell(lambda: dt.trim_memory("cuda:0"))
        tell(lambda: dt.zeros(4, device="cuda:0").to("cpu"))
        """,
    )
    assert "the end" in output, output
    assert "raised" in output.splitlines()[-2], output
    assert own_status == status, output


def test_after_a_reset_of_the_context_memory_is_dropped_and_the_process_ends():
    reset = """
        device = ctypes.c_int()
        call("cuDeviceGet", ctypes.byref(device), 0)
        call("cuDevicePrimaryCtxReset_v2", device)
        """
    _, status = run('x = torch.zeros(4, device="cuda")', reset)
    output, own_status = run(
        """
        t = dt.zeros(1 << 20, device="cuda:0")
        u = torch.from_dlpack(dt.ones(1 << 20, device="cuda:0"))
        torch.cuda.synchronize()
        """,
        reset,
        """
        del t
        tell(lambda: dt.trim_memory("cuda:0"))
        """,
    )
    assert "the end" in output, output
    assert own_status == status, output


def test_the_stream_of_a_green_context_is_a_consumer_as_any_other():
    output, status = run(
        """
        version = ctypes.c_int()
        call("cuDriverGetVersion", ctypes.byref(version))
        if version.value < 12050:
            raise SystemExit("the driver has no streams of green contexts")
        torch.zeros(1, device="cuda")
        resource = ctypes.create_string_buffer(1024)
        call("cuDeviceGetDevResource", 0, resource, 1)  # CU_DEV_RESOURCE_TYPE_SM
        description, context, stream = (ctypes.c_void_p() for _ in range(3))
        call("cuDevResourceGenerateDesc", ctypes.byref(description), resource, 1)
        call("cuGreenCtxCreate", ctypes.byref(context), description, 0, 1)
        call("cuGreenCtxStreamCreate", ctypes.byref(stream), context, 1, 0)
        for turn in range(20):
            t = dt.full((1 << 20,), float(turn), device="cuda:0")
            capsule = t.__dlpack__(stream=stream.value, max_version=(1, 0))
            with torch.cuda.stream(torch.cuda.ExternalStream(stream.value)):
                y = torch.from_dlpack(dt.from_dlpack(capsule)).clone()
            del t, capsule
            again = [dt.full((1 << 20,), -1.0, device="cuda:0") for _ in range(4)]
            call("cuStreamSynchronize", stream)
            assert bool((y == turn).all()), turn
        """
    )
    if "no streams of green contexts" in output:
        pytest.skip("the driver has no streams of green contexts")
    assert status == 0, output
