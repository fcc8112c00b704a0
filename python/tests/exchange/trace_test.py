"""trace() tells of everything that happens to tensors."""

import gc
import json
import os
import threading

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from process import run_failing, run_python

import dovetail as dt


def kinds(log):
    return [event.kind for event in log]


def test_an_import_tells_its_way_and_that_memory_is_shared():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    with dt.trace() as log:
        dt.from_dlpack(a)
        dt.from_dlpack(torch.ones(2))
        dt.frombuffer(b"1234", dtype=dt.uint8)
    ways = [(e.kind, e.way, e.source, e.target, e.copied) for e in log]
    assert ways == [
        ("import", "NumPy array", "numpy.ndarray", "dovetail.Tensor", False),
        ("import", "DLPack C exchange API", "torch.Tensor", "dovetail.Tensor", False),
        ("import", "bytes", "builtins.bytes", "dovetail.Tensor", False),
    ]
    first = log.events[0]
    assert (first.dtype, first.shape, first.nbytes) == (dt.float32, (2, 3), 24)
    assert first.device == first.to_device == dt.Device("cpu")
    assert first.reason is None and log.copies() == []


def test_a_conversion_is_one_event_with_the_reason_of_its_copy():
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    with dt.trace() as log:
        dt.convert(np.arange(3.0), torch.Tensor)
        dt.convert(frozen, torch.Tensor)
    assert kinds(log) == ["convert", "allocate", "copy", "convert"]
    shared, copied = (log.events[i] for i in (0, 3))
    assert (shared.source, shared.target, shared.copied) == ("numpy.ndarray", "torch.Tensor", False)
    assert copied.copied and "read-only" in copied.reason
    # Its copy is not counted twice.
    assert [event.kind for event in log.copies()] == ["copy"]


def test_a_copy_of_the_producer_counts_as_a_copy():
    class Copies:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

    with dt.trace() as log:
        dt.convert(Copies(), np.ndarray)
    assert [(e.kind, e.way, e.copied) for e in log] == [("convert", "__array__", True)]
    assert [event.kind for event in log.copies()] == ["convert"]


@pytest.mark.parametrize(
    "hand_out, way, caller",
    [
        (lambda t: t.numpy(), "numpy()", None),
        (lambda t: np.from_dlpack(t), "__dlpack__", None),
        (lambda t: torch.utils.dlpack.from_dlpack(t), None, "torch"),
        (lambda t: jnp.from_dlpack(t), "__dlpack__", "jax"),
        (lambda t: memoryview(t), "buffer", None),
        (lambda t: t.__array_interface__, "__array_interface__", None),
        (lambda t: t.__array__(), "__array__", None),
        (lambda t: t.__arrow_c_array__(), "Arrow", None),
        (lambda t: dt.utils.dlpack.to_dlpack(t), "to_dlpack()", None),
    ],
)
def test_an_export_tells_its_way_and_the_library_that_called(hand_out, way, caller):
    t = dt.arange(4)
    with dt.trace() as log:
        hand_out(t)
    (event, *_) = [event for event in log if event.kind == "export"]
    assert way is None or event.way == way
    assert (event.source, event.target, event.copied) == ("dovetail.Tensor", caller, False)


def test_what_fails_is_told_with_the_error():
    t = dt.arange(3.0)
    t.requires_grad = True
    with dt.trace() as log:
        with pytest.raises(AttributeError):
            dt.from_dlpack(3)
        with pytest.raises(BufferError):
            t.__dlpack__()
        with pytest.raises(TypeError):
            dt.convert("text", torch.Tensor)
    assert [(e.kind, e.copied) for e in log] == [
        ("import", None),
        ("export", None),
        ("convert", None),
    ]
    assert "__dlpack__" in log.events[0].reason and "requires_grad" not in log.events[0].reason
    assert "requires grad" in log.events[1].reason.replace("require ", "requires ")
    assert log.events[0].dtype is None and log.events[0].shape is None


def test_copies_casts_and_fills_tell_where_they_are_in_the_program():
    t = dt.arange(6, dtype=dt.int32).reshape(2, 3)
    with dt.trace() as log:
        t.T.contiguous()
        t.to(dt.float64)
        t.fill_(3)
    assert kinds(log) == ["allocate", "copy", "allocate", "cast", "fill"]
    cast = log.events[3]
    assert (cast.dtype, cast.to_dtype, cast.nbytes) == (dt.int32, dt.float64, 48)
    line = test_copies_casts_and_fills_tell_where_they_are_in_the_program.__code__.co_firstlineno
    assert [event.line - line for event in log] == [3, 3, 4, 4, 5]
    assert {event.file for event in log} == {__file__}


