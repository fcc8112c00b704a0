"""A program's own memory on the CPU: libc's functions, and Python code; threads and forks."""

import ctypes
import gc
import os
import sys
import threading
import weakref

import pytest
from process import run_python

import dovetail as dt

LIBC = ctypes.CDLL(None)
# alloc(size, device, stream), free(pointer, size, device, stream): C ignores the other arguments.
VALLOC, FREE = LIBC.valloc, LIBC.free
LIBC.aligned_alloc.restype = ctypes.c_void_p
LIBC.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
FREE.argtypes = [ctypes.c_void_p]


class Pool:
    """Counts, and poisons memory that comes back."""

    def __init__(self):
        self.live = {}
        self.allocations = 0
        self.raises = None
        self.offset = 0

    def allocate(self, nbytes, stream):
        self.allocations += 1
        if self.raises:
            raise self.raises
        assert nbytes > 0 and stream.device == "cpu" and stream.handle == 0
        pointer = LIBC.aligned_alloc(256, (nbytes + 511) // 256 * 256) + self.offset
        self.live[pointer] = nbytes
        return pointer

    def deallocate(self, pointer, nbytes, stream):
        assert self.live.pop(pointer) == nbytes and stream.handle == 0
        ctypes.memset(pointer, 0xDF, nbytes)
        FREE(pointer - self.offset)


class Block:
    def __init__(self, nbytes):
        self.ptr = LIBC.aligned_alloc(256, (nbytes + 255) // 256 * 256)

    def __del__(self):
        FREE(self.ptr)


@pytest.fixture(autouse=True)
def restore():
    yield
    dt.set_allocator("cpu", None)
    dt.set_allocator("cpu", None, "shared")


@pytest.fixture
def pool():
    pool = Pool()
    dt.set_allocator("cpu", pool)
    return pool


def test_all_new_tensors_are_in_it_small_ones_too(pool):
    made = {
        "empty": dt.empty(3),
        "zeros": dt.zeros(1000),
        "tensor": dt.tensor([1, 2]),
        "arange": dt.arange(100_000),
        "large zeros": dt.zeros(10_000_000),
        "a copy": dt.arange(5).copy(),
        "a cast": dt.arange(5).to(dt.float64),
        "full": dt.full((4,), 1.5),
    }
    outside = {name for name, t in made.items() if t.data_ptr() not in pool.live}
    assert outside == set()
    assert made["zeros"].tolist() == [0] * 1000
    assert made["large zeros"][-5:].tolist() == [0] * 5
    made.clear()
    assert pool.live == {}


def test_memory_goes_back_to_where_it_came_from(pool):
    t = dt.arange(4)
    dt.set_allocator("cpu", None)
    u = dt.arange(4)
    assert list(pool.live) == [t.data_ptr()]
    view = t[1:]
    del t
    assert (view.tolist(), len(pool.live)) == ([1, 2, 3], 1)
    del view, u
    assert (pool.live, pool.allocations) == ({}, 1)


def test_an_allocator_lives_as_long_as_its_memory():
    pool = Pool()
    gone = weakref.ref(pool)
    dt.set_allocator("cpu", pool)
    t = dt.arange(4)
    del pool
    dt.set_allocator("cpu", None)
    gc.collect()
    assert gone() is not None
    del t
    gc.collect()
    assert gone() is None


def test_an_allocator_that_is_set_again_and_again_is_let_go():
    gone = []
    for _ in range(20):
        pool = Pool()
        gone.append(weakref.ref(pool))
        dt.set_allocator("cpu", pool)
        dt.empty(10)
    del pool
    dt.set_allocator("cpu", None)
    gc.collect()
    assert [ref() for ref in gone] == [None] * 20


def test_c_functions_as_ctypes_pointers_and_as_numbers():
    address = [ctypes.cast(f, ctypes.c_void_p).value for f in (VALLOC, FREE)]
    before = dt.allocator_stats("cpu")
    for pair in ((VALLOC, FREE), tuple(address)):
        dt.set_allocator("cpu", pair)
        t = dt.arange(3)
        assert t.data_ptr() % 4096 == 0
        assert t.tolist() == [0, 1, 2]
        stats = dt.allocator_stats("cpu")
        assert (stats["allocated_bytes"], stats["allocations"]) == (24, 1)
        del t
        assert dt.allocator_stats("cpu")["reserved_bytes"] == 0
    dt.set_allocator("cpu", None)
    assert dt.allocator_stats("cpu")["allocations"] == before["allocations"]


def test_an_object_whose_malloc_returns_one_with_a_pointer():
    class Blocks:
        def malloc(self, size):
            block = Block(size)
            made.append(weakref.ref(block))
            return block

    made = []
    dt.set_allocator("cpu", Blocks())
    t = dt.arange(3)
    assert made[0]().ptr == t.data_ptr()
    del t
    assert made[0]() is None


def test_memory_of_zero_bytes_never_reaches_it(pool):
    assert dt.empty((0, 3)).shape == (0, 3)
    assert dt.zeros(0).tolist() == []
    assert pool.allocations == 0


def test_misaligned_memory_is_an_error_with_its_address_and_goes_back(pool):
    pool.offset = 64
    with pytest.raises(ValueError, match=r"returned the address 0x[0-9a-f]+40 for 40 bytes on cpu"):
        dt.empty(10)
    assert pool.live == {}
    size, pointer = ctypes.c_ssize_t, ctypes.c_void_p
    freed = []

    @ctypes.CFUNCTYPE(pointer, size, ctypes.c_int, pointer)
    def alloc(nbytes, device, stream):
        return LIBC.aligned_alloc(256, 4096) + 16

    @ctypes.CFUNCTYPE(None, pointer, size, ctypes.c_int, pointer)
    def free(address, nbytes, device, stream):
        FREE(address - 16)
        freed.append(nbytes)

    dt.set_allocator("cpu", (alloc, free))
    with pytest.raises(ValueError, match="aligned to 256 bytes"):
        dt.empty(1000)
    assert freed == [4000]


def test_an_exception_is_the_cause_of_the_allocations_error(pool):
    pool.raises = ValueError("broken")
    with pytest.raises(
        RuntimeError, match="the program's allocator raised: ValueError: broken"
    ) as e:
        dt.empty(10)
    assert e.value.__cause__ is pool.raises
    assert pool.allocations == 1
    pool.raises = MemoryError("full")
    with pytest.raises(
        MemoryError, match=r"Out of memory on cpu: 40 bytes .*MemoryError: full"
    ) as e:
        dt.empty(10)
    assert e.value.__cause__ is pool.raises
    assert pool.allocations == 3, "once more after a trim"
    assert dt.allocator_stats("cpu")["retries"] == 1


def test_what_is_no_address_is_an_error():
    for value, message in (("x", "not str"), (1.5, "not float"), (1 << 70, "Overflow")):

        class Wrong:
            def allocate(self, nbytes, stream, value=value):
                return value

            def deallocate(self, *args):
                pass

        dt.set_allocator("cpu", Wrong())
        with pytest.raises(RuntimeError, match=message):
            dt.empty(10)


def test_none_is_null_as_ctypes_has_it():
    class Full:
        calls = 0

        def allocate(self, nbytes, stream):
            self.calls += 1

        def deallocate(self, *args):
            pass

    full = Full()
    dt.set_allocator("cpu", full)
    with pytest.raises(MemoryError, match="returned NULL for 40 bytes"):
        dt.empty(10)
    assert full.calls == 2


def test_shared_memory_of_the_cpu_is_dovetails_own():
    with pytest.raises(ValueError, match="other processes open"):
        dt.set_allocator("cpu", (VALLOC, FREE), kind="shared")


def test_an_exception_in_deallocate_is_unraisable(pool, monkeypatch):
    heard = []
    monkeypatch.setattr(sys, "unraisablehook", lambda event: heard.append(event.exc_type))
    t = dt.empty(10)
    pool.live.clear()
    del t
    assert heard == [KeyError]
    pool.live.clear()


def test_deallocate_leaves_an_exception_in_flight_alone(pool):
    def work():
        dt.arange(10)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        work()
    assert pool.live == {}


def test_tensors_of_many_threads(pool):
    wrong = []

    def work():
        for n in range(200):
            t = dt.full((n + 1,), n)
            if t.tolist() != [n] * (n + 1) or t.data_ptr() not in pool.live:
                wrong.append(n)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (wrong, pool.live) == ([], {})


def test_it_is_changed_while_other_threads_allocate():
    stop = threading.Event()
    pools = [Pool() for _ in range(30)]
    wrong = []

    def work():
        while not stop.is_set():
            if dt.full((50,), 3).tolist() != [3] * 50:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for pool in pools:
        dt.set_allocator("cpu", pool)
        dt.empty(10)
    dt.set_allocator("cpu", None)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert all(pool.live == {} for pool in pools)


def test_a_copy_that_releases_the_gil_allocates_in_python(pool):
    t = dt.arange(1_000_000)
    assert t.to(dt.float64)[-1].item() == 999_999.0
    assert t.T.copy()[-1].item() == 999_999


def test_in_a_forked_child_it_goes_on(pool):
    t = dt.arange(3)
    child = os.fork()
    if child == 0:
        try:
            u = dt.full((4,), 5)
            ok = u.data_ptr() in pool.live and u.tolist() == [5] * 4 and t.tolist() == [0, 1, 2]
            del u, t
            os._exit(0 if ok and pool.live == {} else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0) == (child, 0)
    assert len(pool.live) == 1
    assert t.tolist() == [0, 1, 2]


def test_c_functions_go_on_in_a_forked_child():
    dt.set_allocator("cpu", (VALLOC, FREE))
    t = dt.arange(3)
    child = os.fork()
    if child == 0:
        ok = dt.full((4,), 5).data_ptr() % 4096 == 0 and t.tolist() == [0, 1, 2]
        del t
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0) == (child, 0)
    assert t.tolist() == [0, 1, 2]


def test_memory_that_a_thread_without_the_gil_drops_goes_back_later(pool):
    # NumPy is not needed: a DLPack deleter called by ctypes releases the GIL around the call.
    t = dt.arange(3)
    capsule = t.__dlpack__()
    del t
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    managed = get(capsule, b"dltensor")
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = b"used_dltensor"
    rename(capsule, name)
    # DLManagedTensor: a DLTensor of 48 bytes, the context, the deleter.
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(
        ctypes.cast(managed + 56, ctypes.POINTER(ctypes.c_void_p))[0]
    )
    assert len(pool.live) == 1
    deleter(managed)  # without the GIL
    dt.arange(1)
    gc.collect()
    assert pool.live == {}


def test_ctrl_c_in_an_allocator_is_a_keyboard_interrupt(pool):
    pool.raises = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        dt.empty(10)
    pool.raises = None
    assert dt.empty(10).shape == (10,)


def test_importing_dovetail_loads_neither_ctypes_nor_the_dispatch():
    code = "import sys, dovetail; print({'ctypes', 'dovetail._allocators'} & {*sys.modules})"
    assert run_python(code) == "set()\n"
