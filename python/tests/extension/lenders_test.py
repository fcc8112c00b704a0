"""What the exchange API of a class lends for an argument: it is checked as an import is, and given
back without an error in the way.

The class stands for tvm-ffi's, whose real one lends nothing wrong. Its table is made with ctypes.
"""

import ctypes
import sys
import types

import nanobind_capsule_extension
import nanobind_extension
import numpy as np
import pybind11_extension
import pytest
from exchange_table import Borrow, ManagedFrom, ManagedTo, Stream, Table, capsule_of
from installation import compile_c, import_file
from managed import CPU, READ_ONLY, Lent, Producer

import dovetail as dt

ANY_DEVICE = -1
CUDA = (2, 0)
FLOAT32, FLOAT64 = (2, 32, 1), (2, 64, 1)
EXTENSIONS = [nanobind_extension, nanobind_capsule_extension, pybind11_extension]


class Tensor:
    """An object that lends what it was made with."""

    def __init__(self, lent):
        self.lent = lent


@Borrow
def lend(x, out):
    ctypes.memmove(out, ctypes.byref(x.lent.managed.dl_tensor), ctypes.sizeof(out.contents))
    return 0


@Borrow
def lend_nothing(x, out):
    return -1


@ManagedFrom
def give(x, out):
    out[0] = ctypes.addressof(x.lent.managed)
    return 0


@ManagedFrom
def give_nothing(x, out):
    return -1


@ManagedTo
def take_nothing(managed, out):
    return -1


@ManagedTo
def make_nothing(managed, out):
    out[0] = None
    return 0


@Stream
def no_stream(device_type, device_id, out):
    return -1


TABLE = Table(major=1, minor=3)
Tensor.__dlpack_c_exchange_api__ = capsule_of(TABLE)
sys.modules["tvm_ffi"] = types.SimpleNamespace(Tensor=Tensor, __name__="tvm_ffi")


@pytest.fixture(autouse=True)
def table():
    TABLE.borrow, TABLE.managed_from = lend, give
    TABLE.managed_to, TABLE.stream = ManagedTo(), Stream()
    return TABLE


@pytest.fixture(scope="module")
def capi(tmp_path_factory):
    target = tmp_path_factory.mktemp("capi") / "capi_user.so"
    compile_c("python/tests/extension/capi_user.c", target, include=dt.get_include())
    return import_file(target)


def borrow(capi, *objects, device=ANY_DEVICE, **requirements):
    described, _, _ = capi.borrow(*objects, device=device, **requirements)
    return described[0] if len(objects) == 1 else described


HUGE = 2**62
DEFECTS = {
    "a negative size": {"shape": (-4,)},
    "a negative size beside 0": {"shape": (0, -4)},
    "a product that overflows": {"shape": (2**33, 2**33), "strides": (1, 1)},
    "bytes that overflow": {"shape": (2**61,), "strides": (4,)},
    "an offset that overflows": {"shape": (3, 3), "strides": (HUGE, HUGE)},
    "an address that overflows": {"shape": (3,), "data": 2**64 - 4},
    "a byte offset that overflows": {"shape": (3,), "byte_offset": 2**64 - 1},
    "no shape": {"null_shape": True},
    "no data": {"data": None},
    "no lanes": {"lanes": 0},
    "an unknown code": {"code": 99},
    "an unknown width": {"bits": 3},
    "a negative device id": {"device": (2, -1)},
    "a negative rank": {"ndim": -1},
    "too many dimensions": {"shape": (1,) * 65},
}
DEFECTS_OF_MANAGED = DEFECTS | {
    "another version": {"version": (99, 0)},
    "an unknown flag": {"flags": 8},
}


def message_of_import(fields):
    capsule = Lent(**fields).capsule()
    with pytest.raises(dt.ExchangeError) as caught:
        dt.from_dlpack(capsule)
    return str(caught.value)


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_lent_tensor_is_refused_in_the_words_of_an_import(capi, defect):
    fields = DEFECTS[defect]
    lent = Lent(**fields)
    with pytest.raises(dt.ExchangeError) as caught:
        borrow(capi, Tensor(lent))
    assert str(caught.value) == f"argument 1: {message_of_import(fields)}"
    assert lent.deletions == 0


