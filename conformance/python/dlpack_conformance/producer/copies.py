"""The arguments copy= and dl_device= of __dlpack__()."""

from ..checks import check
from ..exports import LEGACY, VERSIONED, address_in, export, make, read, read_versioned
from ..script import NotApplicableError, describe


@check("producer.copied-flag")
def copied_flag(s):
    make(s)
    export(s, VERSIONED)
    shared = address_in(s["capsule"])
    s.lines.pop()
    export(s, f"{VERSIONED}, copy=True")
    if address_in(s["capsule"]) == shared:
        raise NotApplicableError("copy=True does not copy")
    read_versioned(s)
    s.expect("flags & 2", "the flags of a copy are {flags:#x}")


@check("producer.copy-true", [VERSIONED, LEGACY])
def copy_true(s, request):
    make(s)
    arguments = ", ".join(filter(None, [request, "copy=True"]))
    error = s.tried(f"capsule = x.__dlpack__({arguments})")
    if error:
        if isinstance(error, TypeError):
            raise NotApplicableError(f"no keyword copy: {describe(error)}")
        if request == LEGACY and isinstance(error, BufferError):
            raise NotApplicableError("a legacy capsule can't say that it is a copy")
        s.raised(f"x.__dlpack__({arguments})", f"copy=True raises {describe(error)}")
    _compare_addresses(s, request, "!=", "copy=True shares the memory")


@check("producer.copy-false", [VERSIONED, LEGACY])
def copy_false(s, request):
    make(s)
    arguments = ", ".join(filter(None, [request, "copy=False"]))
    error = s.tried(f"capsule = x.__dlpack__({arguments})")
    if isinstance(error, TypeError):
        raise NotApplicableError(f"no keyword copy: {describe(error)}")
    if error:
        if not isinstance(error, BufferError):
            s.raised(f"x.__dlpack__({arguments})", f"copy=False raises {describe(error)}")
        return
    _compare_addresses(s, request, "==", "copy=False copies")


def _compare_addresses(s, request, comparison, seen):
    """Compare the address in `capsule` with that of an export without copy=."""
    read(s)
    s.run("address = data + byte_offset")
    s.run(f"plain = x.__dlpack__({request})")
    read(s, "plain")
    s.expect(f"address {comparison} data + byte_offset", seen + ", at {address:#x}")


@check("producer.dl-device")
def dl_device(s):
    make(s)
    device_type, _ = s.evaluate("x.__dlpack_device__()")
    if s.adapter.device == "cpu" and device_type != 1:
        raise NotApplicableError("the array is not on the CPU")
    line = f"x.__dlpack__(dl_device={s.adapter.dlpack_device})"
    error = s.tried(line)
    if isinstance(error, TypeError):
        raise NotApplicableError(f"no keyword dl_device: {describe(error)}")
    if error:
        s.raised(line, f"dl_device={s.adapter.dlpack_device} raises {describe(error)}")


@check("producer.other-device")
def other_device(s):
    make(s)
    line = "x.__dlpack__(dl_device=(16, 0))"  # Hexagon
    error = s.tried(line)
    if isinstance(error, TypeError):
        raise NotApplicableError(f"no keyword dl_device: {describe(error)}")
    if error is None:
        s.broken("dl_device=(16, 0) is ignored")
    if not isinstance(error, BufferError):
        s.raised(line, f"dl_device=(16, 0) raises {describe(error)}")
