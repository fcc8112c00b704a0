"""Who frees the memory of a device, when, and how often.

Allocators keep what is freed, so that neither the device's free memory nor a crash tells. Addresses
do: see reuse.py.
"""

from ..checks import check
from ..exports import consume, export_any, name_of, pointer_in, read
from ..reuse import SIZE, expect_reuse
from ..script import NotApplicableError, describe
from ..structs import KINDS, DLTensor
from .lifetimes import CALLERS, ON_A_THREAD, TAKE, consumer, request_of


def data_of(managed, kind):
    """An expression: the data in a struct."""
    return (
        f"ctypes.c_uint64.from_address({managed} + {kind.dl_tensor.offset + DLTensor.data.offset})"
        ".value"
    )


def _unused(s, request):
    kind = KINDS[name_of(s["capsule"])]
    s.lines.clear()
    body = (
        f"capsule = {s.adapter.ones_of(SIZE)}.__dlpack__({request})\n"
        f"managed = {pointer_in('capsule', kind)}\n"
        f"addresses.add({data_of('managed', kind)})\n"
        "del capsule"
    )
    expect_reuse(s, body, "an unused capsule frees nothing")


@check("producer.unused", devices=["cuda"])
def unused(s):
    _unused(s, request_of(s))


@check("producer.unused", ["legacy"], ["cuda"])
def unused_legacy(s, _):
    request_of(s)
    error = s.tried("capsule = x.__dlpack__()")
    if error:
        raise NotApplicableError(f"there is no legacy capsule: {describe(error)}")
    _unused(s, "")


@check("producer.deleter", CALLERS, ["cuda"])
def deleter(s, where):
    request = request_of(s)
    kind = KINDS[name_of(s["capsule"])]
    consumer(s, request, "ctypes.PYFUNCTYPE" if where == "with the GIL" else "ctypes.CFUNCTYPE")
    body = TAKE.format(large=s.adapter.ones_of(SIZE), request=request)
    if where == "on another thread":
        body = body.replace("delete(managed)", ON_A_THREAD)
    note = f"addresses.add({data_of('managed', kind)})\n"
    expect_reuse(
        s,
        body.replace("rename(", note + "rename(", 1),
        f"the deleter, called {where}, frees nothing",
    )


@check("producer.used", devices=["cuda"])
def used(s):
    s.run(f"x = {s.adapter.ones_of(SIZE)}")
    export_any(s)
    kind = read(s)
    consume(s)
    s.run("del x, capsule; gc.collect(); call('cuCtxSynchronize')")
    _expect_free_of_others(s, kind, "the memory of a consumed capsule is another array's, too")
    s.run("ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(managed)")


@check("producer.lifetime", ["1 MiB", "16 bytes"], ["cuda"])
def lifetime(s, size):
    s.run(f"x = {s.adapter.ones_of(SIZE if size == '1 MiB' else 4)}")
    export_any(s)
    kind = read(s)
    s.run("del x; gc.collect(); call('cuCtxSynchronize')")
    _expect_free_of_others(s, kind, "after the array was dropped, its memory is another array's")


def _expect_free_of_others(s, kind, seen):
    """No array that is made now lies in the memory at `data`."""
    size = s["shape"][0]
    request = "max_version=(1, 0)" if kind.name.endswith("versioned") else ""
    s.run("held = data + byte_offset")
    s.run(f"others = [{s.adapter.ones_of(size)}.__dlpack__({request}) for _ in range(8)]")
    address = data_of(pointer_in("other", kind), kind)
    s.run(f"addresses = [{address} for other in others]")
    s.expect(f"all(abs(held - address) >= {4 * size} for address in addresses)", seen)
