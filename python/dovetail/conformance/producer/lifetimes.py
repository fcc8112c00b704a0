"""Who frees the memory of the CPU, when, and how often. device_lifetimes.py is for other devices.

That memory is freed is seen by the most that the process ever had: a leak of 24 times 8 MiB shows.
That it is freed too early or twice is seen by other values, or by a crash.
"""

from ..checks import check
from ..exports import (
    LEGACY,
    VERSIONED,
    consume,
    elements,
    export_any,
    make,
    name_of,
    pointer_in,
    read,
)
from ..script import NotApplicableError, describe
from ..structs import DLManagedTensorVersioned

_SIZE = 1 << 21  # elements of 8 MiB

_LEAK = """\
for i in range(32):
    {body}
    if i == 7: before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit >> 20"""
_UNIT = "unit = 1 if __import__('sys').platform == 'darwin' else 1024"


def _large(s):
    """An array of 8 MiB. Its size makes the system unmap it as soon as it is freed."""
    return s.adapter.ones_of(_SIZE)


def _expect_no_leak(s, body, seen):
    s.run(_UNIT)
    s.run(_LEAK.format(body=body.replace("\n", "\n    ")))
    s.expect("grown < 100", seen + ": 24 arrays of 8 MiB took {grown} MiB")


def request_of(s):
    """The arguments with which the library exports: those of a versioned capsule if it can."""
    make(s)
    export_any(s)
    s.lines.clear()
    return VERSIONED if name_of(s["capsule"]) == DLManagedTensorVersioned.name else LEGACY


@check("producer.unused", devices=["cpu"])
def unused(s):
    request = request_of(s)
    _expect_no_leak(s, f"{_large(s)}.__dlpack__({request})", "an unused capsule frees nothing")


@check("producer.unused", ["legacy"], ["cpu"])
def unused_legacy(s, _):
    make(s)
    error = s.tried("x.__dlpack__()")
    if error:
        raise NotApplicableError(f"there is no legacy capsule: {describe(error)}")
    s.lines.clear()
    _expect_no_leak(s, f"{_large(s)}.__dlpack__()", "an unused capsule frees nothing")


CALLERS = ["with the GIL", "without the GIL", "on another thread"]

TAKE = """\
capsule = {large}.__dlpack__({request})
managed = get(capsule, name)
rename(capsule, used)
delete(managed)
del capsule"""
ON_A_THREAD = (
    "thread = threading.Thread(target=delete, args=(managed,)); thread.start(); thread.join()"
)


def consumer(s, request, call):
    """Functions of a consumer: delete(managed) calls the deleter."""
    make(s)
    s.run(f"capsule = x.__dlpack__({request})")
    kind = read(s)
    s.lines.clear()
    s.run(f'name, used = b"{kind.name}", b"{kind.used_name}"')
    s.run(
        "get, rename = (ctypes.PYFUNCTYPE(result, ctypes.py_object, ctypes.c_char_p)"
        "((name_, ctypes.pythonapi)) for result, name_ in "
        '[(ctypes.c_void_p, "PyCapsule_GetPointer"), (ctypes.c_int, "PyCapsule_SetName")])'
    )
    s.run(
        f"delete = lambda managed: {call}(None, ctypes.c_void_p)"
        f"(ctypes.c_void_p.from_address(managed + {kind.deleter.offset}).value)(managed)"
    )


@check("producer.deleter", CALLERS, ["cpu"])
def deleter(s, where):
    request = request_of(s)
    consumer(s, request, "ctypes.PYFUNCTYPE" if where == "with the GIL" else "ctypes.CFUNCTYPE")
    body = TAKE.format(large=_large(s), request=request)
    if where == "on another thread":
        body = body.replace("delete(managed)", ON_A_THREAD)
    _expect_no_leak(s, body, f"the deleter, called {where}, frees nothing")


@check("producer.used", devices=["cpu"])
def used(s):
    s.run(f"x = {_large(s)}")
    export_any(s)
    read(s)
    consume(s)
    s.run("del x, capsule; gc.collect()")
    s.run(f"other = {s.adapter.array_of(f'[2] * {1 << 12}')}")
    s.run("value = ctypes.c_float.from_address(data + byte_offset).value")
    s.expect("value == 1.0", "the memory of a consumed capsule has {value}, which was 1.0")
    s.run("ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(managed)")


@check("producer.lifetime", ["8 MiB", "16 bytes"], ["cpu"])
def lifetime(s, size):
    count = _SIZE if size == "8 MiB" else 4
    s.run(f"x = {s.adapter.ones_of(count)}")
    export_any(s)
    read(s)
    s.run("del x; gc.collect()")
    s.run(f"others = [{s.adapter.array_of('[2, 2, 2, 2]')} for _ in range(100)]")
    s.run("values = (ctypes.c_float * 4).from_address(data + byte_offset)[:]")
    s.expect("values == [1.0] * 4", "after the array was dropped, its memory has {values}")


@check("producer.repeated")
def repeated(s):
    make(s)
    export_any(s)
    s.run("first = capsule")
    export_any(s)
    kind = read(s)
    s.run(f"again = {pointer_in('first', kind)}")
    s.expect("managed != again", "two capsules share the struct at {managed:#x}")
    s.run("del first; gc.collect()")
    s.run(f"values = {elements(s, 1).replace('shape[0]', '12').replace('strides[0]', '1')}")
    expected = [float(i) for i in range(12)]
    s.expect(f"values == {expected}", "after the other capsule was dropped, there is {values}")
