"""The current work stream, and that no function synchronises."""

from ..checks import check
from ..exports import make, need
from ..producer.streams import pending
from ..tables import function
from .agreement import MANAGED


@check("exchange.cpu-stream")
def cpu_stream(s):
    make(s)
    function(s, "current_stream")
    s.run("out = ctypes.c_void_p(1); status = current_stream(1, 0, ctypes.byref(out))")
    s.expect("status == 0", "the status is {status}, without an exception")
    s.expect("out.value is None", "the stream of the CPU is {out.value:#x}")


@check("exchange.stream", ["default stream", "stream of its own"], ["cuda"])
def stream(s, name):
    make(s)
    function(s, "current_stream")
    line = "status = current_stream(2, 0, ctypes.byref(out))"
    if name == "default stream":
        s.run(line)
        s.expect("status == 0", "the status is {status}, without an exception")
        s.run("stream = out.value or 0")
        s.expect("stream in (0, 1, 2)", "the default stream is {stream:#x}")
        return
    on_stream = need(s.adapter.on_stream, "the library's streams can't be chosen")
    s.run("own = new_stream()")
    s.run(f"with {on_stream.format(stream='own')}: {line}")
    s.expect("out.value == own", "the stream is {out.value}, which should be {own}")


@check("exchange.no-sync", devices=["cuda"])
def no_sync(s):
    make(s)
    function(s, "managed_from")
    pending(s, MANAGED)
    s.run("free = settle(1); open_gate()")
    s.expect("not waited", "the export waits on the host")
    s.expect("free", "the legacy default stream waits")
