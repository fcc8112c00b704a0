"""A process that ends while daemon threads are inside of a call.

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
    """Asserts that it ends with 0 while four threads do `call` for ever. `prepare` runs once."""
    code = _SCENE.format(prepare=textwrap.dedent(prepare), call=call)
    assert run_python(code) == "ends\n"