def test_work_without_the_gil_and_on_other_threads_is_told_with_its_place():
    t = dt.zeros(1 << 20).reshape(1024, 1024)
    with dt.trace() as log:
        thread = threading.Thread(target=lambda: t.T.contiguous())
        thread.start()
        thread.join()
    (copy,) = log.copies()
    assert copy.file == __file__ and copy.thread != threading.get_native_id()
    assert copy.duration_ns > 0


def test_a_trace_ends_with_its_block_and_keeps_its_events():
    with dt.trace() as log:
        dt.arange(3).copy()
    dt.arange(3).copy()
    assert kinds(log) == ["allocate", "allocate", "copy"]
    assert len(log) == 3 and list(log) == log.events


def test_traces_nest_and_hear_the_same():
    with dt.trace() as outer:
        dt.arange(3)
        with dt.trace() as inner:
            dt.arange(3)
    assert (len(outer), len(inner)) == (2, 1)


def test_events_beyond_the_limit_are_counted():
    with dt.trace(limit=2) as log:
        for _ in range(5):
            dt.arange(3)
    assert (len(log), log.left_out) == (2, 3)
    assert "beyond the limit: 3 events" in str(log)
    with pytest.raises(ValueError, match="negative"), dt.trace(limit=-1):
        pass


def test_a_trace_holds_no_tensor():
    a = np.arange(3)
    released = []

    class Owner:
        __array_interface__ = a.__array_interface__

        def __del__(self):
            released.append(True)

    with dt.trace() as log:
        dt.asarray(Owner())
    gc.collect()
    assert released == [True] and log.events[0].way == "__array_interface__"


def test_the_table_has_a_row_for_each_event_and_a_sum():
    with dt.trace() as log:
        dt.convert(np.arange(6.0).reshape(2, 3), "torch")
        dt.arange(3).to(dt.float32)
    lines = str(log).splitlines()
    assert len(lines) == len(log) + 2
    assert lines[0].split() == ["kind", "way", "what", "tensor", "bytes", "us", "where", "why"]
    assert "numpy.ndarray -> torch.Tensor, shared" in lines[1]
    assert lines[-1] == "exchanges: 1, copies: 1 of 12 bytes"


