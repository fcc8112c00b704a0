"""Lines of scripts that lend a tensor made by hand to a library, and look at what it makes."""

import contextlib
import ctypes

from .cases import nested
from .exports import need
from .script import KeptRuleError, NotApplicableError, describe
from .structs import DLManagedTensor, DLManagedTensorVersioned, dump, fields_of, format_of

# What lend() takes for each kind of capsule; before version 1.2, strides may be NULL.
VERSIONS = {"versioned": (1, 3), "legacy": "legacy"}
BEFORE_STRIDES = {"versioned": (1, 0), "legacy": "legacy"}
# An expression: the function of (address, name, destructor).
NEW_CAPSULE = (
    "ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)"
    '(("PyCapsule_New", ctypes.pythonapi))'
)
_CAPSULE = "capsule = " + NEW_CAPSULE + "(managed, name, {destructor})"
# A destructor that does nothing: PyCapsule_GetName can be called with a capsule that dies.
_IDLE = "ctypes.cast(ctypes.pythonapi.PyCapsule_GetName, ctypes.c_void_p)"
_PRODUCER = (
    'x = type("Producer", (), {{"__dlpack__": lambda self, {arguments}: capsule, '
    '"__dlpack_device__": lambda self: {device}}})()'
)
_DELETER = "deleted = []; deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)({function})"


def _int64s(numbers):
    return f"(ctypes.c_int64 * {len(numbers)})({', '.join(map(str, numbers))})"


def asks_versioned(s):
    """Whether the library calls __dlpack__() with max_version (1, 0) or later."""
    calls = []

    class Probe:
        def __dlpack__(self, **keywords):
            calls.append(keywords)
            raise BufferError("a probe")

        def __dlpack_device__(self):
            return s.adapter.dlpack_device

    s.namespace["probe"] = Probe()
    with contextlib.suppress(Exception):
        s.execute(s.adapter.take.format(x="probe"))
    return bool(calls and (calls[0].get("max_version") or (0, 0)) >= (1, 0))


def memory(s, elements="range(12)", ctype="c_float", count=12):
    """data = elements in memory of its own: a ctypes array at a multiple of 4096 on the CPU, and an
    address on a device."""
    s.run(s.memory.allocate(ctype, count, elements))


def raw_memory(s, encoded, at=0):
    """data = these bytes, `at` bytes behind others."""
    memory(s, repr(b"\x7f" * at + encoded), "c_char", at + len(encoded))


def lend_view(s, layout, dtype, *, offset=None, **more):
    """x = a producer of a tensor of this layout and type. Returns its elements as nested lists.

    offset    bytes before the elements, which byte_offset counts; None: byte_offset is 0
    """
    dtype = dtype.lent
    raw_memory(s, dtype.encoded(), offset or 0)
    at = (offset or 0) + layout.offset * dtype.size
    where = {"at": at} if offset is None else {"byte_offset": at}
    strides = more.pop("strides", layout.strides)
    lend(s, layout.shape, strides, code=dtype.code, bits=dtype.bits, **where, **more)
    return nested(layout.shape, dtype.numbers(layout.places))


# A producer that makes a copy where it is asked for one.
_COPYING = """\
second = {copy}
def export(self, copy=None, **_):
    if copy:
        ctypes.c_uint64.from_buffer(managed, {data_at}).value += {second} - {first}
        {flag}
    return capsule
type(x).__dlpack__ = export"""


def serve_copies(s):
    """Let the producer x copy for copy=True."""
    kind = DLManagedTensor if s["name"] == b"dltensor" else DLManagedTensorVersioned
    flag = "pass"
    if kind is DLManagedTensorVersioned:
        flag = f"ctypes.c_uint64.from_buffer(managed, {kind.flags.offset}).value |= 2"
    s.run(
        _COPYING.format(
            copy=s.memory.copied,
            second=s.memory.start.replace("data", "second"),
            first=s.memory.start,
            data_at=kind.dl_tensor.offset,
            flag=flag,
        )
    )


