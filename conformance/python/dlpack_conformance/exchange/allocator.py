"""The function that makes a tensor like a prototype."""

from ..checks import check
from ..exports import fill_strides, make
from ..producer.lifetimes import data_of, expect_reuse
from ..structs import DLManagedTensorVersioned, DLTensor, fields_of, format_of
from ..tables import DELETE, function, read_managed

_CALL = (
    "status = allocate(ctypes.addressof(prototype), ctypes.byref(out), 7, "
    "ctypes.cast(set_error, ctypes.c_void_p))"
)
_ERROR = (
    "errors = []; set_error = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, "
    "ctypes.c_char_p)(lambda context, kind, text: errors.append((context, kind, text)))"
)


def _prepare(s, shape=(3, 4), **fields):
    """A prototype, and the allocator."""
    make(s)
    function(s, "allocate")
    s.run(_ERROR)
    device_type, device_id = s.adapter.dlpack_device
    values = {
        **dict.fromkeys(("data", "strides", "byte_offset"), 0),
        "device_type": device_type,
        "device_id": device_id,
        "ndim": len(shape),
        "code": 2,
        "bits": 32,
        "lanes": 1,
        "shape": "ctypes.addressof(sizes)",
        **fields,
    }
    packed = ", ".join(str(values[name]) for name, _ in fields_of(DLTensor))
    s.run(f"sizes = (ctypes.c_int64 * {len(shape)})({', '.join(map(str, shape))})")
    s.run(
        f'prototype = ctypes.create_string_buffer(struct.pack("{format_of(DLTensor)}", {packed}))'
    )


def _allocate(s):
    s.run(_CALL)
    s.expect("status == 0", "the status is {status}, and SetError got {errors}")
    s.run("managed = out.value")
    read_managed(s)
    fill_strides(s)


@check("exchange.allocator")
def allocator(s):
    _prepare(s)
    _allocate(s)
    s.expect("major == 1", "the struct says version {major}.{minor}")
    s.expect(
        "(shape, strides, code, bits, lanes) == ([3, 4], [4, 1], 2, 32, 1)",
        "shape {shape}, strides {strides}, (code, bits, lanes) {code, bits, lanes}",
    )
    s.expect(
        f"(device_type, device_id) == {s.adapter.dlpack_device}",
        "it is on device {device_type, device_id}",
    )
    s.expect("data", "data is NULL")
    s.run("first = data + byte_offset")
    _allocate(s)
    s.expect("data + byte_offset != first", "two tensors are at {first:#x}")


@check("exchange.allocator-deleter")
def frees(s):
    _prepare(s, (512, 512))
    kind = DLManagedTensorVersioned
    s.run(DELETE.format(call="ctypes.CFUNCTYPE", offset=kind.deleter.offset))
    body = (
        f"{_CALL}\nmanaged = out.value\naddresses.add({data_of('managed', kind)})\ndelete(managed)"
    )
    expect_reuse(s, body, "the deleter frees nothing")


_IMPOSSIBLE = {"type code 99": {"code": 99}, "device 99": {"device_type": 99}}


@check("exchange.allocator-error", _IMPOSSIBLE)
def error(s, name):
    _prepare(s, **_IMPOSSIBLE[name])
    s.run(_CALL)
    s.expect("status != 0", f"a tensor of {name} is made")
    s.expect("len(errors) == 1", "SetError is called {len(errors)} times")
    s.expect("errors[0][0] == 7 and errors[0][1] and errors[0][2]", "SetError got {errors[0]}")
