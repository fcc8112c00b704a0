"""dovetail.ipc on the CPU: real processes, real files in /dev/shm."""

import gc
import glob
import multiprocessing
import os
import pickle
import threading
from importlib.util import find_spec

import ipc_workers
import numpy as np
import process
import pytest
from ipc_workers import path_of, shared

import dovetail as dt


def segments(handle):
    """The memory files of the process that shared the handle. (Other tests run concurrently.)"""
    return set(glob.glob(path_of(handle).rpartition(".")[0] + ".*"))


def run(method, function, *arguments):
    """The object that `function`, in a process of its own, puts into the queue it gets last."""
    context = multiprocessing.get_context(method)
    answer = context.Queue()
    child = context.Process(target=function, args=(*arguments, answer))
    child.start()
    result = answer.get(timeout=120)
    child.join(60)
    assert child.exitcode == 0
    return result


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_another_process_reads_and_writes_the_same_memory(method):
    t = shared([[1, 2, 3], [4, 5, 6]])
    handle = dt.ipc.share(t)
    assert run(method, ipc_workers.add_one, handle) == [[1, 2, 3], [4, 5, 6]]
    assert t.tolist() == [[2, 3, 4], [5, 6, 7]]


def test_numpy_writes_what_the_others_read():
    t = shared([[1, 2], [3, 4]], "float32")
    handle = dt.ipc.share(t)
    assert run("spawn", ipc_workers.write_with_numpy, handle) == [[1, 2], [3, 4]]
    assert np.from_dlpack(t).tolist() == [[2, 4], [6, 8]]


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_torch_writes_what_the_others_read():
    t = shared([[2, 4], [6, 8]], "float32")
    handle = dt.ipc.share(t)
    assert run("spawn", ipc_workers.write_with_torch, handle) == [[2, 4], [6, 8]]
    assert t.tolist() == [[102, 104], [106, 108]]


def test_a_view_keeps_its_strides_offset_and_access():
    t = shared([[1, 2, 3], [4, 5, 6], [7, 8, 9]], "int16")
    view = t[::-2, 1:].T
    described = run("spawn", ipc_workers.describe, dt.ipc.share(view))
    assert described == ("int16", (2, 2), (1, -6), False, "cpu", [[8, 2], [9, 3]])
    read_only = dt.from_dlpack(_read_only(t))
    assert read_only.readonly
    described = run("spawn", ipc_workers.describe, dt.ipc.share(read_only[0]))
    assert described == ("int16", (3,), (1,), True, "cpu", [1, 2, 3])


def _read_only(t):
    a = np.from_dlpack(t)
    a.flags.writeable = False
    return a


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "float16", "bfloat16", "complex128", "float8_e4m3fn", "int4"]
)
def test_every_kind_of_element_arrives(dtype):
    t = shared([1, 0, 1], dtype)
    u = dt.ipc.open(bytes(dt.ipc.share(t)))
    assert u.dtype == t.dtype
    assert u.tolist() == t.tolist()


def test_scalars_and_tensors_without_elements_arrive():
    t = dt.ipc.empty((), dtype="float64")
    t[...] = 1.5
    assert dt.ipc.open(dt.ipc.share(t)).item() == 1.5
    nothing = dt.ipc.open(dt.ipc.share(dt.empty((3, 0, 2), dtype="int8")))
    assert (nothing.shape, nothing.dtype) == ((3, 0, 2), dt.int8)


def test_ordinary_memory_is_refused_with_the_remedy_and_copied_when_asked():
    t = dt.arange(4)
    with pytest.raises(dt.ExchangeError, match=r"ipc\.empty.*copy=True"):
        dt.ipc.share(t)
    handle = dt.ipc.share(t, copy=True)
    assert dt.ipc.open(handle).tolist() == [0, 1, 2, 3]
    t[0] = 9
    assert dt.ipc.open(handle).tolist() == [0, 1, 2, 3]  # a copy
    data = bytes(handle)
    del handle  # which kept the copy alive
    with pytest.raises(dt.ExchangeError, match="released"):
        dt.ipc.open(data)


def test_what_requires_gradients_or_is_no_tensor_is_refused():
    t = dt.ipc.empty(2).requires_grad_(True)
    with pytest.raises(dt.ExchangeError, match="detach"):
        dt.ipc.share(t)
    with pytest.raises(TypeError, match="takes one tensor"):
        dt.ipc.share([1, 2])
    with pytest.raises(TypeError):
        dt.ipc.open(3)


