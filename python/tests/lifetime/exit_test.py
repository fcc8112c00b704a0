"""A process whose daemon threads are inside Dovetail exits with 0, as with NumPy.

CPython before 3.14 ends such a thread when it takes the GIL, by unwinding its stack.
"""

import pytest
from daemon_threads import ends_with

# Code that each thread runs once, and code that it then repeats.
LONG_CALLS = {
    "a copy": ("a = dt.zeros(1 << 18)", "a.copy()"),
    "a cast": ("a = dt.zeros(1 << 18)", "a.to(dt.float64)"),
    "an assignment": ("a = dt.zeros(1 << 18)", "a[:] = a[::-1]"),
    "a fill": ("", "dt.full((1 << 18,), 1.5)"),
    "an import that copies": ("a = memoryview(bytearray(1 << 20))", "dt.tensor(a)"),
    "convert": ("a = dt.zeros(1 << 18)", "dt.convert(a, dt.Tensor, copy=True)"),
    "an export that copies": ("a = dt.zeros(1 << 18)", "a.__dlpack__(copy=True)"),
    "a copy in row-major order": ("a = dt.zeros(512, 512)", "a.T.contiguous()"),
    "ipc": ("a = dt.zeros(1 << 18)", "dt.ipc.open(dt.ipc.share(a, copy=True))"),
    "trim_memory": ("", "dt.trim_memory('cpu')"),
}

# Python code that Dovetail calls: the interpreter takes the GIL back inside it.
CALLS_OF_PYTHON = {
    "a producer's methods": (
        """
        class Producer:
            a = dt.zeros(4)
            def __dlpack_device__(self):
                sum(range(10000))
                return (1, 0)
            def __dlpack__(self, **keywords):
                sum(range(100000))
                return self.a.__dlpack__(**keywords)
        x = Producer()
        """,
        "dt.from_dlpack(x)",
    ),
    "an owner's destructor": (
        """
        class Owner(bytearray):
            def __del__(self):
                sum(range(100000))
        """,
        "dt.frombuffer(Owner(8), dtype=dt.uint8)",
    ),
    "a number's conversion": (
        """
        class Number:
            def __float__(self):
                sum(range(100000))
                return 1.0
        a, x = dt.zeros(4), Number()
        """,
        "a[:] = x",
    ),
    "a converter": (
        """
        class Mine:
            def __init__(self, tensor):
                sum(range(100000))
        dt.register_converter(Mine, Mine)
        a = dt.zeros(4)
        """,
        "dt.convert(a, Mine)",
    ),
}


@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.parametrize("call", [*LONG_CALLS, *CALLS_OF_PYTHON])
def test_a_process_ends_while_daemon_threads_are_in(call, attempt):
    ends_with(*{**LONG_CALLS, **CALLS_OF_PYTHON}[call])
