"""A real GPU's memory in two processes, by dovetail.ipc. Skipped where there is none.

python -m pytest processes_test.py      # with dovetail importable, no Bazel needed
"""

import multiprocessing
import signal

import pytest

import dovetail as dt

GPU = dt.backends().get("cuda", "this build has no CUDA backend")
if not isinstance(GPU, int) or GPU == 0:
    pytest.skip(f"no GPU: {GPU}", allow_module_level=True)

N = 1 << 20


@pytest.fixture
def torch():
    library = pytest.importorskip("torch")
    if not library.cuda.is_available():
        pytest.skip("this PyTorch sees no GPU")
    return library


def counting():
    t = dt.ipc.empty(N, dtype="int32", device="cuda:0")
    dt.copyto(t, dt.arange(N, dtype="int32"))
    return t


def borrow(handle, answer, go):
    """Reads, writes when it is told to, reads again, and lets go."""
    t = dt.ipc.open(handle)
    answer.put(t.to("cpu").tolist() == list(range(N)))
    while (told := go.get()) != "let go":
        if told == "write":
            dt.copyto(t, dt.full(N, 7, dtype="int32"))
        answer.put(sum(t.to("cpu").tolist()))
    del t
    dt.trim_memory("cuda:0")
    answer.put("gone")


def read_with_torch(handle, answer, go):
    import torch

    x = torch.from_dlpack(dt.ipc.open(handle))
    answer.put(int(x.sum(dtype=torch.int64)))
    x += 1
    torch.cuda.synchronize()
    answer.put("written")


def start(function, *arguments):
    context = multiprocessing.get_context("spawn")
    answer, go = context.Queue(), context.Queue()
    child = context.Process(target=function, args=(*arguments, answer, go))
    child.start()
    return child, answer, go


def reserved():
    return dt.allocator_stats("cuda:0", kind="shared")["reserved_bytes"]


def test_another_process_reads_and_writes_and_keeps_what_the_owner_let_go():
    t = counting()
    before = reserved()
    child, answer, go = start(borrow, dt.ipc.share(t))
    assert answer.get(timeout=120)
    go.put("write")
    assert answer.get(timeout=60) == 7 * N
    assert sum(t.to("cpu").tolist()) == 7 * N
    del t
    dt.trim_memory("cuda:0", kind="shared")
    assert reserved() == before  # held
    go.put("read")
    assert answer.get(timeout=60) == 7 * N
    go.put("let go")
    assert answer.get(timeout=60) == "gone"
    dt.trim_memory("cuda:0", kind="shared")
    assert reserved() == before - 4 * N
    child.join(60)
    assert child.exitcode == 0


def test_a_borrower_that_was_killed_holds_nothing():
    t = counting()
    before = reserved()
    child, answer, _ = start(borrow, dt.ipc.share(t))
    assert answer.get(timeout=120)
    child.kill()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    del t
    dt.trim_memory("cuda:0", kind="shared")
    assert reserved() == before - 4 * N


@pytest.mark.usefixtures("torch")
def test_torch_reads_and_writes_what_it_opens():
    t = counting()
    child, answer, _ = start(read_with_torch, dt.ipc.share(t))
    assert answer.get(timeout=120) == N * (N - 1) // 2
    assert answer.get(timeout=60) == "written"
    assert t.to("cpu").tolist()[:3] == [1, 2, 3]
    child.join(60)


def test_a_part_of_an_allocation_is_opened_at_its_place():
    t = counting()
    u = t[5:7]
    child, answer, go = start(borrow, dt.ipc.share(u))
    assert answer.get(timeout=120) is False  # two elements are not all
    go.put("read")
    assert answer.get(timeout=60) == 5 + 6
    go.put("let go")
    assert answer.get(timeout=60) == "gone"
    child.join(60)


def test_torchs_own_memory_is_shared(torch):
    x = torch.arange(N, dtype=torch.int32, device="cuda")
    child, answer, go = start(borrow, dt.ipc.share(dt.from_dlpack(x)))
    assert answer.get(timeout=120)
    go.put("write")
    assert answer.get(timeout=60) == 7 * N
    assert int(x.sum()) == 7 * N
    go.put("let go")
    assert answer.get(timeout=60) == "gone"
    child.join(60)


def test_the_pools_memory_is_refused_and_copied_when_asked():
    t = dt.arange(N, dtype="int32").to("cuda:0")
    with pytest.raises(dt.ExchangeError, match="set_allocator"):
        dt.ipc.share(t)
    handle = dt.ipc.share(t, copy=True)
    child, answer, go = start(borrow, handle)
    assert answer.get(timeout=120)
    go.put("let go")
    assert answer.get(timeout=60) == "gone"
    child.join(60)
