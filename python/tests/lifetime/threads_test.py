"""set_num_threads, get_num_threads, and large copies on one thread, on several, and after fork."""

import ctypes
import os
import signal
import threading
import weakref

import numpy as np
import pytest

import dovetail as dt


@pytest.fixture(autouse=True)
def threads_as_before():
    before = dt.get_num_threads()
    yield
    dt.set_num_threads(before)


def test_the_number_is_what_was_set():
    dt.set_num_threads(3)
    assert dt.get_num_threads() == 3
    dt.set_num_threads(1)
    assert dt.get_num_threads() == 1


def test_at_first_it_is_the_number_of_processors():
    assert dt.get_num_threads() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("count", [0, -1])
def test_fewer_than_one_is_refused(count):
    with pytest.raises(ValueError, match=f"not {count}"):
        dt.set_num_threads(count)


@pytest.mark.parametrize("count", [4097, 10**9, 2**40])
def test_more_than_the_limit_is_refused_with_the_limit(count):
    with pytest.raises(ValueError, match=f"from 1 to 4096, not {count}"):
        dt.set_num_threads(count)
    dt.set_num_threads(4096)


@pytest.mark.parametrize("count", [1.5, "2", None])
def test_other_types_are_refused(count):
    with pytest.raises(TypeError):
        dt.set_num_threads(count)


def large():
    """A tensor of 16 MB that each copy transposes."""
    return np.arange(2000 * 2000, dtype=np.float32).reshape(2000, 2000)


def check(array):
    np.testing.assert_array_equal(dt.from_dlpack(array.T).copy().numpy(), array.T)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_large_cast_is_the_same_on_any_number_of_threads(count):
    dt.set_num_threads(count)
    array = large()
    for view in (array, array.T, array[:, ::2]):
        cast = dt.from_dlpack(view).to("int16").numpy()
        np.testing.assert_array_equal(cast, view.astype(np.int32).astype(np.int16))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_large_copy_is_the_same_on_any_number_of_threads(count):
    dt.set_num_threads(count)
    check(large())


def test_several_python_threads_may_copy_at_once():
    dt.set_num_threads(2)
    array = large()
    failures = []

    def work():
        try:
            for _ in range(3):
                check(array)
        except AssertionError as e:
            failures.append(e)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_child_process_copies_with_threads_of_its_own():
    dt.set_num_threads(2)
    array = large()
    check(array)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            check(array)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def alarms():
    """Sets the handler of SIGALRM, and sends one every millisecond."""

    def start(handler):
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)

    before = signal.getsignal(signal.SIGALRM)
    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def very_large():
    """A tensor of 256 MB, which no copy finishes in a few milliseconds."""
    return dt.from_dlpack(np.zeros((16384, 16384), np.uint8).T)


LONG_WORK = [lambda tensor: tensor.copy(), lambda tensor: tensor.to("int16")]


@pytest.mark.parametrize("work", LONG_WORK, ids=["copy", "cast"])
def test_signals_are_handled_in_the_midst_of_a_very_large_copy(alarms, work):
    calls = []
    tensor = very_large()
    alarms(lambda *_: calls.append(1))
    calls.clear()
    work(tensor)
    handled = len(calls)
    # One signal was handled after the copy, the others during it. A signal that arrives several
    # times before it is handled is handled once.
    assert handled >= 3


@pytest.mark.parametrize("work", LONG_WORK, ids=["copy", "cast"])
def test_a_handler_that_raises_stops_a_very_large_copy(alarms, work):
    class StoppedError(Exception):
        pass

    def stop(*_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise StoppedError

    tensor = very_large()
    with pytest.raises(StoppedError):
        alarms(stop)
        work(tensor)
    assert work(tensor).shape == (16384, 16384)


class Owner(bytearray):
    pass


def test_a_thread_without_the_gil_leaves_an_owner_to_the_main_thread():
    owner = Owner(8)
    capsule = dt.frombuffer(owner, dtype="uint8").__dlpack__(max_version=(1, 0))
    ended = []
    weakref.finalize(owner, lambda: ended.append(threading.get_ident()))
    del owner
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    managed = api.PyCapsule_GetPointer(ctypes.py_object(capsule), b"dltensor_versioned")
    api.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor_versioned")
    deleter = ctypes.c_void_p.from_address(managed + 16).value  # after version and context
    # A call by ctypes lets go of the GIL, which is free, since this thread waits without it.
    release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)
    thread = threading.Thread(target=release, args=(managed,))
    thread.start()
    thread.join()
    for _ in range(10_000):  # until the interpreter makes its pending calls
        if ended:
            break
    assert ended == [threading.main_thread().ident]
