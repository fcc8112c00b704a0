"""The function that makes an array of a managed tensor."""

from ..cases import DTYPES, LAYOUTS, product, split
from ..checks import check
from ..exports import make
from ..lending import expect_values, lend, lend_view, memory
from ..script import KeptRuleError, describe
from ..tables import function

_CALL = "status = managed_to(ctypes.addressof(managed), ctypes.byref(out))"


def _take(s, layout=LAYOUTS["plain"], dtype=DTYPES["float32"]):
    """y = an array of a tensor that is made by hand. Returns its elements, or the exception."""
    make(s)
    function(s, "managed_to")
    expected = lend_view(s, layout, dtype, capsule=False)
    error = s.tried(_CALL)
    if error:
        return expected, error
    s.expect("status == 0", "the status is {status}, without an exception")
    s.run("y = ctypes.cast(out, ctypes.py_object).value")
    s.run("ctypes.pythonapi.Py_DecRef(ctypes.py_object(y))")
    return expected, None


@check("exchange.to-python", ["plain", "transposed", "scalar"])
def to_python(s, name):
    _, error = _take(s, LAYOUTS[name])
    if error:
        s.raised(_CALL, f"it is refused: {describe(error)}")
    s.expect("type(y) is type(x)", "it makes a {type(y)}, and the table is that of {type(x)}")


@check("exchange.to-python-elements", lambda a, seed: [*product(seed, LAYOUTS, a.types)])
def elements(s, case):
    layout, dtype, _, _ = split(case)
    expected, error = _take(s, layout, dtype)
    if error:
        raise KeptRuleError(f"it is refused: {describe(error)}")
    expect_values(s, expected)


@check("exchange.to-python-deletes")
def deletes(s):
    _, error = _take(s)
    if error:
        raise KeptRuleError(f"it is refused: {describe(error)}")
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