def test_tensors_of_other_libraries_are_shared_and_copied_alike():
    a = np.asarray(shared([1, 2, 3], "int32"))
    handle = dt.ipc.share(a[1:])
    assert dt.ipc.open(handle).tolist() == [2, 3]
    assert handle.tensor.data_ptr() == a[1:].ctypes.data
    ordinary = np.arange(3)
    with pytest.raises(dt.ExchangeError, match="copy=True"):
        dt.ipc.share(ordinary)
    assert dt.ipc.open(dt.ipc.share(ordinary, copy=True)).tolist() == [0, 1, 2]
    for copy in (False, True):
        with pytest.raises(TypeError, match=r"share\(\) takes one tensor"):
            dt.ipc.share({"a": a}, copy=copy)


def test_in_the_same_process_it_is_the_same_memory_mapped_once():
    t = shared([1, 2, 3])
    handle = dt.ipc.share(t)
    before = _mappings()
    u, v = dt.ipc.open(handle), dt.ipc.open(handle)
    assert u.data_ptr() == v.data_ptr() == t.data_ptr()
    assert _mappings() == before
    del t, handle
    assert v.tolist() == [1, 2, 3]


def test_a_handle_tells_what_it_names_and_pickles():
    t = shared([[1, 2, 3]], "int16")[:, ::2]
    handle = dt.ipc.share(t)
    assert handle.tensor is t
    again = pickle.loads(pickle.dumps(handle))
    assert again.tensor is None
    assert again == handle
    assert hash(again) == hash(handle)
    assert again != dt.ipc.share(t[:, :1])
    assert (again.dtype, again.shape, again.strides) == (dt.int16, (1, 2), (3, 2))
    assert (str(again.device), again.readonly) == ("cpu", False)
    assert repr(again) == "Handle(int16 tensor of shape (1, 2), strides (3, 2), on cpu)"
    assert dt.ipc.Handle.from_bytes(bytearray(bytes(handle))) == handle
    assert len(pickle.dumps(handle)) < 300


def test_the_file_is_the_users_alone():
    path = path_of(dt.ipc.share(dt.ipc.empty(1000)))
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_memory_that_is_freed_is_used_again_and_keeps_its_pages():
    t = dt.ipc.empty(1_000_000)
    pointer, path = t.data_ptr(), path_of(dt.ipc.share(t))
    view = t[1:]
    del t
    other = dt.ipc.empty(1_000_000)
    assert other.data_ptr() != pointer
    del view, other
    assert dt.ipc.empty(1_000_000).data_ptr() == pointer
    assert os.path.exists(path)


def test_idle_memory_goes_back_to_the_system_by_trim_memory():
    t = dt.ipc.empty(1_000_000)
    path = path_of(dt.ipc.share(t))
    dt.trim_memory("cpu", kind="shared")
    assert os.path.exists(path)
    del t
    gc.collect()
    dt.trim_memory("cpu", kind="shared")
    assert not os.path.exists(path)
    assert dt.allocator_stats("cpu", kind="shared")["reserved_bytes"] == 0
    assert dt.ipc.open(dt.ipc.share(shared([1, 2]))).tolist() == [1, 2]


def test_opening_what_was_released_says_so():
    t = dt.ipc.empty(3)
    data = bytes(dt.ipc.share(t))
    del t
    with pytest.raises(dt.ExchangeError, match="released"):
        dt.ipc.open(data)
    assert "released" in run("spawn", ipc_workers.try_open, data)


def test_a_borrower_keeps_the_memory_after_the_owner_let_go_and_can_share_it_on():
    context = multiprocessing.get_context("spawn")
    answer, done, opened = context.Queue(), context.Event(), context.Event()
    t = shared([1, 2, 3])
    arguments = dt.ipc.share(t), answer, done, opened
    child = context.Process(target=ipc_workers.open_and_wait, args=arguments)
    child.start()
    assert answer.get(timeout=60) == "open"
    t[0] = 5
    del t, arguments
    gc.collect()
    done.set()
    assert answer.get(timeout=60) == [5, 2, 3]
    u = dt.ipc.open(answer.get(timeout=60))
    opened.set()
    assert u.tolist() == [5, 2, 3]
    child.join(60)
    assert child.exitcode == 0


def _owner(method, how):
    """A process that shared a tensor and ended as `how` says, after this process opened it."""
    context = multiprocessing.get_context(method)
    answer, done = context.Queue(), context.Event()
    child = context.Process(target=ipc_workers.own, args=(answer, done, how))
    child.start()
    data = answer.get(timeout=60)
    t = dt.ipc.open(data)
    assert t.tolist() == [7, 7, 7]
    done.set()
    child.join(60)
    return data, t


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_a_process_that_ends_leaves_no_memory_behind(method):
    data, t = _owner(method, "returns")
    assert segments(data) == set()
    assert t.tolist() == [7, 7, 7]  # still mapped in this process
    del t
    with pytest.raises(dt.ExchangeError, match="has ended"):
        dt.ipc.open(data)


