"""The argument stream= of __dlpack__(), and in which order streams work."""

from ..checks import check
from ..exports import VERSIONED, export_any, make, need, read
from ..script import NotApplicableError, describe

_SEVENS = [7.0] * 12

# The first iteration, in which nothing is held up, loads kernels and fills the library's pools of
# memory; that may wait for the device. It leaves ones in the memory that the sevens come to.
_PENDING = """\
for number in (1, 7):
    x = capsule = None
    with {on_stream}:
        base = {array}
        call("cuCtxSynchronize")
        if number == 7: hold(own, {seconds})
        x = {work}
        early = gate[8]
        {export}
        waited = gate[8]"""


def pending(s, export, seconds=3):
    """Run `export` for an array x whose work on the stream `own` is held up; `waited` tells whether
    the export waited until the watchdog let it go on."""
    on_stream = need(s.adapter.on_stream, "the library's streams can't be chosen")
    block = _PENDING.format(
        on_stream=on_stream.format(stream="own"),
        array=s.adapter.array_of("[number] * 12"),
        seconds=seconds,
        work=need(s.adapter.work, "nothing is known that the library computes").format(y="base"),
        export=export,
    )
    s.run("own, theirs = new_stream(), new_stream()")
    error = s.tried(block)
    if error:
        raise NotApplicableError(f"{export} fails: {describe(error)}")
    if s["early"]:
        raise NotApplicableError("a computation waits on the host")


def _pending(s, arguments, seconds=3):
    pending(s, f"capsule = x.__dlpack__({arguments})", seconds)


# Maps the name of a stream to the argument and to the stream that it means.
_STREAMS = {
    "None": ("stream=None", "1"),
    "1": ("stream=1", "1"),
    "2": ("stream=2", "2"),
    "a handle": ("stream=theirs", "theirs"),
    "-1": ("stream=-1", "1"),
}


@check("producer.stream-values", _STREAMS, ["cuda"])
def values(s, name):
    argument, _ = _STREAMS[name]
    make(s)
    if "theirs" in argument:
        s.run("theirs = new_stream()")
    line = f"x.__dlpack__({argument})"
    error = s.tried(line)
    if error:
        s.raised(line, f"stream={name} raises {describe(error)}")


@check("producer.stream-zero", devices=["cuda"])
def zero(s):
    make(s)
    if s.tried("x.__dlpack__(stream=0)") is None:
        s.broken("stream=0 is taken")


@check("producer.stream-order", [name for name in _STREAMS if name != "-1"], ["cuda"])
def order(s, name):
    argument, stream = _STREAMS[name]
    _pending(s, f"{VERSIONED}, {argument}")
    read(s)
    s.run(
        'call("cuMemcpyDtoHAsync_v2", host_gate + 64, data + byte_offset, 48, '
        f"{stream}); settle({stream}); open_gate()"
    )
    s.run("values = list(struct.unpack('12f', gate[64:112]))")
    s.expect(f"values == {_SEVENS}", "the given stream reads {values}, computed was 7")


@check("producer.stream-none", devices=["cuda"])
def none(s):
    _pending(s, f"{VERSIONED}, stream=-1")
    s.run("free = settle(1); open_gate()")
    s.expect("free", "the legacy default stream waits")


@check("producer.no-host-wait", _STREAMS, ["cuda"])
def no_host_wait(s, name):
    _pending(s, f"{VERSIONED}, {_STREAMS[name][0]}")
    s.run("open_gate()")
    s.expect("not waited", "the export waits on the host")


@check("producer.to-host", devices=["cuda"])
def to_host(s):
    _pending(s, f"{VERSIONED}, dl_device=(1, 0)", seconds=1)
    read(s)
    s.expect("device_type == 1", "the capsule says device type {device_type}")
    s.run("values = (ctypes.c_float * 12).from_address(data + byte_offset)[:]")
    s.run("open_gate()")
    s.expect(f"values == {_SEVENS}", "the host reads {values}, computed was 7")


@check("producer.cuda-type", devices=["cuda"])
def cuda_type(s):
    make(s)
    export_any(s)
    read(s)
    s.expect("device_type == 2", "the capsule says device type {device_type}")


@check("producer.alignment", devices=["cuda"])
def alignment(s):
    make(s)
    export_any(s)
    read(s)
    s.expect("data % 256 == 0", "data is {data:#x}, byte_offset {byte_offset}")