@pytest.mark.parametrize("borrow_function", [Borrow(), lend_nothing], ids=["NULL", "refusing"])
@pytest.mark.parametrize("defect", DEFECTS_OF_MANAGED)
def test_a_managed_tensor_is_refused_in_the_words_of_an_import(
    capi, table, defect, borrow_function
):
    table.borrow = borrow_function
    fields = DEFECTS_OF_MANAGED[defect]
    lent = Lent(**fields)
    with pytest.raises(dt.ExchangeError) as caught:
        borrow(capi, Tensor(lent))
    assert str(caught.value) == f"argument 1: {message_of_import(fields)}"
    assert lent.deletions == 1


@pytest.mark.parametrize("ext", EXTENSIONS)
def test_no_function_of_an_extension_sees_a_broken_tensor(ext):
    for fields in DEFECTS.values():
        with pytest.raises(BufferError, match="argument 1: This DLPack tensor is not valid"):
            ext.doubled(Tensor(Lent(**fields)))


def test_a_valid_tensor_is_lent_as_it_is(capi, table):
    lent = Lent((2, 3), byte_offset=8)
    for function in (lend, Borrow()):
        table.borrow = function
        described = borrow(capi, Tensor(lent))
        assert described["data"] == lent.address + 8
        assert (described["shape"], described["strides"]) == ((2, 3), (3, 1))
        assert described["byte_offset"] == 0
    assert lent.deletions == 1  # of the managed one
    row_major = borrow(capi, Tensor(Lent((2, 3), strides=None)))
    assert row_major["strides"] == (3, 1)
    assert borrow(capi, Tensor(Lent((1,) * 64)))["shape"] == (1,) * 64
    empty = borrow(capi, Tensor(Lent((0, 3), data=None, byte_offset=8)))
    assert (empty["data"], empty["byte_offset"]) == (0, 0)
    reversed_ = Lent((3,), strides=(-1,), byte_offset=8)
    assert borrow(capi, Tensor(reversed_))["data"] == reversed_.address + 8


def test_flags_reach_the_function(capi, table):
    table.borrow = Borrow()
    assert borrow(capi, Tensor(Lent(flags=READ_ONLY)))["flags"] == READ_ONLY


def test_memory_of_an_unknown_device_is_a_handle_for_those_alone_who_take_any_device(capi):
    lent = Lent((3,), device=(99, 1), byte_offset=8)
    described = borrow(capi, Tensor(lent))
    assert (described["device"], described["data"]) == ((99, 1), lent.address)
    assert described["byte_offset"] == 8
    for device in (0, *CPU[:1], *CUDA[:1]):
        with pytest.raises(TypeError, match=r"is on device\(99\):1"):
            borrow(capi, Tensor(lent), device=device)


# Errors and deleters


def test_a_deleter_that_is_null_is_not_called(capi, table):
    table.borrow = Borrow()
    described = borrow(capi, Tensor(Lent(null_deleter=True)))
    assert not described["held"]
    with pytest.raises(TypeError, match="must be float64"):
        borrow(capi, Tensor(Lent(null_deleter=True)), dtype=FLOAT64)


def watching():
    """A managed tensor whose deleter runs Python code, and the results of that code."""
    seen = []

    def look():
        try:
            int("seven")
        except ValueError:
            seen.append(int("7"))  # no call has a result while an error is set

    return Lent((3,), on_delete=look), seen


def test_a_refused_argument_is_given_back_before_its_error_is_set(capi, table):
    table.borrow = Borrow()
    lent, seen = watching()
    with pytest.raises(TypeError, match="must be float64, and is float32"):
        borrow(capi, Tensor(lent), dtype=FLOAT64)
    assert (lent.deletions, seen) == (1, [7])


@pytest.mark.parametrize("ext", EXTENSIONS)
def test_the_error_of_a_refused_argument_reaches_the_caller_of_a_binding(ext, table):
    table.borrow = Borrow()
    lent, seen = watching()
    with pytest.raises(TypeError, match="must have 2 dimensions"):
        ext.matrix(Tensor(lent))
    assert (lent.deletions, seen) == (1, [7])
    lent, seen = watching()
    with pytest.raises(TypeError, match="argument 2"):
        ext.add(Tensor(lent), "no tensor", np.zeros(3, np.float32))
    assert (lent.deletions, seen) == (1, [7])


