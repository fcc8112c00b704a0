"""Exchange tables of a fictitious library: imports of its tensors, and exports to it.

Each case runs in a fresh process, where that library is called torch, because Dovetail uses the
table of exactly that library's class.
"""

import pytest
from process import run_python

LIBRARY = """
    import ctypes, sys, types
    from exchange_table import Borrow, Table, capsule_of, table_of
    from managed import Lent
    import dovetail as dt

    asked = []

    class Storage:
        def nbytes(self):
            return 12

    class Tensor:
        requires_grad = False
        by_table, by_dlpack = Lent().fill([1, 2, 4]), Lent().fill([1, 2, 4])

        def __init__(self):
            self.storage = Storage()

        def untyped_storage(self):
            return self.storage

        def storage_offset(self):
            return 0

        def is_conj(self):
            return False

        def is_neg(self):
            return False

        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **_):
            asked.append("__dlpack__")
            return self.by_dlpack.capsule()

    torch = types.ModuleType("torch")
    torch.Tensor = Tensor
    modes = types.ModuleType("torch.utils._python_dispatch")
    modes._is_in_torch_dispatch_mode = False
    functions = types.ModuleType("torch._C")
    functions._is_torch_function_mode_enabled = lambda: False
    sys.modules |= {module.__name__: module for module in (torch, modes, functions)}

    @Borrow
    def borrow(x, out):
        asked.append("table")
        out[0] = x.by_table.managed.dl_tensor
        return 0

    def table(major=1, minor=3, function=borrow, before=None):
        made = Table(major, minor, before and ctypes.addressof(before), borrow=function)
        made.before = before
        return made

    def answer(result):
        return Borrow(lambda x, out: result)

    def ask(x):
        try:
            print(dt.from_dlpack(x).tolist() == [1, 2, 4], end=" ")
        except dt.ExchangeError as error:
            print(error, end=" ")
        print(*asked, Tensor.by_table.deletions, Tensor.by_dlpack.deletions)
"""
# After __dlpack__ the table is asked whether the memory is the tensor's own.
BY_TABLE, BY_DLPACK = "True table 0 0", "True __dlpack__ 0 1"
BY_CHECKED_DLPACK, BY_BOTH = "True __dlpack__ table 0 1", "True table __dlpack__ table 0 1"


def ask(setup, x="Tensor()"):
    """Import a tensor: its requests, and how often each of its two structs was deleted."""
    return run_python(LIBRARY + f"\n    {setup}\n    ask({x})\n").strip()


def install(table):
    return f"kept = {table}; Tensor.__dlpack_c_exchange_api__ = capsule_of(kept)"


# Rules 3, 52.
@pytest.mark.parametrize(
    ("table", "way"),
    [
        ("table()", BY_TABLE),
        ("table(minor=99)", BY_TABLE),
        ("table(major=2)", BY_DLPACK),
        ("table(major=0)", BY_DLPACK),
        ("table(2, before=table())", BY_TABLE),
        ("table(3, before=table(2, before=table()))", BY_TABLE),
        ("table(3, before=table(2))", BY_DLPACK),
    ],
)
def test_a_table_is_used_that_is_of_our_major_version_or_leads_to_one(table, way):
    assert ask(install(table)) == way


def test_a_table_that_leads_to_itself_is_not_used():
    setup = install("table(2)") + "; kept.prev_api = ctypes.addressof(kept)"
    assert ask(setup) == BY_DLPACK


# Rule 51.
@pytest.mark.parametrize(
    "value", ["capsule_of(kept, b'dlpack_exchange_API')", "ctypes.addressof(kept)", "None"]
)
def test_what_is_no_capsule_of_that_name_is_no_table(value):
    assert ask(f"kept = table(); Tensor.__dlpack_c_exchange_api__ = {value}") == BY_DLPACK


# Rule 53.
def test_a_table_without_the_function_is_not_used():
    assert ask(install("table(function=Borrow())")) == BY_DLPACK


# Rule 55.
@pytest.mark.parametrize(
    "function",
    ["answer(-1)", "answer(0)", "table_of(dt.Tensor).borrow"],
    ids=["failure", "no tensor", "failure with an error set"],
)
def test_a_table_that_gives_nothing_is_followed_by_dlpack(function):
    assert ask(install(f"table(function={function})")) == BY_DLPACK


# Rule 55.
def test_a_table_is_for_the_class_itself_and_what_needs_no_gradient():
    setup = install("table()")
    assert ask(setup, "type('Tensor', (Tensor,), {})()") == BY_CHECKED_DLPACK
    assert ask(setup + "; Tensor.requires_grad = True") == BY_BOTH


# Rule 55.
@pytest.mark.parametrize(
    "state",
    [
        "modes._is_in_torch_dispatch_mode = True",
        "del sys.modules[modes.__name__]",
        "functions._is_torch_function_mode_enabled = lambda: True",
        "del sys.modules[functions.__name__]",
    ],
)
def test_a_table_is_not_used_inside_a_mode_of_the_library_nor_where_that_can_not_be_told(state):
    assert ask(install("table()") + f"; {state}") == BY_CHECKED_DLPACK


