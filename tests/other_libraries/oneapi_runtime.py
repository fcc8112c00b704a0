"""SYCL's device of the CPU, and a kernel that takes as long as a test needs.

The device's work is asynchronous, as a GPU's is. A queue begins with a kernel that holds it back
until release(): what follows in the queue has not run while a test looks.
"""

import ctypes
import os
import sys
import time
import warnings

os.environ.setdefault("OCL_ICD_FILENAMES", os.path.join(sys.prefix, "lib", "libintelocl.so"))
os.environ.setdefault("DOVETAIL_BACKENDS", "cpu,oneapi")  # emulated GPUs take the others' places
warnings.filterwarnings("ignore", message="dpctl.tensor is deprecated", category=DeprecationWarning)

import dpctl  # noqa: E402
import dpctl.memory  # noqa: E402
import dpctl.program  # noqa: E402
import dpctl.tensor as dpt  # noqa: E402
import pytest  # noqa: E402

if not dpctl.get_devices():
    pytest.skip("SYCL finds no device here", allow_module_level=True)

SOURCE = """
// Says that it runs, waits for the flag, then adds `by` to the first n elements.
kernel void add_later(volatile global int *flags, global int *x, int n, int by) {
  flags[1] = 1;
  while (atomic_load_explicit((volatile global atomic_int *)flags, memory_order_relaxed) == 0) {}
  for (int i = 0; i < n; ++i) x[i] += by;
}
kernel void copy_later(volatile global int *flags, global int *to, global const int *from, int n) {
  flags[1] = 1;
  while (atomic_load_explicit((volatile global atomic_int *)flags, memory_order_relaxed) == 0) {}
  for (int i = 0; i < n; ++i) to[i] = from[i];
}
"""


class Gate:
    """Work on `queue` that waits, without keeping the host, until release() is called.

    It occupies a thread of the device's.
    """

    def __init__(self, queue):
        self.queue = queue
        self._memory = dpctl.memory.MemoryUSMHost(64, queue=queue)
        self._flags = (ctypes.c_int * 2).from_address(self._memory._pointer)
        self._flags[:] = [0, 0]
        program = dpctl.program.create_program_from_source(queue, SOURCE, "-cl-std=CL3.0")
        self._add = program.get_sycl_kernel("add_later")
        self._copy = program.get_sycl_kernel("copy_later")
        self._kept = []

    def add(self, memory, count, by):
        """Once released, add `by` to the first int32 elements of a dpctl.memory object."""
        self._submit(self._add, memory, ctypes.c_int(count), ctypes.c_int(by))

    def copy(self, to, source, count):
        self._submit(self._copy, to, source, ctypes.c_int(count))

    def release(self):
        self._flags[0] = 1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.release()
        self.queue.wait()

    def _submit(self, kernel, *arguments):
        """Submit the kernel, and return when it runs: a thread that waits then runs other work."""
        self._kept.append(arguments)
        event = self.queue.submit_async(kernel, [self._memory, *arguments], [1])
        deadline = time.monotonic() + 20
        while self._flags[1] == 0:
            assert time.monotonic() < deadline, "the device does not begin"
            event.execution_status  # noqa: B018 - it flushes the queue
            time.sleep(0.001)


def usm(address, nbytes, queue):
    """Return a dpctl.memory object over USM at an address."""
    interface = {
        "data": (address, False),
        "shape": (nbytes,),
        "strides": None,
        "typestr": "|u1",
        "version": 1,
        "syclobj": queue,
        "offset": 0,
    }
    return dpctl.memory.as_usm_memory(
        type("Memory", (), {"__sycl_usm_array_interface__": interface})()
    )


__all__ = ["Gate", "dpctl", "dpt", "usm"]
