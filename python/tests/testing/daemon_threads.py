"""Ends a process while daemon threads are inside a call.

ends_with("a = dt.zeros(1 << 18)", "a.copy()")
"""

import textwrap

from process import run_python

_SCENE = """
import threading
import dovetail as dt
import dovetail.ipc
{prepare}
running = threading.Semaphore(0)
def work():
    {call}
    running.release()
    while True:
        {call}
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
for _ in range(4):
    running.acquire()
{call}
print("ends")
"""


def ends_with(prepare, call):
    """Assert that a process exits with 0 while four threads repeat `call`. `prepare` runs once."""
    code = _SCENE.format(prepare=textwrap.dedent(prepare), call=call)
    assert run_python(code) == "ends\n"
