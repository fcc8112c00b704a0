"""copy(order=), to(), copyto() and assignment across types, compared with NumPy and PyTorch."""

import copy
import sys
import threading
import time

import ml_dtypes
import numpy as np
import pytest
import torch

import dovetail as dt


def numbers(*shape, dtype="float32"):
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)


LAYOUTS = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.transpose(2, 0, 1),
    "reversed": lambda x: x[::-1, :, ::-1],
    "with gaps": lambda x: x[:, ::2, 1:],
    "column-major": lambda x: x.T,
    "one row": lambda x: x[:1],
    "0-D": lambda x: x[0, 0, 0, ...],
    "empty": lambda x: x[:, :0],
}


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_lie_in_memory_as_those_of_numpy(layout, order):
    x = LAYOUTS[layout](numbers(3, 4, 5))
    ours, theirs = dt.from_dlpack(x).copy(order=order), x.copy(order=order)
    assert ours.tolist() == theirs.tolist()
    assert ours.data_ptr() != dt.from_dlpack(x).data_ptr() or not x.size
    moves = [i for i, size in enumerate(x.shape) if size > 1] if x.size else []
    assert [ours.strides[i] for i in moves] == [theirs.strides[i] // 4 for i in moves]


def test_a_copy_is_row_major_unless_said_otherwise():
    t = dt.from_dlpack(numbers(3, 4)).T
    for own in (t.copy(), t.copy("C"), t.copy(order=None), copy.deepcopy(t), t.contiguous()):
        assert own.is_contiguous() and own.tolist() == t.tolist()
    assert t.copy("F").T.is_contiguous()
    for wrong in ["c", "X", "", 1, b"C"]:
        with pytest.raises(ValueError, match="'C', 'F', 'A', 'K'"):
            t.copy(wrong)
    with pytest.raises(TypeError):
        t.copy("C", "F")


@pytest.mark.parametrize(
    "dtype",
    [dt.float16, "float16", np.float16, np.dtype("float16"), torch.float16],
    ids=repr,
)
def test_to_takes_a_type_in_any_form(dtype):
    t = dt.from_dlpack(numbers(2, 3))
    for cast in (t.to(dtype), t.to(dtype=dtype), t.to("cpu", dtype), t.to(None, dtype),
                 t.to(device="cpu", dtype=dtype), t.to(dtype, False, True),
                 t.to(dtype, device="cpu"), t.to(dtype, non_blocking=True),
                 t.to(dt.Device("cpu"), dtype=dtype)):  # fmt: skip
        assert cast.dtype == dt.float16
        assert cast.tolist() == t.tolist()


def test_to_knows_pythons_types():
    t = dt.tensor([0.0, 1.5])
    assert t.to(int).dtype == dt.int64 and t.to(bool).tolist() == [False, True]
    assert t.to(float) is t
    assert t.to(ml_dtypes.bfloat16).dtype == dt.bfloat16


def test_to_is_the_tensor_itself_where_nothing_changes():
    t = dt.from_dlpack(numbers(2, 3))
    other = dt.zeros(1)
    for same in (t.to(), t.to(dt.float32), t.to("cpu"), t.to(torch.device("cpu")), t.to(other),
                 t.to((1, 0)), t.to("cpu", dt.float32), t.to(dt.float32, copy=False)):  # fmt: skip
        assert same is t
    for own in (t.to(dt.float32, copy=True), t.to("cpu", copy=True), t.to(other, False, True),
                t.to(copy=True), t.to(None, None, False, True)):  # fmt: skip
        assert own.data_ptr() != t.data_ptr() and own.tolist() == t.tolist()


def test_to_another_tensor_takes_its_type_and_device():
    assert dt.tensor([1.5, 2.5]).to(dt.zeros(1, dtype="int8")).dtype == dt.int8


def test_to_keeps_the_mark_for_autograd_where_the_type_may_have_it():
    t = dt.zeros(2).requires_grad_()
    assert t.to(dt.float64).requires_grad and t.to(dt.bfloat16).requires_grad
    assert not t.to(dt.int32).requires_grad
    assert torch.zeros(2).requires_grad_().to(torch.float64).requires_grad


@pytest.mark.parametrize(
    "arguments, keywords, error",
    [((object(),), {}, TypeError), (("float31",), {}, ValueError), ((1.5,), {}, TypeError),
     ((dt.float16, "cpu"), {}, TypeError), ((dt.float16,), {"dtype": dt.int8}, TypeError),
     (("cpu", dt.int8, False, False, False), {}, TypeError), ((), {"kind": 1}, TypeError),
     ((dt.float16,), {"copy": "yes"}, TypeError), (("cuda:0",), {}, RuntimeError),
     ((dt.handle,), {}, ValueError)],
    ids=repr,
)  # fmt: skip
def test_to_refuses_what_is_neither_type_nor_device(arguments, keywords, error):
    with pytest.raises(error):
        dt.zeros(3).to(*arguments, **keywords)


SOURCES = [
    lambda: numbers(4),
    lambda: numbers(3, 1, dtype="int16"),
    lambda: numbers(3, 4)[::-1, ::-1],
    lambda: torch.arange(4, dtype=torch.uint8),
    lambda: torch.ones(1, 4, dtype=torch.bfloat16),
    lambda: memoryview(numbers(4, dtype="float64")),
    lambda: [1, 2, 3, 4],
    lambda: [[1.5], [2.5], [3.5]],
    lambda: 7,
    lambda: np.float16(0.5),
    lambda: dt.tensor([True, False, True, True]),
]


@pytest.mark.parametrize("source", range(len(SOURCES)))
def test_copyto_broadcasts_and_casts_anything_that_can_be_exchanged(source):
    src = SOURCES[source]()
    for view in (np.s_[...], np.s_[::-1], np.s_[:, ::-1]):
        ours, theirs = np.full((3, 4), -1.0), np.full((3, 4), -1.0)
        assert dt.copyto(dt.from_dlpack(ours)[view], src) is None
        plain = src.float().numpy() if isinstance(src, torch.Tensor) else src
        np.copyto(theirs[view], plain.tolist() if isinstance(src, dt.Tensor) else plain)
        np.testing.assert_array_equal(ours, theirs)
        assigned = np.full((3, 4), -1.0)
        dt.from_dlpack(assigned)[view] = src
        np.testing.assert_array_equal(assigned, theirs)


TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64", "complex64", "complex128"]  # fmt: skip


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("name", TYPES)
def test_the_rules_for_casting_are_those_of_numpy(name, casting):
    src = dt.zeros(2, dtype=name)
    for to in TYPES:
        dst = dt.zeros(2, dtype=to)
        exists = to.startswith("complex") or to == "bool" or not name.startswith("complex")
        if not np.can_cast(name, to, casting):
            with pytest.raises(TypeError, match=f"{name}.*{to}.*'{casting}'"):
                dt.copyto(dst, src, casting=casting)
        elif exists:
            dt.copyto(dst, src, casting)
        else:
            with pytest.raises(ValueError, match="imaginary"):
                dt.copyto(dst, src, casting)


def test_a_rule_for_casting_holds_for_tensors_without_dimensions():
    for value, name in [(300, "int8"), (-1, "uint8"), (2.5, "int32"), (2, "float32")]:
        dst, expected = dt.zeros(2, dtype=name), np.zeros(2, name)
        dt.copyto(dst, dt.tensor(value), casting="unsafe")
        np.copyto(expected, np.array(value), casting="unsafe")
        assert dst.tolist() == expected.tolist()
        for rule in ("no", "same_kind"):
            if not np.can_cast(dt.tensor(value).numpy().dtype, name, rule):
                with pytest.raises(TypeError, match=f"'{rule}'"):
                    dt.copyto(dst, dt.tensor(value), casting=rule)


NUMBERS = [True, 5, 1.5, float("nan"), 2j, np.bool_(True), np.int8(5), np.int64(5), np.uint8(5),
           np.float32(1.5), np.float64(1.5), np.complex64(2j)]  # fmt: skip


@pytest.mark.parametrize("casting", ["no", "safe", "same_kind"])
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_rule_for_casting_holds_for_numbers_as_in_numpy(number, casting):
    for name in TYPES:
        ours, theirs = dt.zeros(2, dtype=name), np.zeros(2, name)
        try:
            np.copyto(theirs, number, casting=casting)
        except TypeError:
            with pytest.raises(TypeError, match=f"{name}.*'{casting}'"):
                dt.copyto(ours, number, casting=casting)
        else:
            dt.copyto(ours, number, casting=casting)
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_a_rule_for_casting_holds_for_numbers_in_lists():
    target = dt.zeros(2, dtype="int32")
    for numbers in (
        [1, 2.5],
        [1.5, 2],
        [[1.0], [2.0]],
        [np.float64(1), 2],
        [np.ones(1), np.zeros(1)],
        [1, 2j],
    ):
        with pytest.raises(TypeError, match=r"int32.*'same_kind'"):
            dt.copyto(target, numbers)
    assert target.tolist() == [0, 0]
    dt.copyto(target, [1, np.int8(2)])
    assert target.tolist() == [1, 2]
    dt.copyto(target, [1, 2.5], casting="unsafe")
    assert target.tolist() == [1, 2]


def test_numbers_that_are_assigned_lose_their_fraction_as_in_numpy():
    target = dt.zeros(2, dtype="int32")
    target[0] = 1.5
    target[1:] = [2.5]
    assert target.tolist() == [1, 2]


NARROW = ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
          "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float6_e2m3fn",
          "float4_e2m1fn"]  # fmt: skip


