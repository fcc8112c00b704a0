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


def large(s):
    """An array of 8 MiB. Its size makes the system unmap it as soon as it is freed."""
    return s.adapter.ones_of(_SIZE)


def expect_no_leak(s, body, seen):
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
    expect_no_leak(s, f"{large(s)}.__dlpack__({request})", "an unused capsule frees nothing")


@check("producer.unused", ["legacy"], ["cpu"])
def unused_legacy(s, _):
    make(s)
    error = s.tried("x.__dlpack__()")
    if error:
        raise NotApplicableError(f"there is no legacy capsule: {describe(error)}")
    s.lines.clear()
    expect_no_leak(s, f"{large(s)}.__dlpack__()", "an unused capsule frees nothing")


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
    body = TAKE.format(large=large(s), request=request)
    if where == "on another thread":
        body = body.replace("delete(managed)", ON_A_THREAD)
    expect_no_leak(s, body, f"the deleter, called {where}, frees nothing")


@check("producer.used", devices=["cpu"])
def used(s):
    s.run(f"x = {large(s)}")
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
    def export():
        export_any(s)
        read(s)
        s.run("data += byte_offset")

    outlived(s, size, export, "del x")


def outlived(s, size, export, drop):
    """What `export` makes of x keeps the memory, where it sets `data` to, when x was dropped."""
    s.run(f"x = {s.adapter.ones_of(_SIZE if size == '8 MiB' else 4)}")
    export()
    s.run(f"{drop}; gc.collect()")
    s.run(f"others = [{s.adapter.array_of('[2, 2, 2, 2]')} for _ in range(100)]")
    s.run("values = (ctypes.c_float * 4).from_address(data)[:]")
    s.expect("values == [1.0] * 4", "after the array was dropped, its memory has {values}")


@check("producer.exception", devices=["cpu"])
def exception(s):
    request = request_of(s)
    make(s)
    # The capsule is on the interpreter's stack, and is destroyed while the exception looks for its
    # handler.
    s.run("caught = None")
    s.run(
        f"try: [x.__dlpack__({request}), 1 / 0]\n"
        "except BaseException as error: caught = repr(error)"
    )
    s.expect(
        "caught == \"ZeroDivisionError('division by zero')\"",
        "in place of ZeroDivisionError there is {caught}",
    )


@check("producer.name", devices=["cpu"])
def name(s):
    make(s)
    export_any(s)
    expected = name_of(s["capsule"])
    s.run(
        "name = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)"
        '(("PyCapsule_GetName", ctypes.pythonapi))(capsule)'
    )
    s.run("del x; gc.collect(); others = [bytes([i]) * 20 for i in range(200)]")
    s.run("text = ctypes.string_at(name)")
    s.expect(f"text == {expected.encode()}", "after the array was dropped, the name is {text}")


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