def lend(
    s,
    shape=(3, 4),
    strides=(4, 1),  # None: NULL
    *,
    version=None,  # (major, minor), "legacy", or None: what the library asks for
    at=0,  # bytes from the start of `data` to where the struct's data points
    start=None,  # an address; default: that of `data`
    function="deleted.append",  # the deleter; None: NULL
    arguments="**_",  # of __dlpack__
    device=None,  # default: that of `data`
    null_shape=False,
    destructor=False,  # whether the capsule has one
    capsule=True,  # False: only make the struct, a versioned one
    **fields,
):
    """x = a producer of a tensor with these fields in `data`; further ones by their names."""
    if not capsule:
        version = version or (1, 3)
    elif version != "legacy":
        if asks_versioned(s):
            version = version or (1, 3)
        elif version:
            raise NotApplicableError("the library never asks for a versioned capsule")
        else:
            version = "legacy"
    start, device = start or s.memory.start, device or s.adapter.dlpack_device
    kind = DLManagedTensor if version == "legacy" else DLManagedTensorVersioned
    s.run(
        f"shape = {_int64s(shape)}; strides = "
        + ("None" if strides is None else _int64s(strides))
        + (f"; {_DELETER.format(function=function)}" if function else "; deleted = []")
    )
    values = {
        **dict.fromkeys(("flags", "byte_offset"), 0),
        "manager_ctx": 1,
        "data": f"{start} + {at}" if at else start,
        "device_type": device[0],
        "device_id": device[1],
        "ndim": len(shape),
        "code": 2,
        "bits": 32,
        "lanes": 1,
        "shape": 0 if null_shape else "ctypes.addressof(shape)",
        "strides": 0 if strides is None else "ctypes.addressof(strides)",
        "deleter": "ctypes.cast(deleter, ctypes.c_void_p).value" if function else 0,
        **fields,
    }
    if version != "legacy":
        values["major"], values["minor"] = version
    packed = ", ".join(str(values[field]) for field, _ in fields_of(kind))
    s.run(
        f'managed = ctypes.create_string_buffer(struct.pack("{format_of(kind)}", {packed})); '
        f'name = b"{kind.name}"'
    )
    s.show(dump(kind, s["managed"].raw[: ctypes.sizeof(kind)]))
    if not capsule:
        return
    s.run(_CAPSULE.format(destructor=_IDLE if destructor else None))
    s.run(_PRODUCER.format(arguments=arguments, device=device))


def taking(s, keywords=""):
    """The line that takes x in."""
    if keywords:
        take = need(s.adapter.take_with(keywords), "the library's function takes capsules alone")
        return f"y = {take}"
    return f"y = {s.adapter.take.format(x='x')}"


def take(s, keywords=""):
    """y = from_dlpack(x). Where that is refused, the rule says nothing."""
    error = s.tried(taking(s, keywords))
    if error:
        raise NotApplicableError(f"it is refused: {describe(error)}")


def take_or_refuse(s, keywords=""):
    """y = from_dlpack(x). A library that refuses it keeps the rule."""
    error = s.tried(taking(s, keywords))
    if error:
        raise KeptRuleError(f"it is refused: {describe(error)}")


def must_take(s):
    """y = from_dlpack(x), which the rule requires to succeed."""
    error = s.tried(taking(s))
    if error:
        s.raised(taking(s), f"it is refused: {describe(error)}")


def must_refuse(s, what):
    """from_dlpack(x), which the rule requires to fail."""
    if s.tried(taking(s)) is None:
        s.broken(f"{what} is taken in")


def values(s, y="y"):
    return need(s.adapter.values, "the library shows no elements").format(y=y)


def expect_values(s, expected, y="y"):
    """y has these elements. A library that can't show them has refused the tensor late."""
    error = s.tried(f"values = {values(s, y)}")
    if error:
        raise KeptRuleError(f"its elements can't be read: {describe(error)}")
    _compare(s, expected)


def _compare(s, expected):
    shown = "str" if "True" in str(expected) else ""  # 1 == True
    s.expect(f"{shown}(values) == {shown}({expected})", "its elements are {values}")


def must_have_values(s, expected):
    """The same, where the tensor may not be refused."""
    s.run(f"values = {values(s)}")
    _compare(s, expected)
