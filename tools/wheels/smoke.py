"""Tries an installed wheel in a process that has no other package: smoke.py VERSION

Takes memory in and hands it on, views, copies and casts it, and fails if anything is wrong. The
process ends while threads are inside of Dovetail.
"""

import array
import platform
import sys
import threading

import dovetail as dt

assert dt.__version__ == sys.argv[1], dt.__version__

# Memory is shared, both ways.
numbers = array.array("f", range(12))
t = dt.frombuffer(numbers, dtype=dt.float32).reshape(3, 4)
t[0, 0] = 100
assert numbers[0] == 100
u = dt.from_dlpack(t)
u[2, 3] = 7
assert numbers[11] == 7
assert memoryview(t)[2, 3] == 7

# Copies and casts by the kernels for this processor.
large = dt.arange(1 << 16, dtype=dt.int32).reshape(256, 256)
assert large.T.copy().tolist() == [list(column) for column in zip(*large.tolist(), strict=True)]
assert large.to(dt.float64).to(dt.int32).tolist() == large.tolist()
assert dt.tensor([1.0, 2.0]).to(dt.bfloat16).tolist() == [1.0, 2.0]

# Errors pass from C++ to Python.
try:
    dt.from_dlpack(object())
except AttributeError:
    pass
else:
    raise AssertionError("an object without the protocol was taken in")

config = dt.show_config(mode="dicts")
if platform.machine() == "x86_64":
    with open("/proc/cpuinfo") as file:
        flags = next(line for line in file if line.startswith("flags")).split()
    assert config["simd"]["in_use"].startswith("avx") == ("avx2" in flags), config["simd"]
if hasattr(sys, "_is_gil_enabled"):
    free = config["python"]["free_threaded"]
    assert config["python"]["gil_enabled"] == (not free)
print(config["build"]["compiler"], config["simd"]["in_use"])

# CPython before 3.14 ends these threads by unwinding their stacks (python/tests/lifetime).
running = threading.Semaphore(0)


class Producer:
    def __dlpack_device__(self):
        return t.__dlpack_device__()

    def __dlpack__(self, **keywords):
        sum(range(10000))
        return t.__dlpack__(**keywords)


def work():
    producer = Producer()
    while True:
        dt.from_dlpack(producer)
        large.to(dt.float64)
        running.release()


for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
for _ in range(8):
    running.acquire()
