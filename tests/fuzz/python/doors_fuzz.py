"""What Python objects tell Dovetail of themselves, of any content, under Atheris.

Dicts of __array_interface__ and __cuda_array_interface__, type strings and names of types, the
arguments of pickles, and names of capsules. All are taken or refused with a typed error, and a
tensor that knows its memory's size lies inside it. run.sh runs it.
"""

import contextlib
import ctypes
import sys

import atheris

with atheris.instrument_imports(include=["dovetail"]):
    import dovetail as dt
    from dovetail._pickle import load_memory, load_tensor

TYPED_ERRORS = (TypeError, ValueError, BufferError, OverflowError, MemoryError, AttributeError)
TYPESTRS = ("<f4", "|u1", "|b1", "<i8", "<c16", "<f2", "<V2", ">i4", "|V1", "<f16", "<U1", "|O")
TYPES = ("bool", "int4", "int8", "int64", "float32", "bfloat16", "float6_e2m3fn", "complex64")
NAMES = (b"dltensor", b"dltensor_versioned", b"used_dltensor", b"arrow_array", b"")

_memory = ctypes.create_string_buffer(4096)
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


@atheris.instrument_func
def number(data):
    kind = data.ConsumeIntInRange(0, 7)
    if kind == 0:
        return data.ConsumeInt(9)
    if kind == 1:
        return data.PickValueInList([None, True, 1.5, "2", (), 2**63, -(2**63), 2**64])
    return data.ConsumeIntInRange(-2, 12)


@atheris.instrument_func
def numbers(data):
    if data.ConsumeIntInRange(0, 15) == 0:
        return data.PickValueInList([None, 3, "33", [2, 3], {2: 3}, (2, (3,))])
    return tuple(number(data) for _ in range(data.ConsumeIntInRange(0, 4)))


@atheris.instrument_func
def text(data, known):
    if data.ConsumeBool():
        return data.PickValueInList(list(known))
    return data.ConsumeUnicode(data.ConsumeIntInRange(0, 12))


@atheris.instrument_func
def interface(data, block):
    """A dict, and whether its memory is a buffer whose size is known."""
    known = data.ConsumeBool()
    address = ctypes.addressof(_memory) + data.ConsumeIntInRange(0, 4096)
    given = {
        "version": number(data) if data.ConsumeIntInRange(0, 7) == 0 else 3,
        "typestr": text(data, TYPESTRS),
        "shape": numbers(data),
        "data": block if known else (address, data.ConsumeBool()),
    }
    if data.ConsumeBool():
        given["strides"] = numbers(data)
    if known and data.ConsumeBool():
        given["offset"] = number(data)
    for name in ("mask", "stream", "descr"):
        if data.ConsumeIntInRange(0, 7) == 0:
            given[name] = number(data)
    if data.ConsumeIntInRange(0, 7) == 0:
        given.pop(data.PickValueInList(list(given)))
    return given, known


class Described:
    pass


@atheris.instrument_func
def read(tensor):
    if tensor.size <= 4096:
        tensor.copy()


@atheris.instrument_func
def try_array_interface(data):
    described = Described()
    block = data.ConsumeBytes(64)
    described.__array_interface__, known = interface(data, block)
    tensor = dt.from_array_interface(described)
    if known and "data" in described.__array_interface__:
        read(tensor)


@atheris.instrument_func
def try_cuda_array_interface(data):
    described = Described()
    described.__cuda_array_interface__, _ = interface(data, b"")
    tensor = dt.from_cuda_array_interface(described)
    _ = tensor.__cuda_array_interface__


@atheris.instrument_func
def try_pickle(data):
    block = bytearray(data.ConsumeBytes(64))
    memory = load_memory(block, len(block), "cpu")
    shape = numbers(data)
    strides = data.PickValueInList([None, numbers(data)])
    flags = [data.PickValueInList([True, False, False, None, 1]) for _ in range(3)]
    read(load_tensor(1, memory, number(data), text(data, TYPES), shape, strides, *flags))


@atheris.instrument_func
def try_names(data):
    name = text(data, TYPES)
    read(dt.frombuffer(bytes(64), dtype=name, count=number(data), offset=number(data)))
    dt.Device(data.ConsumeUnicode(12))


@atheris.instrument_func
def try_capsule(data):
    name = data.PickValueInList(list(NAMES)) + data.ConsumeBytes(data.ConsumeIntInRange(0, 4))
    name = name.replace(b"\0", b"")
    if name in NAMES[:2]:
        name += b"_"  # (what such a capsule holds is trusted)
    name_with_end = ctypes.create_string_buffer(name)
    dt.from_dlpack(_new_capsule(ctypes.addressof(_memory), name_with_end, None))


DOORS = (try_array_interface, try_cuda_array_interface, try_pickle, try_names, try_capsule)


@atheris.instrument_func
def try_one_input(raw):
    data = atheris.FuzzedDataProvider(raw)
    with contextlib.suppress(TYPED_ERRORS):
        data.PickValueInList(list(DOORS))(data)


if __name__ == "__main__":
    atheris.Setup(sys.argv, try_one_input)
    atheris.Fuzz()