@pytest.mark.parametrize("name", NARROW)
def test_a_cast_is_safe_where_every_value_stays_what_it_is(name):
    for to in ["bfloat16", "float16", "float32", "float8_e4m3fn", "float8_e5m2"]:
        bits = dt.dtype(name).bits
        codes = bytes(sum(c << (i * bits) for i, c in enumerate(range(1 << bits))).to_bytes(
            (1 << bits) * bits // 8, "little"))  # fmt: skip
        src = dt.frombuffer(codes, dtype=name, count=1 << bits)
        there = src.to(to).to("float64").tolist()
        stays = repr(there) == repr(src.to("float64").tolist())
        try:
            dt.copyto(dt.zeros(1 << bits, dtype=to), src, casting="safe")
        except TypeError:
            continue
        assert stays


def test_same_kind_lets_floats_lose_precision_but_not_their_fraction():
    ours = dt.zeros(2, dtype="float8_e5m2")
    dt.copyto(ours, np.array([0.3, 1e9]))
    assert ours.tolist() == [0.3125, float("inf")]
    with pytest.raises(TypeError, match=r"float64.*int8.*same_kind"):
        dt.copyto(dt.zeros(2, dtype="int8"), np.ones(2))
    target = dt.zeros(2, dtype="int8")
    dt.copyto(target, np.array([1.9, -1.9]), casting="unsafe")
    assert target.tolist() == [1, -1]


def test_a_value_that_overlaps_is_as_if_copied_first():
    memory = np.arange(8, dtype=np.float32)
    t = dt.from_dlpack(memory)
    dt.copyto(t, t[::-1])
    assert t.tolist() == list(range(7, -1, -1))
    halves = dt.frombuffer(memory, dtype=dt.float16)
    expected = memory[:8].astype(np.float16).tolist()
    dt.copyto(halves[:8], t)
    assert halves[:8].tolist() == expected


@pytest.mark.parametrize(
    "dst, src, keywords, error",
    [(np.zeros(2), [1, 2], {}, TypeError), (dt.zeros(2), [1, 2, 3], {}, ValueError),
     (dt.zeros(2), "ab", {}, TypeError), (dt.zeros(2), None, {}, TypeError),
     (dt.zeros(2), [1, 2], {"casting": "loose"}, ValueError),
     (dt.zeros(2), [1, 2], {"casting": 1}, TypeError),
     (dt.zeros(2, dtype="int8"), 300, {}, OverflowError),
     (dt.frombuffer(bytes(8), dtype=dt.float32), 1, {}, ValueError)],
)  # fmt: skip
def test_copyto_refuses_what_does_not_fit_and_writes_nothing(dst, src, keywords, error):
    with pytest.raises(error):
        dt.copyto(dst, src, **keywords)
    assert not any(dst.tolist())


def test_copyto_needs_both():
    for arguments in [(), (dt.zeros(1),), (dt.zeros(1), 1, "no", 1)]:
        with pytest.raises(TypeError):
            dt.copyto(*arguments)


def test_elements_that_share_bytes_are_cast_into_any_place():
    t = dt.zeros(9, dtype="int4")
    t[3:6] = np.array([1, -2, 3], dtype=np.int64)
    dt.copyto(t[6:], dt.tensor([4, 5, 6], dtype="int8"))
    assert t.tolist() == [0, 0, 0, 1, -2, 3, 4, 5, 6]


def test_tensor_of_an_array_casts_and_still_refuses_what_does_not_fit():
    array = np.array([0.1, 448.0, -3.0e4])
    for name in ["float16", "bfloat16", "float8_e5m2", "complex64", "bool", "float32"]:
        made, cast = dt.tensor(array, dtype=name), dt.from_dlpack(array).to(name)
        assert made.tolist() == cast.tolist() and made.is_contiguous()
    with pytest.raises(OverflowError, match="int8"):
        dt.tensor(array, dtype="int8")
    columns = np.arange(6).reshape(2, 3).T
    assert dt.tensor(columns, dtype="int8").tolist() == columns.tolist()


@pytest.mark.parametrize(
    "work",
    [lambda t: t.to(dt.float16), lambda t: t.T.copy(), lambda t: dt.copyto(t, t.T[::-1]),
     lambda t: t.T.contiguous(), lambda t: dt.tensor(t, dtype="float64")],
    ids=["to", "copy", "copyto", "contiguous", "tensor"],
)  # fmt: skip
def test_other_threads_run_while_much_is_copied(work):
    t = dt.zeros(2000, 2000)
    turns, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0)  # releases the GIL

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    # With so long an interval, threads switch only where the GIL is released.
    sys.setswitchinterval(1000)
    try:
        thread.start()
        before = turns[0]
        for _ in range(50):
            work(t)
            if turns[0] > before:
                break
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert turns[0] > before
