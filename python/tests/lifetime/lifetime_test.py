"""What keeps memory alive and until when: reference counts, threads, interpreter shutdown."""

import array
import copy
import ctypes
import mmap
import sys
import threading
import weakref

import numpy as np
import onnxruntime
import pytest
import torch
from managed import Lent, Producer, call_deleter, take_over
from peers import EXPORTERS, NUMPY, PADDLE, TORCH
from process import run_python

import dovetail as dt

references = sys.getrefcount


def refuse(x):
    with pytest.raises(dt.ExchangeError):
        dt.from_dlpack(x, device="hexagon:0")


def capsule_of(x):
    if isinstance(x, onnxruntime.OrtValue):  # it makes legacy capsules alone
        return x.__dlpack__()
    return x.__dlpack__(max_version=(1, 0))


# Round trips of a library's tensor x, which leave nothing behind.
ROUNDS = {
    "taken in": lambda x: dt.from_dlpack(x),
    "taken in twice": lambda x: (dt.from_dlpack(x), dt.from_dlpack(x)),
    "copied": lambda x: dt.from_dlpack(x, copy=True),
    "not copied": lambda x: dt.from_dlpack(x, copy=False),
    "viewed": lambda x: dt.from_dlpack(x)[1:].reshape(1, 2).T,
    "handed on": lambda x: np.from_dlpack(dt.from_dlpack(x)),
    "handed on by a capsule": lambda x: dt.from_dlpack(x).__dlpack__(max_version=(1, 0)),
    "its capsule taken": lambda x: dt.from_dlpack(capsule_of(x)),
    "its values read": lambda x: (dt.from_dlpack(x).tolist(), repr(dt.from_dlpack(x))),
    "as NumPy array": lambda x: dt.from_dlpack(x).numpy(),
    "as buffer": lambda x: memoryview(dt.from_dlpack(x)).release(),
    "refused": refuse,
}


# Rule 30.
@pytest.mark.parametrize("round_", ROUNDS)
@pytest.mark.parametrize("peer", EXPORTERS, ids=str)
def test_the_owner_has_the_references_it_had_before(peer, round_):
    x = peer.make("float32", [1, 2, 4])
    ROUNDS[round_](x)  # fills the caches per type
    before = references(x)
    for _ in range(5):
        ROUNDS[round_](x)
    assert references(x) == before


@pytest.mark.parametrize("peer", EXPORTERS, ids=str)
def test_a_tensor_outlives_the_one_it_came_from(peer):
    x = peer.make("float32", [1, 2, 4])
    t = dt.from_dlpack(x)[1:]
    del x
    filler = [peer.make("float32", [7, 7, 7]) for _ in range(50)]
    assert t.tolist() == [2, 4]
    assert len(filler) == 50


@pytest.mark.parametrize("peer", [NUMPY, TORCH, PADDLE], ids=str)
def test_memory_of_ours_outlives_the_tensor_it_came_from(peer):
    x = peer.take(dt.tensor([1.0, 2.0, 4.0])[1:])
    filler = [dt.zeros(3) for _ in range(50)]
    assert peer.values(x) == [2, 4]
    assert len(filler) == 50


def test_an_array_of_numpy_is_freed_with_the_last_view_of_it():
    class Array(np.ndarray):  # np.ndarray has no weak references
        pass

    x = np.arange(3).view(Array)
    alive = weakref.ref(x)
    t = dt.from_dlpack(x)
    view = t[::-1]
    del x, t
    assert alive() is not None
    del view
    assert alive() is None


BUFFERS = {
    "bytearray": lambda: bytearray(8),
    "bytes": lambda: bytes(8),
    "array": lambda: array.array("i", [1, 2]),
    "NumPy": lambda: np.zeros(2, dtype=np.int32),
    "ctypes": lambda: (ctypes.c_int * 2)(),
    "mmap": lambda: mmap.mmap(-1, 8),
}