def test_files_have_each_event(tmp_path):
    with dt.trace() as log:
        dt.from_dlpack(np.arange(3)).to(dt.float32)
    log.to_json_lines(tmp_path / "log.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines] == kinds(log)
    assert lines[0]["dtype"] == "int64" and lines[0]["device"] == "cpu"
    log.to_perfetto(tmp_path / "log.json")
    slices = json.loads((tmp_path / "log.json").read_text())["traceEvents"]
    assert [s["ph"] for s in slices] == ["X"] * len(log)
    assert slices[0]["name"] == "import NumPy array"
    assert slices[0]["ts"] * 1000 == pytest.approx(log.events[0].start_ns, rel=1e-9)


PROGRAM = """
    import numpy as np, dovetail as dt
    dt.from_dlpack(np.arange(3)).to(dt.float32)
"""


def test_the_environment_traces_a_whole_process(tmp_path):
    assert "NumPy array" in run_python(
        "import sys; sys.stderr = sys.stdout\n" + PROGRAM.replace("\n    ", "\n"),
        DOVETAIL_TRACE="1",
    )
    run_python(PROGRAM, DOVETAIL_TRACE=str(tmp_path / "log.jsonl"))
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["import", "allocate", "cast"]
    run_python(PROGRAM, DOVETAIL_TRACE=str(tmp_path / "log.json"))
    assert len(json.loads((tmp_path / "log.json").read_text())["traceEvents"]) == 3


def test_a_setting_that_cannot_be_written_is_an_error_of_the_import(tmp_path):
    path = str(tmp_path / "no such folder" / "log.json")
    status, error = run_failing("import dovetail", DOVETAIL_TRACE=path)
    assert status == 1 and error.startswith("ImportError: DOVETAIL_TRACE=") and path in error


def test_a_path_may_be_of_bytes_that_are_no_utf_8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.jsonl"
    run_python(PROGRAM, DOVETAIL_TRACE=os.fsdecode(path))
    assert os.stat(path).st_size > 0


@pytest.mark.parametrize("setting", ["off", "trace.txt", "/tmp"])
def test_a_setting_that_is_neither_a_switch_nor_a_file_is_an_error_of_the_import(setting):
    status, error = run_failing("import dovetail", DOVETAIL_TRACE=setting)
    assert status == 1 and "is none of: 0, 1" in error


def test_a_relative_path_means_the_folder_at_the_start(tmp_path):
    run_python(
        f"import os; os.chdir({str(tmp_path)!r})\n"
        "import dovetail as dt, numpy as np\n"
        "os.mkdir('later'); os.chdir('later')\n"
        "dt.from_dlpack(np.arange(3))",
        DOVETAIL_TRACE="log.jsonl",
    )
    assert (tmp_path / "log.jsonl").read_text()


def test_a_trace_that_runs_is_not_begun_again():
    with dt.trace() as log:
        dt.zeros(1)
        with pytest.raises(RuntimeError, match="has begun already"):
            log.__enter__()
    assert len(log) > 0


def test_no_copies_nests_and_serves_several_threads():
    guard, inside, leave = dt.no_copies(), threading.Event(), threading.Event()

    def other():
        with guard:
            inside.set()
            leave.wait()
        dt.zeros(1).copy()  # its guard has ended

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with guard:
        with guard:
            pass
        with pytest.raises(dt.ExchangeError):
            dt.zeros(1).copy()
    dt.zeros(1).copy()
    leave.set()
    thread.join()
    with guard, pytest.raises(dt.ExchangeError):
        dt.zeros(1).copy()


def test_an_end_without_a_beginning_is_refused():
    for scope in (dt.trace(), dt.no_copies()):
        with pytest.raises(RuntimeError, match="has not begun; use `with dovetail"):
            scope.__exit__(None, None, None)


def test_an_exception_in_flight_is_not_lost_to_a_trace():
    class Breaks:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **_):
            raise KeyError("mine")

    with dt.trace() as log, pytest.raises(dt.ExchangeError) as caught:
        dt.from_dlpack(Breaks())
    assert isinstance(caught.value.__cause__, KeyError)
    assert kinds(log) == ["import"] and "mine" in log.events[0].reason


# A DataLoader's workers are forked while other threads copy.
FORKED_AMONG_THREADS = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="AddressSanitizer's allocator does not survive it",
)
FORKS = """
    import os, signal, threading
    import numpy as np
    import dovetail as dt

    source = dt.zeros(32 * 1024, dtype=dt.uint8)  # long enough for its copies to release the GIL

    def work():
        while True:
            source.copy()

    def in_child():
        signal.alarm(20)
        with dt.trace() as log:
            dt.from_dlpack(np.arange(3)).to(dt.float32)
        os._exit([event.kind for event in log] != ["import", "allocate", "cast"])

    begun = threading.Event()

    def hold():
        with {scope}:
            begun.set()
            threading.Event().wait()

    threading.Thread(target=hold, daemon=True).start()
    begun.wait()
    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    for _ in range(100):
        child = os.fork()
        if child == 0:
            in_child()
        status = os.waitpid(child, 0)[1]
        if status != 0:
            break
    os._exit(status != 0)
"""


@FORKED_AMONG_THREADS
@pytest.mark.parametrize("scope", ["dt.trace()", "dt.no_copies()"])
def test_children_forked_while_threads_copy_can_trace(scope):
    run_python(FORKS.format(scope=scope), "-W", "ignore::DeprecationWarning")


LOADER = """
    import threading
    import torch
    import dovetail as dt
    from torch.utils.data import DataLoader, Dataset

    class Rows(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, i):
            return dt.convert(dt.full((4,), i, dtype=dt.float32).copy(), torch.Tensor)

    source = dt.zeros(32 * 1024, dtype=dt.uint8)

    stop = threading.Event()

    def work():
        while not stop.is_set():
            source.copy()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        with dt.trace(limit=1000):
            loader = DataLoader(Rows(), batch_size=2, num_workers=2, timeout=30)
            assert sum(batch.sum().item() for batch in loader) == 4 * sum(range(8))
    stop.set()
    for thread in threads:
        thread.join()
"""


@FORKED_AMONG_THREADS
def test_the_workers_of_a_data_loader_make_tensors_under_a_trace():
    run_python(LOADER, "-W", "ignore::DeprecationWarning")