@pytest.mark.parametrize("how", ["killed", "exits"])
def test_what_a_killed_process_left_is_refused_and_unlinked_by_the_next_one(how):
    data, t = _owner("spawn", how)
    path = path_of(data)
    assert t.tolist() == [7, 7, 7]
    assert "has ended" in run("spawn", ipc_workers.try_open, data)
    assert dt.ipc.open(data).tolist() == [7, 7, 7]  # where it is mapped, as long as nobody needs it
    # A new process removes the files when it first creates shared memory.
    process.run_python("import dovetail as dt; dt.ipc.empty(1)")
    assert not os.path.exists(path)


def test_a_program_that_ends_waits_for_its_children_before_its_memory_goes():
    code = """
        import multiprocessing.util
        import dovetail as dt
        import ipc_workers

        context = multiprocessing.get_context("spawn")
        t = ipc_workers.shared([1, 2, 3])
        context.Process(target=ipc_workers.show, args=(dt.ipc.share(t),)).start()
        """
    assert process.run_python(code) == "[1, 2, 3]\n"


def test_a_forked_child_takes_nothing_from_its_parent():
    t = shared([1, 2, 3])
    handle = dt.ipc.share(t)
    child = os.fork()
    if child == 0:
        u = dt.ipc.open(handle)
        t[0] = 8
        mine = dt.ipc.empty(2)  # with its own token
        same = path_of(dt.ipc.share(mine))[:-2] == path_of(handle)[:-2]
        del t, u, mine, handle
        os._exit(1 if same else 0)
    assert os.waitpid(child, 0)[1] == 0
    assert t.tolist() == [8, 2, 3]
    assert run("spawn", ipc_workers.describe, handle)[-1] == [8, 2, 3]


def test_threads_share_and_open_at_the_same_time():
    t = shared(list(range(100)))
    errors = []

    def work():
        try:
            for _ in range(200):
                own = shared([1, 2])
                assert dt.ipc.open(bytes(dt.ipc.share(own))).tolist() == [1, 2]
                assert dt.ipc.open(bytes(dt.ipc.share(t[5:6]))).item() == 5
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def _mappings():
    with open("/proc/self/maps") as maps:
        return sum("/dev/shm/dovetail." in line for line in maps)


def test_ten_thousand_cycles_leave_nothing_behind():
    mine = dt.ipc.share(dt.ipc.empty(1))  # creates what a process creates once
    before = (len(os.listdir("/proc/self/fd")), _mappings(), segments(mine))
    for i in range(10_000):
        t = dt.ipc.empty(1 + i % 7)
        u = dt.ipc.open(bytes(dt.ipc.share(t)))
        assert u.data_ptr() == t.data_ptr()
        del t, u
    assert (len(os.listdir("/proc/self/fd")), _mappings(), segments(mine)) == before


def test_ten_thousand_opens_of_another_process_leave_nothing_behind():
    data = bytes(dt.ipc.share(kept := shared([1, 2, 3])))
    code = f"""
        import os
        import dovetail as dt
        def state():
            with open("/proc/self/maps") as maps:
                return len(os.listdir("/proc/self/fd")), sum("dovetail." in m for m in maps)
        dt.ipc.open({data!r})
        before = state()
        for _ in range(10_000):
            assert dt.ipc.open({data!r}).tolist() == [1, 2, 3]
        assert state() == before, (state(), before)
        """
    process.run_python(code)
    assert kept.tolist() == [1, 2, 3]


def test_more_than_there_is_room_for_is_a_memory_error():
    with pytest.raises(MemoryError, match="/dev/shm"):
        dt.ipc.empty(1 << 44)
    with pytest.raises(MemoryError):
        dt.ipc.empty((1 << 60, 7), dtype="uint8")
    with pytest.raises(ValueError, match=r"negative|overflow"):
        dt.ipc.empty(-1)


def test_memory_is_told_of_by_the_statistics():
    before = dt.allocator_stats("cpu", kind="shared")["allocated_bytes"]
    t = dt.ipc.empty(1000, dtype="uint8")
    assert dt.allocator_stats("cpu", kind="shared")["allocated_bytes"] == before + 1000
    del t
    assert dt.allocator_stats("cpu", kind="shared")["allocated_bytes"] == before