@pytest.mark.parametrize("kind", BUFFERS)
def test_a_buffer_is_held_as_long_as_a_tensor_lies_in_it(kind):
    buffer = BUFFERS[kind]()
    before = references(buffer)
    t = dt.frombuffer(buffer, dtype=dt.int32)
    view = t[1:]
    assert references(buffer) > before
    del t
    assert references(buffer) > before
    del view
    assert references(buffer) == before
    for wrong in ({"offset": 99}, {"count": 99}, {"count": 0}):
        with pytest.raises(ValueError):
            dt.frombuffer(buffer, dtype=dt.int32, **wrong)
    assert references(buffer) == before


def test_a_buffer_can_be_resized_when_the_last_view_of_it_is_gone():
    buffer = bytearray(8)
    t = dt.frombuffer(buffer, dtype=dt.int32)
    x = np.from_dlpack(t)
    del t
    with pytest.raises(BufferError):
        buffer.append(0)
    del x
    buffer.append(0)
    assert len(buffer) == 9


def test_a_weak_reference_to_a_tensor_dies_with_it_and_calls_back():
    t = dt.arange(3)
    called = []
    weak = weakref.ref(t, called.append)
    assert weak() is t
    del t
    assert weak() is None
    assert called == [weak]


def test_shallow_copies_share_memory_and_deep_ones_do_not():
    t = dt.arange(3)
    shallow, deep = copy.copy(t), copy.deepcopy(t)
    t[0] = 9
    assert (shallow.tolist(), deep.tolist()) == ([9, 1, 2], [0, 1, 2])


# Rule 28.
def test_a_deleter_is_called_on_the_thread_that_drops_the_tensor():
    lent = Lent()
    tensors = [dt.from_dlpack(lent.capsule())]
    thread = threading.Thread(target=tensors.clear)
    thread.start()
    thread.join()
    assert lent.threads == [thread.ident]


