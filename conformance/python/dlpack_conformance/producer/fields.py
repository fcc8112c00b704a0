"""The fields of the struct: device, flags, element type, and what has to be refused."""

from ..cases import DTYPES
from ..checks import check
from ..doors import CAPSULES, arguments_of, export_by
from ..exports import (
    LEGACY,
    VERSIONED,
    export,
    export_any,
    layouts_of,
    made,
    make,
    make_view,
    name_of,
    need,
    pointer_in,
    read,
    read_versioned,
)
from ..script import NotApplicableError, describe
from ..structs import KINDS, DLManagedTensor, DLManagedTensorVersioned


@check("producer.device")
def device(s):
    make(s)
    export_any(s)
    read(s)
    s.expect(
        "tuple(x.__dlpack_device__()) == (device_type, device_id)",
        "the capsule says device {(device_type, device_id)}, __dlpack_device__() "
        "{x.__dlpack_device__()}",
    )


@check("producer.device-id")
def device_id(s):
    make(s)
    export_any(s)
    read(s)
    if s["device_type"] != 1:
        raise NotApplicableError("the array is not on the CPU")
    s.expect("device_id == 0", "the device id is {device_id}")


@check("producer.flags")
def flags(s):
    make(s)
    export(s)
    read_versioned(s)
    if s.adapter.write:
        s.expect("flags & ~2 == 0", "the flags of an array that can be written are {flags:#x}")
    else:
        s.expect("flags & ~3 == 0", "the flags are {flags:#x}")


@check("producer.cpu-alignment", devices=["cpu"])
def alignment(s):
    make(s)
    export_any(s)
    kind = KINDS[name_of(s["capsule"])]
    request = VERSIONED if kind is DLManagedTensorVersioned else LEGACY
    s.run(f"arrays = [{s.adapter.array_of([0, 1, 2, 3])} for _ in range(16)]")
    s.run(f"capsules = [x.__dlpack__({request}) for x in arrays]")
    s.run(f"structs = [{pointer_in('capsule', kind)} for capsule in capsules]")
    at = kind.dl_tensor.offset
    s.run(f"data = [ctypes.c_void_p.from_address(struct_ + {at}).value for struct_ in structs]")
    s.expect("not any(d % 256 for d in data)", "data of 16 arrays are {[*map(hex, data)]}")


def make_read_only(s):
    need(s.adapter.read_only, "the library has no read-only arrays")
    make(s)
    if s.adapter.read_only != "{x}":
        made(s, s.adapter.read_only.format(x="x"))


def _read_only_cases(adapter, seed):
    return [*layouts_of(adapter), *filter(None, [adapter.read_only_request])]


@check("producer.read-only", _read_only_cases)
def read_only(s, case):
    if case == s.adapter.read_only_request:
        make(s)
    else:
        make_read_only(s)
        if case != "plain":
            export(s)
            read(s)
            s.run("base, start = capsule, data + byte_offset")
            made(s, s.adapter.views[case].format(x="x"))
        view, case = case, ""
    error = s.tried(f"capsule = x.__dlpack__({arguments_of('versioned', case)})")
    if error:
        raise NotApplicableError(f"the export fails: {describe(error)}")
    read_versioned(s)
    if "base" in s.namespace and not s.evaluate("0 <= data + byte_offset - start < 48"):
        raise NotApplicableError(f"{view}: a copy")
    s.expect("flags & 1 or flags & 2", "the flags of a read-only array are {flags:#x}")


@check("producer.read-only-legacy")
def read_only_legacy(s):
    make_read_only(s)
    error = s.tried("capsule = x.__dlpack__()")
    if error is None:
        if name_of(s["capsule"]) != DLManagedTensor.name:
            raise NotApplicableError("there is no legacy capsule")
        s.broken("a read-only array is exported in a legacy capsule")


def _type_cases(adapter, seed):
    return [f"{name}, {door}" for name in adapter.types for door in CAPSULES]


@check("producer.type", _type_cases)
def type_(s, case):
    name, door = case.split(", ")
    dtype = DTYPES[name]
    _, places = make_view(s, "plain", dtype)
    export_by(s, door)
    s.expect(
        f"(code, bits, lanes) == {(dtype.code, dtype.bits, 1)}",
        name + " has (code, bits, lanes) = {code, bits, lanes}",
    )
    expected = dtype.encoded(places)
    s.run(f"elements = {s.memory.bytes(len(expected), 'data + byte_offset')}")
    s.expect(f"elements == {expected}", f"0 … 11 in {name} are {{elements}}")


def _expect_buffer_error(s, expression, what):
    made(s, expression)
    error = s.tried(f"capsule = x.__dlpack__({VERSIONED})")
    if isinstance(error, TypeError):
        error = s.tried("capsule = x.__dlpack__()")
    if error is None:
        s.broken(f"{what} is exported")
    return error


@check("producer.byte-order")
def byte_order(s):
    need(s.adapter.other_byte_order, "the library has one byte order")
    _expect_buffer_error(s, s.adapter.other_byte_order, "an array of the other byte order")


@check("producer.unsupported", lambda adapter, seed: adapter.unsupported)
def unsupported(s, name):
    error = _expect_buffer_error(s, s.adapter.unsupported[name], f"an array of the kind {name!r}")
    if not isinstance(error, BufferError):
        s.raised(
            f"x.__dlpack__({VERSIONED})", f"an array of the kind {name!r} raises {describe(error)}"
        )
