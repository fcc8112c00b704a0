"""What has to be refused, and that a refusal neither leaks nor frees twice."""

from ..checks import check
from ..lending import lend, memory, must_refuse, taking
from ..script import NotApplicableError

_TYPES = {
    "code 99": {"code": 99},
    "int of 24 bits": {"code": 0, "bits": 24},
    "float of 8 bits": {"code": 2, "bits": 8},
    "bool of 1 bit": {"code": 6, "bits": 1},
    "no lanes": {"lanes": 0},
}
_IMPOSSIBLE = {
    "ndim −1": {"ndim": -1},
    "size −1": {"shape": (-1, 4)},
    "size 2^62 × 4": {"shape": (1 << 62, 4)},
}
_REFUSED = {
    "major version 2": {"version": (2, 0)},
    "type code 99": {"code": 99},
    "device 16": {"device": (16, 0)},
}


def _must_know(s, what):
    if what in s.adapter.passes_on:
        raise NotApplicableError(f"the library passes unknown {what} on")


@check("consumer.major", ["2.0", "2.0 with other fields"])
def major(s, version):
    memory(s)
    other = {"ndim": 1 << 30, "data": 16, "code": 99} if "fields" in version else {}
    lend(s, version=(2, 0), **other)
    must_refuse(s, f"a struct of version {version}")


@check("consumer.unknown-type", _TYPES)
def unknown_type(s, name):
    _must_know(s, "types")
    memory(s)
    lend(s, **_TYPES[name])
    must_refuse(s, f"a type ({name})")


@check("consumer.unknown-flags", [3, 20, 63], devices=["cpu"])
def unknown_flags(s, bit):
    memory(s)
    lend(s, version=(1, 3), flags=1 << bit)
    must_refuse(s, f"a struct whose flag {1 << bit:#x} nobody knows")


@check("consumer.null-data")
def null_data(s):
    memory(s)
    lend(s, start="0")
    must_refuse(s, "a tensor of 12 elements without data")


@check("consumer.impossible", _IMPOSSIBLE)
def impossible(s, name):
    memory(s)
    lend(s, **_IMPOSSIBLE[name])
    must_refuse(s, f"a tensor of {name}")


@check("consumer.other-device")
def other_device(s):
    _must_know(s, "devices")
    memory(s)
    lend(s, device=(16, 0))
    must_refuse(s, "a tensor on device (16, 0)")


@check("consumer.refuses-cleanly", _REFUSED)
def refuses_cleanly(s, name):
    memory(s)
    lend(s, destructor=True, **_REFUSED[name])
    s.run("y = None")
    s.run(f"try: {taking(s)}\nexcept Exception: pass")
    if s["y"] is not None:
        raise NotApplicableError("it is not refused")
    s.run(
        "gc.collect(); left = 'used_' not in repr(capsule) and ctypes.PYFUNCTYPE(ctypes.c_void_p, "
        'ctypes.py_object)(("PyCapsule_GetDestructor", ctypes.pythonapi))(capsule) is not None'
    )
    s.expect(
        "len(deleted) + left == 1",
        "the tensor is left to its capsule: {left}; calls of the deleter: {len(deleted)}",
    )
