"""set_num_threads, get_num_threads, and large copies on one thread, on several, in a child."""

import os
import threading

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
    dt.set_num_threads(count=1)
    assert dt.get_num_threads() == 1


def test_at_first_it_is_the_number_of_processors():
    assert dt.get_num_threads() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("count", [0, -1])
def test_fewer_than_one_is_refused(count):
    with pytest.raises(ValueError, match=f"not {count}"):
        dt.set_num_threads(count)


@pytest.mark.parametrize("count", [1.5, "2", None])
def test_other_types_are_refused(count):
    with pytest.raises(TypeError):
        dt.set_num_threads(count)


def large():
    """16 MB, transposed by each copy."""
    return np.arange(2000 * 2000, dtype=np.float32).reshape(2000, 2000)


def check(array):
    np.testing.assert_array_equal(dt.from_dlpack(array.T).copy().numpy(), array.T)


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
