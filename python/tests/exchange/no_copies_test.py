"""no_copies() refuses copies, on its thread."""

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
    ],
)
def test_no_copies_refuses_what_copies(copy):
    t = dt.arange(6).reshape(2, 3)
    copy(t)
    with dt.no_copies(), pytest.raises(dt.ExchangeError):
        copy(t)
    copy(t)


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
