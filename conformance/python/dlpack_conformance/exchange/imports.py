"""The function that makes an array of a managed tensor."""

from ..checks import check
from ..exports import VALUES, make
from ..lending import expect_values, lend, memory
from ..script import NotApplicableError, describe
from ..tables import function

_CALL = "status = managed_to(ctypes.addressof(managed), ctypes.byref(out))"
_LAYOUTS = {
    "plain": ((3, 4), (4, 1), VALUES),
    "transposed": ((4, 3), (1, 4), [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]),
    "scalar": ((), (), 0),
}


def _take(s, shape=(3, 4), strides=(4, 1), **fields):
    """y = an array of a tensor that is made by hand."""
    make(s)
    function(s, "managed_to")
    memory(s)
    lend(s, shape, strides, capsule=False, **fields)
    error = s.tried(_CALL)
    if error:
        raise NotApplicableError(f"it is refused: {describe(error)}")
    s.expect("status == 0", "the status is {status}, without an exception")
    s.run("y = ctypes.cast(out, ctypes.py_object).value")
    s.run("ctypes.pythonapi.Py_DecRef(ctypes.py_object(y))")


@check("exchange.to-python", _LAYOUTS)
def to_python(s, name):
    shape, strides, values = _LAYOUTS[name]
    _take(s, shape, strides)
    s.expect("type(y) is type(x)", "it makes a {type(y)}, and the table is that of {type(x)}")
    expect_values(s, values)


@check("exchange.to-python-deletes")
def deletes(s):
    _take(s)
    s.expect("not deleted", "the deleter is called while the array lives")
    s.run("del y; gc.collect(); [time.sleep(0.01) for _ in range(200) if not deleted]")
    s.expect("len(deleted) == 1", "the deleter was called {len(deleted)} times")
    s.expect("deleted == [ctypes.addressof(managed)]", "the deleter got {deleted}")


@check("exchange.to-python-refuses")
def refuses(s):
    make(s)
    function(s, "managed_to")
    memory(s)
    lend(s, version=(2, 0), capsule=False)
    if s.tried(_CALL) is None:
        s.broken("there is no exception for version 2.0; the status is " + str(s["status"]))
    s.expect("len(deleted) <= 1", "the deleter was called {len(deleted)} times")