# Rule 56.
@pytest.mark.parametrize(
    "trouble",
    [
        "del Tensor.untyped_storage",
        "del Tensor.storage_offset",
        "del Storage.nbytes",
        "Storage.nbytes = lambda self: None",
    ],
)
def test_a_table_is_not_used_where_the_storage_can_not_be_held_or_measured(trouble):
    assert ask(install("table()") + f"; {trouble}") == BY_BOTH


@pytest.mark.parametrize(
    "state", ["Storage.nbytes = lambda self: 11", "Tensor.storage_offset = lambda self: 1"]
)
def test_what_the_table_lends_beyond_the_storage_is_refused(state):
    answer = ask(install("table()") + f"; {state}")
    assert "of its storage, which has" in answer and answer.endswith(" table 0 0")


# Rule 8.
def test_the_offset_in_bytes_that_a_table_reports_is_added_once():
    setup = "; Tensor.by_table.managed.dl_tensor.data -= 4"
    setup += "; Tensor.by_table.managed.dl_tensor.byte_offset = 4"
    assert ask(install("table()") + setup) == BY_TABLE


# Rules 51, 56.
def test_the_storage_is_kept_alive_whose_tensor_was_lent():
    setup = install("table()") + "; s = Tensor().storage; before = sys.getrefcount(s)"
    code = """
    x = Tensor()
    x.storage = s
    t = dt.from_dlpack(x)
    del x
    views = [t[1:], t.T]
    Tensor.by_table.managed.dl_tensor.shape[0] = 99  # the lent struct is not read again
    print(sys.getrefcount(s) - before, t.shape)
    del t, views[0]
    print(sys.getrefcount(s) - before)
    views.clear()
    print(sys.getrefcount(s) - before)
    """
    assert run_python(LIBRARY + f"\n    {setup}{code}").split() == ["1", "(3,)", "1", "0"]


# Rules 10, 30, 55.
@pytest.mark.parametrize("fields", ["device=(2, 0)", "data=None", "code=99", "bits=12"])
def test_what_the_table_lends_and_we_can_not_take_is_asked_of_dlpack(fields):
    assert ask(install("table()") + f"; Tensor.by_table = Lent({fields})") == BY_BOTH


TAKE = """
    from exchange_table import ManagedTo
    from managed import Versioned

    kept, views = [], []
    to_share = None

    def consumer(deletes, result):
        @ManagedTo
        def take(address, out):
            managed = Versioned.from_address(address)
            delete = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)
            if deletes:
                delete(address)
            elif result == 0:
                kept.append((delete, address))
            if to_share is not None:
                views.append(to_share[1:])
            views[1:] = []
            out[0] = id(None)
            return result

        made = table()
        made.managed_to = take
        Tensor.__dlpack_c_exchange_api__ = capsule_of(made)
        dt.from_dlpack(Tensor())  # inspects the class
        return made

    def give(x, result):
        try:
            dt.convert(x, Tensor)
        except dt.ExchangeError:  # for the function, which sets no error
            assert result != 0
"""
CONSUMERS = pytest.mark.parametrize(
    "deletes, result, held",
    [(False, 0, 1), (True, 0, 0), (False, -1, 0), (True, -1, 0)],
    ids=["keeps it", "copies it", "fails", "fails after deleting it"],
)


# Rules 27, 30.
@CONSUMERS
def test_an_array_given_to_a_consumer_is_let_go_of_once_whatever_it_does(deletes, result, held):
    code = f"""
    import numpy as np

    made = consumer({deletes}, {result})
    x = np.arange(3)
    before = sys.getrefcount(x)
    for _ in range(3):
        give(x, {result})
    print(len(kept), sys.getrefcount(x) - before)
    for delete, address in kept:
        delete(address)
    print(sys.getrefcount(x) - before)
    """
    assert run_python(LIBRARY + TAKE + code).split() == [str(3 * held), str(3 * held), "0"]


# Rules 27, 30.
@CONSUMERS
@pytest.mark.parametrize("meanwhile", ["nothing", "a view is made", "a view is dropped"])
def test_a_tensor_given_to_a_consumer_is_let_go_of_once_whatever_it_does(
    deletes, result, held, meanwhile
):
    code = f"""
    made = consumer({deletes}, {result})
    lent = Lent((3,))
    for _ in range(3):
        t = dt.from_dlpack(lent.capsule())
        to_share = t if {meanwhile!r} == "a view is made" else None
        views = [t[:2], t[:1]] if {meanwhile!r} == "a view is dropped" else []
        give(t, {result})
        del t, to_share
        to_share = None
        views.clear()
    print(lent.deletions)
    for delete, address in kept:
        delete(address)
    print(lent.deletions)
    """
    assert run_python(LIBRARY + TAKE + code).split() == [str(3 - 3 * held), "3"]
