"""Who frees the memory of an export, when, and how often; the rules of __dlpack__() and the table.

That memory is freed is seen by addresses: memory that is freed is used again for later arrays,
memory that is not freed never is. Neither an allocator's caches nor their size matter.
"""

from ..checks import check
from ..doors import CAPSULES, TABLE, arguments_of, end_by, ended, export_by, kind_of
from ..exports import consume, expect_elements, made, make, name_of, need, pointer_in, read_struct
from ..growth import expect_steady
from ..structs import KINDS, DLTensor

COUNT = 32
SIZE = 1 << 18  # elements of 1 MiB
CALLERS = ("with the GIL", "without the GIL", "on another thread")
_ON_A_THREAD = (
    "thread = threading.Thread(target=delete, args=(managed,)); thread.start(); thread.join()"
)
_LOOP = f"addresses = set()\nfor i in range({COUNT}):\n    "


def data_of(managed, kind):
    """An expression: the data in a struct."""
    at = kind.dl_tensor.offset + DLTensor.data.offset
    return f"ctypes.c_uint64.from_address({managed} + {at}).value"


def expect_reuse(s, body, seen):
    """Run a body that makes an array, adds its address to `addresses`, and frees it."""
    if s.adapter.device == "cuda":
        body += '\ncall("cuCtxSynchronize")'
    s.run(_LOOP + body.replace("\n", "\n    "))
    s.expect(
        f"len(addresses) < {COUNT}",
        f"{seen}: {COUNT} arrays of 1 MiB have {{len(addresses)}} addresses",
    )


@check("producer.unused", CAPSULES)
def unused(s, door):
    make(s)
    export_by(s, door)
    s.lines.clear()
    kind = kind_of(door)
    body = (
        f"capsule = {s.adapter.ones_of(SIZE)}.__dlpack__({arguments_of(door)})\n"
        f"addresses.add({data_of(pointer_in('capsule', kind), kind)})\ndel capsule"
    )
    expect_reuse(s, body, "an unused capsule frees nothing")


def _deleter(s, where, door):
    end_by(s, door, "ctypes.PYFUNCTYPE" if where == "with the GIL" else "ctypes.CFUNCTYPE")
    delete = _ON_A_THREAD if where == "on another thread" else "delete(managed)"
    note = f"addresses.add({data_of('managed', kind_of(door))})"
    body = f"x = {s.adapter.ones_of(SIZE)}\n{ended(door, note, delete)}\nx = None"
    expect_reuse(s, body, f"the deleter, called {where}, frees nothing")


@check("producer.deleter", [f"{where}, {door}" for where in CALLERS for door in CAPSULES])
def deleter(s, case):
    _deleter(s, *case.split(", "))


@check("exchange.deleter", CALLERS)
def deleter_of_table(s, where):
    _deleter(s, where, "managed")


@check("producer.used", CAPSULES)
def used(s, door):
    made(s, s.adapter.ones_of(SIZE))
    export_by(s, door)
    consume(s)
    s.run("held = data + byte_offset")
    s.run("del x, capsule; gc.collect()")
    _expect_held(s, SIZE, "the memory of a consumed capsule")
    s.run("ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(managed)")


_SIZES = {"1 MiB": SIZE, "16 bytes": 4, "a view of 1 MiB": SIZE}


def _lifetime(s, case, door, *copy):
    size = _SIZES[case]
    made(s, s.adapter.ones_of(size))
    if "view" in case:
        made(s, need(s.adapter.view, "nothing is known of the library's views").format(y="x"))
    export_by(s, door, *copy)
    s.run("held = data + byte_offset; x = None; gc.collect()")
    _expect_held(s, size, "after the array was dropped, its memory")


_WAYS = [f"{door}{copy}" for door in CAPSULES for copy in ("", ", copy=True")]


@check("producer.lifetime", [f"{case}, {way}" for case in _SIZES for way in _WAYS])
def lifetime(s, case):
    _lifetime(s, *case.split(", "))


@check("exchange.lifetime", _SIZES)
def lifetime_of_table(s, case):
    _lifetime(s, case, "managed")


