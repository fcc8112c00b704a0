"""Which stream a consumer names, and that its work comes after the producer's."""

from ..checks import check
from ..exports import need
from ..lending import lend, memory, take, taking, values
from ..script import NotApplicableError

_STREAMS = ["default stream", "stream of its own"]

# A producer that keeps the rules: the given stream waits for the work on `pending`.
_ORDER = """\
def order(stream=None, **_):
    if stream == -1: return capsule
    event = ctypes.c_void_p()
    call("cuEventCreate", ctypes.byref(event), 2)
    call("cuEventRecord", event, pending)
    call("cuStreamWaitEvent", stream or 1, event, 0)
    return capsule"""

_SEVENS = [[7.0] * 4] * 3


def _block(s, stream, *lines):
    """Lines that the library runs on a stream."""
    if stream == _STREAMS[0]:
        return "\n".join(lines)
    on_stream = need(s.adapter.on_stream, "the library's streams can't be chosen")
    return "\n    ".join([f"with {on_stream.format(stream='own')}:", *lines])


@check("consumer.stream", _STREAMS, ["cuda"])
def stream(s, name):
    if "__dlpack__" in s.adapter.take:
        raise NotApplicableError("the library takes capsules alone")
    s.run("own = new_stream()")
    s.run("asked = []")
    s.run(
        'x = type("Producer", (), {"__dlpack__": lambda self, **given: asked.append(given), '
        '"__dlpack_device__": lambda self: (2, 0)})()'
    )
    s.run(_block(s, name, f"try: {taking(s)}", "except Exception: pass"))
    s.expect("asked", "__dlpack__() is not called with keywords")
    s.run("stream = asked[0].get('stream')")
    s.expect(
        "stream is None or isinstance(stream, int) and stream >= -1 and stream != 0",
        "__dlpack__() is called with stream={stream!r}",
    )


def _take_pending(s, name):
    """Take a tensor in whose elements are written by work that is held up; `waited` tells whether
    the import waited until the watchdog let that go on."""
    work = need(s.adapter.work, "nothing is known that the library computes").format(y="y")
    memory(s)
    lend(s, arguments="**request")
    take(s)
    s.run("own, pending = new_stream(), new_stream()")
    s.run(_ORDER)
    s.run("type(x).__dlpack__ = lambda self, **request: order(**request)")
    # As in producer/streams.py, what is done for the first time is done before the gate is closed.
    s.run("y = None; first = managed, deleter, shape, strides")
    for held in (False, True):
        lend(s, arguments="**request")
        s.run("type(x).__dlpack__ = lambda self, **request: order(**request)")
        if held:
            s.run("hold(pending)")
            s.run('call("cuMemsetD32Async", data, 0x40E00000, 12, pending)  # 7.0')
        s.run(_block(s, name, taking(s), "waited = gate[8]", f"z = {work}"))
        if not held:
            s.run(_block(s, name, f"values = {values(s, 'z')}"))
            s.run("y = z = None; second = managed, deleter, shape, strides")


@check("consumer.stream-order", _STREAMS, ["cuda"])
def order(s, name):
    _take_pending(s, name)
    s.run(f"settle({1 if name == _STREAMS[0] else 'own'}); time.sleep(0.3); open_gate()")
    s.run(_block(s, name, f"values = {values(s, 'z')}"))
    s.expect(f"values == {_SEVENS}", "what the library computes has {values}, written was 7")


@check("consumer.no-host-wait", _STREAMS, ["cuda"])
def no_host_wait(s, name):
    _take_pending(s, name)
    s.run("open_gate()")
    s.expect("not waited", "the import waits on the host")