def test_the_arguments_before_a_refused_one_are_given_back_and_its_error_survives(capi, table):
    table.borrow = Borrow()
    arguments = [watching() for _ in range(2)]
    produced, seen = watching()
    objects = [Tensor(lent) for lent, _ in arguments]
    objects.append(Producer(lambda **_: produced.capsule()))
    with pytest.raises(TypeError, match="argument 4: 'str' object is no tensor"):
        borrow(capi, *objects, "no tensor")
    for lent, what in [*arguments, (produced, seen)]:
        assert (lent.deletions, what) == (1, [7])


def test_a_stream_that_is_not_told_gives_an_imported_argument_back_first(capi, table):
    table.borrow, table.stream = Borrow(), no_stream
    lent, seen = watching()
    lent.managed.dl_tensor.device_type = CUDA[0]
    with pytest.raises(dt.ExchangeError, match="stream"):
        borrow(capi, Tensor(lent))
    assert (lent.deletions, seen) == (1, [7])


def test_an_import_that_is_refused_after_it_was_taken_is_given_back_quietly():
    lent, seen = watching()
    lent.managed.flags = 2  # a copy
    with pytest.raises(dt.ExchangeError, match="copy=False forbids"):
        dt.from_dlpack(Producer(lambda **_: lent.capsule()), copy=False)
    assert (lent.deletions, seen) == (1, [7])


def test_an_argument_that_no_copy_can_replace_is_given_back_quietly(capi):
    given = []

    def action(**_):
        given.append(watching())
        lent = given[-1][0]
        lent.managed.dl_tensor.device_type = 99
        return lent.capsule()

    with pytest.raises(BufferError, match=r"No backend serves device\(99\)"):
        borrow(capi, Producer(action, (99, 0)), device=0, flags=capi.ALLOW_COPY)
    assert [(lent.deletions, seen) for lent, seen in given] == [(1, [7]), (1, [7])]


def test_a_result_that_is_refused_is_given_back_quietly(capi):
    deleted = capi.deleted()
    with pytest.raises(TypeError, match="str objects can't be made"):
        capi.to_python(str, 32)
    assert capi.deleted() == deleted + 1


# Functions that the table lacks, and that fail without an error


def test_a_current_stream_that_fails_without_an_error_is_an_error(capi, table):
    table.stream = no_stream
    message = r"tvm_ffi\.Tensor.*current_work_stream.*cuda:0"
    with pytest.raises(dt.ExchangeError, match=message):
        borrow(capi, Tensor(Lent(device=CUDA)))
    with pytest.raises(dt.ExchangeError, match=message):
        capi.current_stream(Tensor(Lent()), CUDA)


def test_a_table_without_functions_leads_to_the_protocol(capi, table):
    table.borrow, table.managed_from = Borrow(), ManagedFrom()
    with pytest.raises(TypeError, match="'Tensor' object is no tensor"):
        borrow(capi, Tensor(Lent()))
    table.managed_from = give_nothing
    with pytest.raises(TypeError, match="'Tensor' object is no tensor"):
        borrow(capi, Tensor(Lent()))


def from_dlpack(x):
    return Tensor(x)


def test_a_result_of_a_class_that_makes_none_is_made_by_its_function(capi, table):
    sys.modules["tvm_ffi"].from_dlpack = from_dlpack
    result = capi.to_python(Tensor, 32)
    assert type(result) is Tensor
    assert dt.from_dlpack(result.lent).tolist() == [1, 2, 3]


@pytest.mark.parametrize("function", [take_nothing, make_nothing], ids=["-1", "NULL"])
def test_a_class_that_makes_no_result_and_says_nothing_is_an_error(capi, table, function):
    table.managed_to = function
    with pytest.raises(dt.ExchangeError, match=r"tvm_ffi\.Tensor.*managed_tensor_to_py_object"):
        capi.to_python(Tensor, 32)
