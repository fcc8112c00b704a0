"""The end of a process whose tensors are in memory of its own."""

import pytest
from process import run_python

SETUP = """
import ctypes, dovetail as dt
libc = ctypes.CDLL(None)
libc.aligned_alloc.restype = ctypes.c_void_p
libc.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
class Pool:
    def allocate(self, nbytes, stream):
        return libc.aligned_alloc(256, (nbytes + 255) // 256 * 256)
    def deallocate(self, pointer, nbytes, stream):
        libc.free(ctypes.c_void_p(pointer))
"""


@pytest.mark.parametrize(
    "allocator",
    ["Pool()", "(libc.valloc, libc.free)", "(valloc, free)"],
)
def test_the_process_ends_with_memory_alive(allocator):
    printed = run_python(
        SETUP
        + f"""
size_t, p = ctypes.c_ssize_t, ctypes.c_void_p
libc.valloc.restype = p
valloc = ctypes.CFUNCTYPE(p, size_t, ctypes.c_int, p)(lambda n, d, s: libc.valloc(n))
free = ctypes.CFUNCTYPE(None, p, size_t, ctypes.c_int, p)(lambda x, n, d, s: libc.free(p(x)))
dt.set_allocator("cpu", {allocator})
kept = dt.arange(10)
class AtTheEnd:
    def __init__(self): self.tensor = dt.arange(5)
    def __del__(self): self.tensor = None
ends = AtTheEnd()
import sys
sys.kept = [dt.arange(3), ends]
libc.kept = dt.__dict__
dt.kept = dt.from_dlpack(dt.arange(7).__dlpack__())
print(kept.tolist()[-1])
"""
    )
    assert printed == "9\n"


# CPython before 3.14 ends a thread that waits for the GIL then, within the program's functions.
@pytest.mark.parametrize("run", range(6))
def test_the_process_ends_while_threads_allocate(run):
    printed = run_python(
        SETUP
        + """
import threading, time
def work():
    while True: dt.empty(1000)
dt.set_allocator("cpu", Pool())
for _ in range(3): threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
print("ends")
"""
    )
    assert printed == "ends\n"
