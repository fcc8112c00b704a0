"""Many threads use the same objects at once. In a Python without the GIL they run at the same time.

The races are for Dovetail's own state: capsules that are consumed once, what is remembered of
classes and calls, reference counts of shared memory. No thread writes where another one reads.
"""

import gc
import sys
import sysconfig
import weakref

import ml_dtypes
import numpy as np
from managed import Lent
from process import run_python
from threads import THREADS, together

import dovetail as dt

ROUNDS = 300
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def consume(capsule):
    """1 if this call took the capsule's tensor, 0 if it was used already."""
    try:
        return dt.from_dlpack(capsule).shape[0] // 3
    except dt.ExchangeError as error:
        assert "consumed already" in str(error)
        return 0


# Rule 26.
def test_one_of_many_threads_consumes_a_capsule():
    rounds = 500 if FREE_THREADED else 20
    lent = [Lent(version=(1, 3) if i % 2 else None) for i in range(rounds)]
    capsules = [x.capsule() for x in lent]
    arrived = [0, 0]  # how far each of two threads is: they wait for each other at each capsule
    taken = [[], []]

    def work(i):
        if i > 1:
            return
        try:
            for n, capsule in enumerate(capsules):
                arrived[i] = n
                while arrived[1 - i] < n:
                    pass
                taken[i].append(consume(capsule))
        finally:
            arrived[i] = rounds

    together(work)
    assert [a + b for a, b in zip(*taken, strict=True)] == [1] * rounds
    capsules.clear()
    gc.collect()
    assert [x.deletions for x in lent] == [1] * rounds


def test_threads_share_a_tensor_and_drop_it():
    def work(i):
        for _ in range(ROUNDS):
            view = shared[0][1:, ::2]
            again = dt.from_dlpack(view, copy=None)
            assert again.data_ptr() == view.data_ptr() and np.from_dlpack(again)[0, 0] == 4
            seen = weakref.ref(again)
            del again
            assert seen() is None

    base = np.arange(12, dtype=np.float32).reshape(3, 4)
    count = sys.getrefcount(base)
    shared = [dt.from_dlpack(base)]
    together(work)
    shared.clear()
    gc.collect()
    assert sys.getrefcount(base) == count


def test_the_owner_goes_when_the_last_of_many_threads_lets_go():
    class Owner(bytearray):
        pass

    for _ in range(ROUNDS // 10):
        owner = Owner(16)
        alive = weakref.ref(owner)
        tensors = [dt.frombuffer(owner, dtype="uint8") for _ in range(THREADS)]
        del owner
        together(lambda i, held=tensors: held.__setitem__(i, None))
        gc.collect()
        assert alive() is None


def test_chains_of_views_of_views_are_released_by_many_threads():
    def chain():
        t = dt.zeros(4)
        for _ in range(500):
            t = dt.from_dlpack(np.asarray(memoryview(t)))
        return t

    def work(i):
        for _ in range(3):
            assert chain().tolist() == [0] * 4

    together(work)


def test_threads_give_arguments_in_different_ways():
    x = np.ones(3, np.float32)

    def work(i):
        for n in range(ROUNDS):
            if (i + n) % 2:
                t = dt.from_dlpack(x, copy=True)
            else:
                t = dt.from_dlpack(x, device="cpu", copy=False)
            assert (t.data_ptr() != x.ctypes.data) == bool((i + n) % 2)
            assert t.__dlpack__(max_version=(1, i % 2)) is not None
            assert dt.tensor([1, 2], dtype="float64", device="cpu").dtype == dt.float64

    together(work)


def test_types_of_other_libraries_are_learned_by_many_threads():
    foreign = (np.float32, np.dtype("int16"), ml_dtypes.bfloat16, np.uint8, np.dtype(np.float64))
    names = ("float32", "int16", "bfloat16", "uint8", "float64")

    def work(i):
        for _ in range(ROUNDS):
            assert [str(dt.dtype(x)).removeprefix("dovetail.") for x in foreign] == list(names)

    together(work)


def test_a_converter_is_replaced_while_it_is_used():
    class Mine:
        def __init__(self, tensor, by):
            self.tensor, self.by = tensor, by

    def work(i):
        for n in range(ROUNDS):
            if i < 2:
                dt.register_converter(Mine, lambda tensor, by=(i, n): Mine(tensor, by))
            else:
                made = dt.convert(np.ones(2), Mine)
                assert made.by[0] < 2 and made.tensor.tolist() == [1, 1]

    dt.register_converter(Mine, lambda tensor: Mine(tensor, (0, -1)))
    together(work)


def test_lists_and_shapes_may_change_while_they_are_read():
    sizes, data = [2, 3], [[1, 2], [3, 4]]

    def work(i):
        for _ in range(ROUNDS):
            if i == 0:
                sizes.append(1)
                sizes.pop()
            elif i == 1:
                data.append([5, 6])
                data.pop()
            elif i % 2:
                assert dt.empty(sizes).shape[:2] == (2, 3)
            else:
                assert dt.tensor(data).tolist()[:2] == [[1, 2], [3, 4]]

    together(work)


def test_the_gradient_mark_is_set_while_others_look():
    t = dt.full((2,), 1.0)

    def work(i):
        for n in range(ROUNDS):
            if i == 0:
                t.requires_grad_(n % 2 == 0)
            else:
                try:
                    assert dt.from_dlpack(t).tolist() == [1, 1]
                except dt.ExchangeError as error:
                    assert "require gradient" in str(error)

    together(work)


def test_the_collector_runs_while_tensors_come_and_go():
    class Owner(bytearray):
        pass

    def work(i):
        for _ in range(ROUNDS // 3):
            if i == 0:
                gc.collect()
                continue
            owner = Owner(8)
            owner.tensor = dt.frombuffer(owner, dtype="uint8")  # a cycle
            assert owner.tensor[1:].tolist() == [0] * 7

    together(work)


def test_the_first_calls_of_a_process_may_be_those_of_many_threads():
    for _ in range(5):
        run_python("""
            import threading
            import numpy as np
            import dovetail as dt

            x = np.arange(6, dtype=np.float32).reshape(2, 3)
            start = threading.Barrier(8)
            done = []

            def work():
                start.wait()
                t = dt.from_dlpack(x, copy=False)
                assert t.numpy().ctypes.data == x.ctypes.data
                assert dt.convert(x, np.ndarray) is x
                assert dt.convert(t, np.ndarray).tolist() == x.tolist()
                assert dt.dtype(np.float32) is dt.float32
                assert np.from_dlpack(t).tolist() == x.tolist()
                assert dt.from_dlpack(t.__dlpack__(max_version=(1, 0))).shape == (2, 3)
                assert dt.from_array_interface(x).tolist() == x.tolist()
                done.append(1)

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(done) == 8
        """)
