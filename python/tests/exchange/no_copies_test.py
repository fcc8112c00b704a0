"""no_copies() refuses copies, on its thread."""

import copy as copylib
import pickle
import threading

import numpy as np
import pytest
import torch

import dovetail as dt


@pytest.mark.parametrize(
    "copy",
    [
        lambda t: t.copy(),
        lambda t: t.T.contiguous(),
        lambda t: t.T.reshape(-1),
        lambda t: t.to(dt.float64),
        lambda t: dt.tensor(np.arange(3)),
        lambda t: dt.convert(t.expand(2, 2, 3), torch.Tensor),
        lambda t: dt.convert(t, torch.Tensor, copy=True),
        lambda t: dt.from_dlpack(np.arange(3), copy=True),
        lambda t: t.__dlpack__(copy=True),
        lambda t: dt.tensor(dt.tensor([1.5]), dtype="int32"),
        lambda t: dt.tensor(np.zeros(31), dtype="int8"),
        lambda t: dt.tensor(np.zeros(4000), dtype="int8"),
        lambda t: t.T.astype("int64", order="C", copy=False),
        lambda t: t.clone(),
        lambda t: dt.asarray(t, dtype="float32"),
        lambda t: dt.ipc.share(t, copy=True),
        lambda t: t.__array__(np.float64),
        lambda t: t.__array__(copy=True),
        lambda t: t.__array__(None, copy=np.True_),
        lambda t: np.array(t),
        lambda t: np.array(t.T),
        lambda t: np.asarray(t, dtype=np.float32),
        lambda t: np.from_dlpack(t, copy=True),
        lambda t: t.tobytes(),
        lambda t: bytes(t),
        lambda t: copylib.deepcopy(t),
        lambda t: pickle.dumps(t[:, ::2], protocol=4),
        lambda t: pickle.dumps(t.T, protocol=2),
        lambda t: pickle.dumps(dt.zeros((100, 1000))[:, ::3], protocol=5),
    ],
)
def test_no_copies_refuses_what_copies(copy):
    t = dt.arange(6).reshape(2, 3)
    copy(t)
    with dt.no_copies(), pytest.raises(dt.ExchangeError, match=r"no_copies|copy=False"):
        copy(t)
    copy(t)


@pytest.mark.parametrize("count", [2, 511, 512, 4000])
def test_no_copies_lets_numbers_become_a_tensor_and_be_written_however_many(count):
    with dt.no_copies():
        assert dt.tensor([1.5] * count).shape == (count,)
        assert dt.asarray(range(count)).tolist() == list(range(count))
        t = dt.zeros(count)
        t[:] = [2] * count
        dt.copyto(t, [1.5] * count)
        assert t.tolist() == [1.5] * count
        rows = dt.zeros(1, count)
        rows[:] = [np.ones(count)]
        assert rows.tolist() == [[1.0] * count]


def test_no_copies_lets_numpy_and_pickle_share():
    t = dt.arange(6).reshape(2, 3)
    buffers = []
    with dt.no_copies():
        for array in (np.asarray(t), np.asarray(t.T), np.asarray(t, dtype=np.int64),
                      np.from_dlpack(t), t.__array__(), t.__array__(np.int64, copy=False),
                      t.numpy()):  # fmt: skip
            assert array.ctypes.data == t.data_ptr()
        pickle.dumps(t[:, ::2], protocol=5, buffer_callback=buffers.append)
    (buffer,) = buffers
    assert dt.frombuffer(buffer, dtype="uint8").data_ptr() == t.data_ptr()
    assert memoryview(t).shape == (2, 3) and t.__array_interface__["shape"] == (2, 3)


def test_no_copies_of_one_thread_leave_the_buffers_of_others_alone():
    t = dt.arange(3)
    made = []
    with dt.no_copies():
        with pytest.raises(dt.ExchangeError, match=r"t\.numpy\(\) shares"):
            memoryview(t)
        thread = threading.Thread(target=lambda: made.append((np.array(t), memoryview(t))))
        thread.start()
        thread.join()
    assert made[0][0].tolist() == made[0][1].tolist() == [0, 1, 2]


def test_no_copies_lets_pass_what_shares_and_what_writes():
    t = dt.arange(6).reshape(2, 3)
    with dt.no_copies(), dt.trace() as log:
        dt.from_dlpack(np.arange(3))
        assert dt.convert(t, torch.Tensor).data_ptr() == t.data_ptr()
        t.T.numpy()
        t.contiguous()
        t[0] = 7
        t[:] = np.ones((2, 3), dtype=np.int64)
        dt.zeros(3)
    assert {event.copied for event in log.exchanges()} == {False}


def test_no_copies_holds_on_its_own_thread_and_until_its_end():
    t = dt.arange(3)
    done = []
    with dt.no_copies():
        with dt.no_copies():
            pass
        with pytest.raises(dt.ExchangeError):
            t.copy()
        thread = threading.Thread(target=lambda: done.append(t.copy()))
        thread.start()
        thread.join()
    assert len(done) == 1 and t.copy().tolist() == [0, 1, 2]


def test_no_copies_leaves_the_exchanges_of_other_threads_alone():
    begun, done = threading.Event(), threading.Event()

    def hold():
        with dt.no_copies():
            begun.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait()
    with dt.trace() as log:
        assert dt.from_dlpack(np.arange(3), copy=True).tolist() == [0, 1, 2]
        assert dt.convert(dt.arange(3).expand(2, 3), torch.Tensor).tolist() == [[0, 1, 2]] * 2
    done.set()
    thread.join()
    assert len(log.copies()) == 2


def test_no_copies_of_coroutines_end_in_any_order():
    import asyncio

    async def hold(steps):
        with dt.no_copies():
            for _ in range(steps):
                await asyncio.sleep(0)
                with pytest.raises(dt.ExchangeError):
                    dt.arange(3).copy()

    async def both():
        await asyncio.gather(hold(3), hold(1))

    asyncio.run(both())
    assert dt.arange(3).copy().tolist() == [0, 1, 2]


@pytest.mark.parametrize("copies", [True, False])
def test_no_copies_asks_a_producer_to_make_none(copies):
    asked = []

    class Producer:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **keywords):
            asked.append(keywords.get("copy"))
            return dt.arange(3).__dlpack__(**{**keywords, "copy": copies or None})

    class Copies:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

    with dt.no_copies():
        if copies:
            with pytest.raises(dt.ExchangeError):
                dt.from_dlpack(Producer())
        else:
            assert dt.from_dlpack(Producer()).shape == (3,)
        with pytest.raises(dt.ExchangeError, match="a new array each time"):
            dt.asarray(Copies())
        with pytest.raises(dt.ExchangeError):
            dt.from_dlpack(Producer(), copy=True)
    assert set(asked) == {False}


def test_no_copies_ends_on_the_thread_that_it_began_on():
    scope = dt.no_copies()
    scope.__enter__()
    errors = []

    def leave():
        try:
            scope.__exit__(None, None, None)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    assert errors == ["no_copies() has to end on the thread that it began on"]
    scope.__exit__(None, None, None)
    assert dt.arange(3).copy().tolist() == [0, 1, 2]