def _expect_held(s, size, what):
    """The memory at `held` keeps its ones and is no other array's, whatever is allocated."""
    if s.adapter.device == "cuda":
        s.run("call('cuCtxSynchronize')")
    ones = s.adapter.ones_of(size)
    for door in CAPSULES:
        error = s.tried(f"others = [{ones}.__dlpack__({arguments_of(door)}) for _ in range(8)]")
        kind = error or KINDS.get(name_of(s["others"][0]))
        if error is None:
            break
    if kind in KINDS.values():
        s.run(f"places = [{data_of(pointer_in('other', kind), kind)} for other in others]")
        # A view begins behind the start of its memory, which others may follow.
        s.expect(
            f"all(abs(held - place) >= {2 * size} for place in places)", f"{what} is another's"
        )
    s.run(f"twos = [{s.adapter.array_of('[2, 2, 2, 2]')} for _ in range(100)]")
    s.run(f"values = [*struct.unpack('=4f', {s.memory.bytes(16, 'held')})]")
    s.expect("values == [1.0] * 4", what + " has {values}, which were 1")
    s.namespace.pop("others", None)  # the worker keeps what its scripts made


def _leak(s, case, door):
    """Ends many exports, of which nothing may be left."""
    end_by(s, door)
    make(s)
    if case == "an unused capsule":
        body = f"x.__dlpack__({arguments_of(door)})"
    else:
        copy = case if case.startswith("copy") else ""
        if copy:
            export_by(s, door, copy)
            s.lines.clear()
            end_by(s, door)
            make(s)
        body = ended(door, copy=copy)
    expect_steady(s, body, "an export that ended")


_ENDS = ("an unused capsule", "a used capsule", "copy=True")


@check("producer.leak", [f"{end}, {door}" for end in _ENDS for door in CAPSULES], ["cpu"])
def leak(s, case):
    _leak(s, *case.split(", "))


@check("exchange.leak", TABLE, ["cpu"])
def leak_of_table(s, door):
    _leak(s, "", door)


@check("exchange.references", TABLE)
def references(s, door):
    end_by(s, door)
    make(s)
    s.run("before = sys.getrefcount(x)")
    s.run("for i in range(100):\n    " + ended(door).replace("\n", "\n    "))
    s.expect(
        "sys.getrefcount(x) < before + 50",
        "after 100 exports there are {sys.getrefcount(x) - before} more references to the array",
    )


@check("producer.exception", CAPSULES, ["cpu"])
def exception(s, door):
    make(s)
    export_by(s, door)
    s.lines.clear()
    make(s)
    # The capsule is on the interpreter's stack, and is destroyed while the exception looks for its
    # handler.
    s.run("caught = None")
    s.run(
        f"try: [x.__dlpack__({arguments_of(door)}), 1 / 0]\n"
        "except BaseException as error: caught = repr(error)"
    )
    s.expect(
        "caught == \"ZeroDivisionError('division by zero')\"",
        "in place of ZeroDivisionError there is {caught}",
    )


@check("producer.name", CAPSULES, ["cpu"])
def name(s, door):
    make(s)
    export_by(s, door)
    s.run(
        "name = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)"
        '(("PyCapsule_GetName", ctypes.pythonapi))(capsule)'
    )
    s.run("del x; gc.collect(); others = [bytes([i]) * 20 for i in range(200)]")
    s.run("text = ctypes.string_at(name)")
    expected = kind_of(door).name.encode()
    s.expect(f"text == {expected}", "after the array was dropped, the name is {text}")


@check("producer.repeated", CAPSULES)
def repeated(s, door):
    make(s)
    export_by(s, door)
    s.run("first, before = capsule, managed")
    export_by(s, door)
    s.expect("managed != before", "two capsules share the struct at {managed:#x}")
    s.run("del first; gc.collect()")
    expect_elements(s, (12,) if s.adapter.one_dimensional else (3, 4), range(12))
    s.run(f"first, struct_ = capsule, managed; x = {s.adapter.array_of([4, 5])}")
    export_by(s, door)
    s.run("managed = struct_")
    read_struct(s, kind_of(door))
    expect_elements(s, (12,) if s.adapter.one_dimensional else (3, 4), range(12))
