"""dovetail.distributed.describe_pair(): layouts, granularity, refusals, plans by costs."""

import ctypes
import gc
import pickle
import sys

import numpy as np
import pytest

import dovetail as dt
from dovetail.distributed import Costs, Layout, describe_pair, measure_costs


def move(pair):
    """Move the bytes of the pair's rows."""
    for (a, n, _), (b, m, _) in zip(pair.a_spans.tolist(), pair.b_spans.tolist(), strict=True):
        assert n == m
        ctypes.memmove(b, a, n)


def move_strided(pair):
    rows = zip(pair.a_strided.tolist(), pair.b_strided.tolist(), strict=True)
    for (a, n, _, a_step, count), (b, m, _, b_step, b_count) in rows:
        assert (n, count) == (m, b_count)
        for i in range(count):
            ctypes.memmove((b + i * b_step) % 2**64, (a + i * a_step) % 2**64, n)


def cache(*shape):
    size = np.prod(shape)
    return (np.arange(size) % 2039).astype(np.float16).reshape(shape)


CASES = {
    "blocks of 16 and of 32": (lambda: cache(8, 16, 4, 8), lambda: cache(4, 32, 4, 8)),
    "blocks of 16 and of 12": (lambda: cache(6, 20, 8)[:, :16], lambda: cache(8, 13, 8)[:, 1:]),
    "tokens first and heads first": (
        lambda: cache(8, 16, 4, 8),
        lambda: cache(4, 4, 32, 8).transpose(0, 2, 1, 3),
    ),
    "half of the heads": (lambda: cache(8, 16, 8, 8)[:, :, 4:], lambda: cache(8, 16, 4, 8)),
    "reversed": (lambda: cache(6, 8)[::-1], lambda: cache(6, 9)[:, 8:0:-1]),
    "0-d": (lambda: cache(1)[0:1].reshape(()), lambda: cache(1, 1)),
    "empty": (lambda: cache(0, 3), lambda: cache(3, 0)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("way", ["spans", "strided", "granularity"])
def test_the_elements_arrive_and_nothing_else_changes(name, way):
    make_a, make_b = CASES[name]
    a, b = make_a(), make_b()
    b[...] = -1
    base = b if b.base is None else b.base
    outside = (base == -1).sum() - b.size
    pair = describe_pair(a, b, granularity=7 if way == "granularity" else None)
    move_strided(pair) if way == "strided" else move(pair)
    assert (b.reshape(-1) == a.reshape(-1)).all()
    assert (base == -1).sum() == outside
    assert pair.nbytes == a.nbytes and pair.a_spans[:, 1].sum() == a.nbytes


@pytest.mark.parametrize("name", ["int8", "bfloat16", "float8_e4m3fn", "complex64"])
def test_types_that_numpy_lacks_move(name):
    a = dt.arange(48, dtype="float32").to(name).reshape(4, 12)
    b = dt.zeros((12, 4), dtype=name)
    move(describe_pair(a, b.T))
    assert b.T.to("complex64").tolist() == a.to("complex64").tolist()


def test_the_rows_are_few():
    a, b = dt.zeros((64, 32)), dt.zeros((64, 32))
    assert describe_pair(a, b).count == 1
    assert describe_pair(a.T, b.T).count == 1  # both column-major
    assert describe_pair(a[::-1], b[::-1]).count == 1
    assert describe_pair(a.reshape(32, 64), b).count == 1
    assert describe_pair(a.T, b.T.copy()).count == 64 * 32
    assert len(describe_pair(a.T, b.T.copy()).a_strided) == 32
    assert describe_pair(a[:, :8], b[:, 8:16]).b_strided.tolist() == [
        [b.data_ptr() + 32, 32, 0, 128, 64]
    ]


def test_runs_that_continue_across_loops_are_merged():
    a = np.arange(4, dtype=np.int64).reshape(2, 2)
    b = np.zeros(4, np.int64)
    pair = describe_pair(a[::-1, ::-1].T, b)  # 3 1 2 0
    assert (pair.count, pair.run_bytes) == (3, (8, 16))
    move(pair)
    assert b.tolist() == [3, 1, 2, 0]
    b[:] = 0
    move_strided(pair)
    assert b.tolist() == [3, 1, 2, 0]


def test_a_broadcast_tensor_is_sent():
    b = np.zeros((3, 4), np.float32)
    move(describe_pair(np.broadcast_to(np.arange(4, dtype=np.float32), (3, 4)), b))
    assert b.tolist() == [[0, 1, 2, 3]] * 3


def test_the_granularity_cuts_each_run_from_its_start():
    a, b = np.zeros((2, 10), np.int8), np.zeros((2, 20), np.int8)
    pair = describe_pair(a, b[:, :10], granularity=4)
    assert (pair.count, pair.run_bytes, pair.granularity) == (6, (2, 4), 4)
    offsets = sorted((pair.a_spans[:, :2] - np.uint64([a.ctypes.data, 0])).tolist())
    assert offsets == [[0, 4], [4, 4], [8, 2], [10, 4], [14, 4], [18, 2]]
    assert describe_pair(a, b[:, :10], granularity=5).run_bytes == (5, 5)
    assert describe_pair(a, b[:, :10], granularity=1 << 70).count == 2
    assert describe_pair(a, a.copy(), granularity=1).count == 20


def test_the_layout_of_another_process_is_enough():
    a, b = dt.zeros((4, 6)), dt.zeros((6, 8))
    layout = pickle.loads(pickle.dumps(Layout.of(b[:, :4])))
    assert layout == Layout.of(b[:, :4])
    assert (layout.size, layout.nbytes, layout.nixl_memory) == (24, 96, "DRAM")
    pair = describe_pair(a, layout)
    assert (pair.b_spans == describe_pair(a, b[:, :4]).b_spans).all()
    assert describe_pair(layout, a).a.address == b.data_ptr()


def test_a_pair_keeps_the_memory_of_tensors():
    a, b = np.zeros(3), np.zeros(3)
    before = sys.getrefcount(a), sys.getrefcount(b)
    pair = describe_pair(a, b)
    gc.collect()
    assert (sys.getrefcount(a), sys.getrefcount(b)) == (before[0] + 1, before[1] + 1)
    del pair
    assert (sys.getrefcount(a), sys.getrefcount(b)) == before


def test_packed_elements_move_in_whole_bytes():
    a = dt.tensor([[1, 2, 3, 4], [5, 6, 7, -8]], dtype="int4")
    b = dt.zeros((2, 4), dtype="int4")
    assert describe_pair(a.T, b.T).count == 1
    move(describe_pair(a[:, 2:], b[:, :2]))
    assert b.to("int8").tolist() == [[3, 4, 0, 0], [7, -8, 0, 0]]
    for x, y in ((a, dt.zeros((4, 2), dtype="int4").T), (a[:1, :3], b[:1, :3])):
        with pytest.raises(dt.ExchangeError, match="inside a byte"):
            describe_pair(x, y)


def test_what_does_not_fit_together_is_refused():
    a = dt.zeros((4, 4))
    with pytest.raises(TypeError, match=r"a has float32 .* and b int32"):
        describe_pair(a, dt.zeros((4, 4), dtype="int32"))
    with pytest.raises(ValueError, match=r"a of shape \(4, 4\) has 16 elements and b .* has 8"):
        describe_pair(a, a[:2])
    for granularity, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error):
            describe_pair(a, a.copy(), granularity=granularity)
    with pytest.raises(AttributeError, match="__dlpack__"):
        describe_pair(a, [1, 2])


def test_what_cannot_receive_is_refused():
    a = dt.zeros((3, 4))
    read_only = np.zeros((3, 4), np.float32)
    read_only.flags.writeable = False
    with pytest.raises(dt.ExchangeError, match="b is read-only; nothing can be received"):
        describe_pair(a, read_only)
    assert describe_pair(read_only, a).count == 1
    shared = Layout.of(a)
    for shape, strides in (((3, 4), (0, 1)), ((3, 4), (2, 1)), ((2, 6), (4, 2)), ((2, 6), (1, 1))):
        with pytest.raises(dt.ExchangeError, match="share memory"):
            describe_pair(a, shared._replace(shape=shape, strides=strides))
    with pytest.raises(dt.ExchangeError, match="beyond what can be addressed"):
        describe_pair(a, shared._replace(strides=(1 << 60, 1)))
    t = dt.zeros(3)
    t.requires_grad = True
    with pytest.raises(dt.ExchangeError, match="detach"):
        describe_pair(t, dt.zeros(3))


def test_an_explanation_names_the_runs_and_the_loops():
    text = describe_pair(dt.zeros((4, 6))[:, :3], dt.zeros((3, 4)).T.copy()).explain()
    assert "4 runs of 12 bytes, 48 bytes of float32" in text
    assert "runs of 12 bytes in loops, steps in bytes: 4 x (a +24, b +12)" in text
    irregular = describe_pair(cache(3, 11)[:, :10], cache(5, 7)[:, :6])
    assert "7 runs of 4 to 12 bytes" in irregular.explain()
    assert "the runs are listed" in irregular.explain()
    assert repr(irregular) == "Pair(7 runs, 60 bytes of float16)"


def test_a_pair_whose_shapes_look_like_a_forgotten_permute_says_so():
    a, b = cache(8, 16, 4, 64), cache(8, 4, 16, 64)
    pair = describe_pair(a, b)
    text = pair.explain()
    assert text.startswith("1 run of 65536 bytes")
    assert "a: shape (8, 16, 4, 64)" in text and "b: shape (8, 4, 16, 64)" in text
    assert "row-major order" in text
    assert "pass a permuted\n  view of b, of shape (8, 16, 4, 64)" in text
    assert repr(pair) == (
        "Pair(1 run, 65536 bytes of float16; (8, 16, 4, 64) to (8, 4, 16, 64) in row-major order,"
        " not permuted)"
    )
    for x, y in (
        (a, b.transpose(0, 2, 1, 3)),  # as it is meant
        (a, cache(4, 32, 4, 64)),  # other blocks
        (a, a.copy()),
        (cache(1, 6, 4), cache(6, 1, 4)),
        (cache(0, 3), cache(3, 0)),
    ):
        pair = describe_pair(x, y)
        assert "permuted" not in pair.explain() and "permuted" not in repr(pair)


def test_the_two_names_are_one_function_whose_docstring_is_whole():
    assert dt.describe_pair is describe_pair
    assert "granularity  the most bytes of a row" in dt.describe_pair.__doc__


def test_the_plan_takes_the_way_of_the_least_seconds():
    a, b = dt.zeros((64, 32)), dt.zeros((64, 32))
    pair = describe_pair(a[:, :16], b[:, 16:])
    free = Costs(transfer=1.0, row=0.0, byte=0.0, copy=1e-3)
    plan = pair.plan(free)
    assert (plan.choice, plan.rows) == (
        "spans",
        {"spans": 64, "staging a": 64, "staging b": 64, "staging both": 1},
    )
    assert plan.seconds["staging both"] == 1.0 + 2 * 1e-3 * pair.nbytes
    dear = Costs(transfer=1.0, row=1.0, byte=0.0, copy=0.0)
    plan = pair.plan(dear)
    assert (plan.choice, plan.seconds["staging both"], plan.costs) == ("staging both", 2.0, dear)
    assert str(plan).startswith("staging both: 2000.000 ms\n  s = a.copy(); the receiver makes r")
    assert "         1 row\n" in str(plan) and "        64 rows\n" in str(plan)
    # A contiguous side needs no staging.
    assert set(describe_pair(a[:, :16], b[:32]).plan(dear).seconds) == {"spans", "staging a"}
    assert set(describe_pair(a, b).plan(dear).seconds) == {"spans"}
    assert "transfer a_spans to b_spans" in str(describe_pair(a, b).plan(dear))
    for bad in (3, (1.0, 1.0, 0.0), measure_costs):
        with pytest.raises(TypeError, match=r"what measure_costs\(\) returns"):
            pair.plan(bad)


def test_the_plan_measures_copies_where_the_costs_have_none():
    a, b = dt.zeros((1 << 14, 64), dtype="uint8"), dt.zeros((1 << 14, 64), dtype="uint8")
    plan = describe_pair(a[::-1, :32], b[:, 32:]).plan()
    assert plan.choice == "staging both"
    assert plan.seconds["spans"] > 0.04  # 16,384 rows
    # As for a layout that is far too large to copy here.
    large = Layout(1 << 40, (1 << 20, 1 << 10), (1 << 12, 1), dt.int8, 8, "cpu", 0, False)
    plan = describe_pair(large, large._replace(address=1 << 50)).plan()
    assert plan.seconds["staging both"] > 0.01


def test_costs_are_measured_by_transfers():
    a, b = dt.full(1 << 16, 3, dtype="uint8"), dt.zeros(1 << 16, dtype="uint8")
    calls = []

    def transfer(a_rows, b_rows):
        calls.append((len(a_rows), int(a_rows[0, 1])))
        for (x, n, _), (y, m, _) in zip(a_rows.tolist(), b_rows.tolist(), strict=True):
            assert n == m and x + n <= a.data_ptr() + a.nbytes and y + n <= b.data_ptr() + b.nbytes
            ctypes.memmove(y, x, n)

    costs = measure_costs(transfer, a, b, repeat=2)
    assert calls == [(1, 256)] * 2 + [(1, 65536)] * 2 + [(128, 256)] * 2
    assert costs.transfer > 0 and costs.row > 0 and costs.byte >= 0 and costs.copy is None
    assert b.tolist() == a.tolist()
    for bad in (a[:100], a[::2]):
        with pytest.raises(ValueError, match="contiguous and have 64 KiB"):
            measure_costs(transfer, bad, b[: bad.size])
