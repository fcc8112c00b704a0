"""The fields of the struct: device, flags, element type, and what has to be refused."""

from ..checks import check
from ..dtypes import DTYPES
from ..exports import (
    LEGACY,
    VERSIONED,
    export,
    export_any,
    made,
    make,
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
    if s["flags"] in (1, 2, 3):
        raise NotApplicableError(f"arrays are read-only or copied: flags {s['flags']}")
    s.expect("flags == 0", "the flags are {flags:#x}")


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


def _read_only(s):
    need(s.adapter.read_only, "the library has no read-only arrays")
    make(s)
    if s.adapter.read_only != "{x}":
        made(s, s.adapter.read_only.format(x="x"))


@check("producer.read-only")
def read_only(s):
    _read_only(s)
    error = s.tried(f"capsule = x.__dlpack__({VERSIONED})")
    if error:
        if not isinstance(error, BufferError):
            raise NotApplicableError(f"the export fails: {describe(error)}")
        return
    read_versioned(s)
    s.expect("flags & 1 or flags & 2", "the flags of a read-only array are {flags:#x}")


@check("producer.read-only-legacy")
def read_only_legacy(s):
    _read_only(s)
    error = s.tried("capsule = x.__dlpack__()")
    if error is None:
        if name_of(s["capsule"]) != DLManagedTensor.name:
            raise NotApplicableError("there is no legacy capsule")
        s.broken("a read-only array is exported in a legacy capsule")


def _dtypes(adapter):
    return adapter.dtypes.split()


@check("producer.type", _dtypes)
def type_(s, name):
    dtype = DTYPES[name]
    made(s, s.adapter.array_of([True, True] if name == "bool" else [1, 2], name))
    export_any(s)
    read(s)
    s.expect(
        f"(code, bits, lanes) == {tuple(dtype[:3])}",
        name + " has (code, bits, lanes) = {code, bits, lanes}",
    )
    s.run(f"elements = {s.memory.bytes(len(dtype.one_and_two), 'data + byte_offset')}")
    s.expect(f"elements == {dtype.one_and_two}", f"1 and 2 in {name} are {{elements}}")


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


@check("producer.unsupported", lambda adapter: adapter.unsupported)
def unsupported(s, name):
    error = _expect_buffer_error(s, s.adapter.unsupported[name], f"an array of the kind {name!r}")
    if not isinstance(error, BufferError):
        s.raised(
            f"x.__dlpack__({VERSIONED})", f"an array of the kind {name!r} raises {describe(error)}"
        )