def test_many_threads_may_share_and_drop_tensors_of_one_owner():
    lent = Lent((64,))
    shared = dt.from_dlpack(lent.capsule())
    errors = []

    def work(tensor):
        try:
            for i in range(2000):
                view = dt.from_dlpack(tensor)[i % 60 :]
                assert np.from_dlpack(view).size == 64 - i % 60
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(shared,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert lent.deletions == 0
    del shared, threads, thread
    assert lent.deletions == 1


# Rule 28.
@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("hold_gil", [True, False])
def test_a_consumer_may_call_our_deleter_with_and_without_the_gil(version, hold_gil):
    buffer = bytearray(8)
    before = references(buffer)
    managed = take_over(dt.frombuffer(buffer, dtype=dt.int8).__dlpack__(max_version=version))
    assert references(buffer) > before
    call_deleter(managed, hold_gil)
    dt.empty(1)  # every call into Dovetail releases what a thread without the GIL had to leave
    assert references(buffer) == before
    buffer.append(0)


# Rule 28.
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_thread_that_python_does_not_know_may_call_our_deleter(version):
    buffers = [bytearray(8) for _ in range(20)]
    for buffer in buffers:
        export = dt.frombuffer(buffer, dtype=dt.int8).__dlpack__(max_version=version)
        call_deleter_on_foreign_thread(take_over(export))
    dt.empty(1)
    for buffer in buffers:
        buffer.append(0)


def call_deleter_on_foreign_thread(managed):
    libc = ctypes.CDLL(None)
    thread = ctypes.c_ulong()
    start = ctypes.c_void_p(managed.deleter)
    argument = ctypes.c_void_p(ctypes.addressof(managed))
    assert libc.pthread_create(ctypes.byref(thread), None, start, argument) == 0
    assert libc.pthread_join(thread, None) == 0


# Rule 28.
def test_what_a_thread_without_the_gil_leaves_goes_though_no_call_of_ours_comes():
    for _ in range(3):
        buffer = bytearray(8)
        managed = take_over(dt.frombuffer(buffer, dtype=dt.int8).__dlpack__())
        call_deleter_on_foreign_thread(managed)
        for _ in range(1000):
            pass  # the interpreter handles pending calls in each iteration
        buffer.append(0)


def test_exceptions_in_flight_survive_the_end_of_tensors():
    def raise_and_catch():
        with pytest.raises(KeyError):
            {}["nothing"]

    lents = [Lent(on_delete=raise_and_catch) for _ in range(3)]

    with pytest.raises(TypeError, match="'list'"):
        # The list is destroyed when int() returns, while its error is set.
        int([dt.from_dlpack(lent.capsule()) for lent in lents])
    assert [lent.deletions for lent in lents] == [1, 1, 1]


# Rule 30.
def test_a_failure_after_the_producer_gave_its_capsule_frees_it_with_no_error_set():
    lent = Lent(ndim=-1, on_delete=lambda: len([]))
    with pytest.raises(dt.ExchangeError, match="ndim -1"):
        dt.from_dlpack(Producer(lambda **_: lent.capsule()))
    assert lent.deletions == 1


LEFT_TO_THE_END = """
import {imports}
import dovetail as dt
x = {make}
held = dt.from_dlpack(x)                     # a global, alive when modules are torn down
cycle = [dt.from_dlpack(x)]
cycle.append(cycle)
onward = np.from_dlpack(dt.from_dlpack(x)[1:])
capsule = dt.from_dlpack(x).__dlpack__()
buffer = dt.frombuffer(bytearray(8), dtype=dt.int8)
never_freed = dt.from_dlpack(x)
import ctypes
ctypes.pythonapi.Py_IncRef(ctypes.py_object(never_freed))
print("end")
"""


# Rule 29.
@pytest.mark.parametrize(
    ("imports", "make"),
    [
        ("numpy as np", "np.arange(3.0)"),
        ("numpy as np, torch", "torch.arange(3.0)"),
        ("numpy as np, tvm_ffi", "tvm_ffi.from_dlpack(np.arange(3.0))"),
    ],
    ids=["numpy", "torch", "tvm_ffi"],
)
def test_tensors_may_live_until_the_interpreter_ends(imports, make):
    assert run_python(LEFT_TO_THE_END.format(imports=imports, make=make)) == "end\n"


def test_tensors_may_be_dropped_by_threads_and_exit_handlers_at_the_end():
    printed = run_python("""
        import atexit, threading
        import numpy as np
        import dovetail as dt
        held = [dt.from_dlpack(np.arange(3)) for _ in range(100)]
        buffers = [dt.frombuffer(bytearray(8), dtype=dt.int8) for _ in range(100)]
        atexit.register(held.clear)
        stop = threading.Event()
        def work():
            while not stop.is_set():
                np.from_dlpack(dt.frombuffer(bytearray(8), dtype=dt.int8))
        threading.Thread(target=work, daemon=True).start()
        print("end")
    """)
    assert printed == "end\n"


# Rule 29.
def test_a_deleter_called_after_the_interpreter_ended_leaks_and_does_not_crash():
    printed = run_python("""
        import ctypes
        import dovetail as dt
        from managed import take_over
        libc = ctypes.CDLL(None)
        managed = take_over(dt.frombuffer(bytearray(8), dtype=dt.int8).__dlpack__())
        # C's exit handlers run after Python's shutdown. (With a NULL handle, ThreadSanitizer drops
        # the argument.)
        address = ctypes.c_void_p(ctypes.addressof(managed))
        libc.__cxa_atexit(ctypes.c_void_p(managed.deleter), address, address)
        print("end")
    """)
    assert printed == "end\n"


def test_torch_threads_may_drop_a_tensor_that_python_lent_them():
    lent = Lent((1024,))
    shared = [torch.from_dlpack(dt.from_dlpack(lent.capsule()))]
    pool = [threading.Thread(target=lambda: torch.sum(shared[0])) for _ in range(4)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    assert lent.deletions == 0
    shared.clear()
    assert lent.deletions == 1
