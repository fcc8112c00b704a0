"""The current work stream, and that no function synchronises."""

from ..checks import check
from ..doors import CALLS
from ..exports import make, need
from ..producer.streams import pending
from ..script import KeptRuleError, describe
from ..tables import function


@check("exchange.cpu-stream")
def cpu_stream(s):
    make(s)
    function(s, "current_stream")
    s.run("mark = 0x5EED; out = ctypes.c_void_p(mark)")
    line = "status = current_stream(1, 0, ctypes.byref(out))"
    error = s.tried(line)
    if error:
        raise KeptRuleError(f"it has no stream for the CPU: {describe(error)}")
    s.expect("status == 0", "the status is {status}, without an exception")
    s.expect("out.value != mark", "it returns success and writes nothing to out_current_stream")
    s.expect("not out.value", "the stream is {out.value:#x}")


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
    pending(s, CALLS["managed"])
    s.run("free = settle(1); open_gate()")
    s.expect("not waited", "the export waits on the host")
    s.expect("free", "the legacy default stream waits")
