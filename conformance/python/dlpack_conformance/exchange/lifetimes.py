"""Who frees what an export holds, and when."""

from ..checks import check
from ..exports import make
from ..producer.device_lifetimes import data_of
from ..producer.lifetimes import CALLERS, ON_A_THREAD
from ..reuse import SIZE, expect_reuse
from ..structs import DLManagedTensorVersioned
from ..tables import DELETE, borrowed_buffer, function, read_managed
from .agreement import BORROWED, MANAGED


def _prepare(s, call="ctypes.CFUNCTYPE"):
    make(s)
    function(s, "managed_from")
    s.run(DELETE.format(call=call))


@check("exchange.deleter", CALLERS)
def deleter(s, where):
    _prepare(s, "ctypes.PYFUNCTYPE" if where == "with the GIL" else "ctypes.CFUNCTYPE")
    delete = ON_A_THREAD if where == "on another thread" else "delete(managed)"
    body = (
        f"x = {s.adapter.ones_of(SIZE)}\n{MANAGED}\nmanaged = out.value\n"
        f"addresses.add({data_of('managed', DLManagedTensorVersioned)})\n{delete}\nx = None"
    )
    expect_reuse(s, body, f"the deleter, called {where}, frees nothing")


@check("exchange.lifetime")
def lifetime(s):
    _prepare(s)
    s.run(f"x = {s.adapter.ones_of(SIZE)}")
    s.run(MANAGED)
    s.run("managed = out.value; x = None; gc.collect()")
    read_managed(s)
    s.run("held = data + byte_offset")
    s.run(f"others, places = [{s.adapter.ones_of(SIZE)} for _ in range(8)], []")
    s.run(
        f"for x in others:\n    {MANAGED}\n"
        f"    places.append({data_of('out.value', DLManagedTensorVersioned)})"
    )
    s.expect(
        f"all(abs(held - place) >= {4 * SIZE} for place in places)",
        "the memory of a dropped array is another array's",
    )
    s.run(f"value = {s.memory.value('c_float', 'held')}")
    s.expect("value == 1.0", "after the array was dropped, its memory has {value}, which was 1.0")


@check("exchange.references", ["managed", "borrowed"])
def references(s, how):
    _prepare(s)
    if how == "managed":
        body = f"{MANAGED}; delete(out.value)"
    else:
        function(s, "borrow")
        s.run(borrowed_buffer())
        body = BORROWED
    s.run("before = sys.getrefcount(x)")
    s.run(f"for i in range(100): {body}")
    s.expect(
        "sys.getrefcount(x) < before + 50",
        "after 100 exports there are {sys.getrefcount(x) - before} more references to the array",
    )
