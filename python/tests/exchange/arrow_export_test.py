"""Exports tensors as Arrow arrays: as PyArrow sees them, and the structs themselves (rule 62)."""

import gc
import sys
import types

import pyarrow as pa
import pytest
from arrow_structs import TYPES, ArrowArray, ArrowSchema, read, values_address

import dovetail as dt


# Rule 62.
@pytest.mark.parametrize("name", TYPES)
def test_pyarrow_shares_the_tensors_memory(name):
    t = dt.tensor([1, 2, 4], dtype=name)
    array = pa.array(t)
    assert array.type == TYPES[name]
    assert values_address(array) == t.data_ptr()
    assert array.to_pylist() == [1, 2, 4]
    assert array.null_count == 0
    t[1] = 9
    assert array[1].as_py() == 9
    array.validate(full=True)


def test_the_cpu_method_alone_suffices():
    t = dt.arange(4)
    only = types.SimpleNamespace(__arrow_c_array__=t.__arrow_c_array__)
    assert values_address(pa.array(only)) == t.data_ptr()


def test_a_view_starts_at_its_first_element():
    t = dt.arange(6)
    array = pa.array(t[2:5])
    assert array.to_pylist() == [2, 3, 4]
    assert values_address(array) == t.data_ptr() + 16
    assert pa.array(t.reshape(2, 3)[1]).to_pylist() == [3, 4, 5]


def test_a_tensor_is_a_column_of_a_table():
    t = dt.arange(3)
    column = pa.table({"x": t})["x"]
    assert values_address(column.chunk(0)) == t.data_ptr()


# Rule 62.
def test_the_array_keeps_the_memory_and_lets_go_of_it():
    buffer = bytearray(8)
    t = dt.frombuffer(buffer, dtype=dt.uint8)
    array = pa.array(t)
    del t
    gc.collect()
    with pytest.raises(BufferError):
        buffer.append(0)
    assert array.to_pylist() == [0] * 8
    del array
    buffer.append(0)


def test_many_exchanges_leave_nothing_behind():
    buffer = bytearray(8)
    t = dt.frombuffer(buffer, dtype=dt.uint8)
    references = sys.getrefcount(t)
    for _ in range(10_000):
        assert len(pa.array(t)) == 8
    assert sys.getrefcount(t) == references
    del t
    buffer.append(0)


def test_capsules_that_nobody_takes_let_go_of_the_memory():
    buffer = bytearray(8)
    t = dt.frombuffer(buffer, dtype=dt.uint8)
    capsules = [t.__arrow_c_array__(), t.__arrow_c_device_array__()]
    del t
    with pytest.raises(BufferError):
        buffer.append(0)
    del capsules
    buffer.append(0)


# Rule 62.
def test_the_structs_say_what_the_tensor_is():
    t = dt.arange(6)[1:]
    schema_capsule, array_capsule = t.__arrow_c_array__()
    schema, array = read(schema_capsule, ArrowSchema), read(array_capsule, ArrowArray)
    assert (schema.format, schema.field_name, schema.flags) == (b"l", b"", 0)
    assert (array.length, array.null_count, array.offset, array.n_buffers) == (5, 0, 0, 2)
    assert (array.buffers[0], array.buffers[1]) == (None, t.data_ptr())


def test_a_tensor_comes_back_over_the_same_memory():
    t = dt.arange(3)
    back = dt.from_arrow(t)
    assert back.data_ptr() == t.data_ptr()
    assert back.readonly
    t[0] = 7
    assert back.tolist() == [7, 1, 2]


@pytest.mark.parametrize(
    ("tensor", "remedy"),
    [
        (dt.tensor(1.0), r"0 dimensions.*reshape\(-1\)"),
        (dt.arange(6)[::2], r"contiguous\(\)"),
        (dt.arange(6)[::-1], r"contiguous\(\)"),
        (dt.zeros(2, 3).T, r"contiguous\(\)"),
        (dt.tensor([True]), "uint8"),
        (dt.zeros(3, dtype=dt.bfloat16), "bfloat16"),
        (dt.zeros(3, dtype=dt.complex64), "complex64"),
        (dt.tensor([1.0], requires_grad=True), r"detach\(\)"),
    ],
    ids=lambda value: "" if isinstance(value, str) else f"{value.dtype}{value.shape}",
)
def test_what_arrow_can_not_hold_is_refused_with_the_remedy(tensor, remedy):
    for method in (tensor.__arrow_c_array__, tensor.__arrow_c_device_array__):
        with pytest.raises(dt.ExchangeError, match=remedy):
            method()


def test_the_remedies_work():
    assert pa.array(dt.zeros(2, 3).T.contiguous()).to_pylist() == [[0, 0]] * 3
    assert pa.array(dt.arange(6)[::-2].contiguous()).to_pylist() == [5, 3, 1]
    assert pa.array(dt.tensor(1.0).reshape(-1)).to_pylist() == [1]


def test_a_requested_schema_is_a_wish():
    t = dt.arange(3)
    for wish in (pa.int64(), pa.float32(), pa.string()):
        for method in (t.__arrow_c_array__, t.__arrow_c_device_array__):
            for schema, _ in (
                method(wish.__arrow_c_schema__()),
                method(requested_schema=wish.__arrow_c_schema__()),
            ):
                assert read(schema, ArrowSchema).format == b"l"
    assert pa.array(t, type=pa.int64()).to_pylist() == [0, 1, 2]


def test_a_wish_for_fields_can_not_be_met():
    wish = pa.struct([("a", pa.int64())]).__arrow_c_schema__()
    with pytest.raises(dt.ExchangeError, match="nested"):
        dt.arange(3).__arrow_c_array__(wish)
    with pytest.raises(dt.ExchangeError, match="arrow_schema"):
        dt.arange(3).__arrow_c_array__("int64")


def test_unknown_keywords_are_refused_unless_none():
    t = dt.arange(3)
    t.__arrow_c_device_array__(None, later=None)
    with pytest.raises(NotImplementedError, match="later"):
        t.__arrow_c_device_array__(later=1)
    with pytest.raises(TypeError, match="later"):
        t.__arrow_c_array__(later=None)


def test_an_exception_in_flight_survives_a_capsules_end():
    seen = []

    class Owner(bytearray):
        def __del__(self):
            try:
                raise KeyError  # the export must not see a destructor's error
            except KeyError:
                seen.append(True)

    def fail():
        capsules = dt.frombuffer(Owner(4), dtype=dt.uint8).__arrow_c_array__()
        raise LookupError(len(capsules))

    with pytest.raises(LookupError, match="2"):
        fail()
    gc.collect()
    assert seen == [True]
