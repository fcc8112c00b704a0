"""Imports Arrow arrays of numbers: PyArrow's, Pillow's and hand-made ones (rule 62)."""

import ctypes
import gc
import types

import arrow_structs
import capsules
import numpy as np
import pyarrow as pa
import pytest
from arrow_structs import TYPES, ArrowDeviceArray, LentArrow, read, values_address
from PIL import Image

import dovetail as dt


class Producer:
    """An object whose methods return the given results."""

    def __init__(self, **methods):
        for name, result in methods.items():
            setattr(self, name, lambda *args, result=result, **kwargs: result)


# Rule 62.
@pytest.mark.parametrize("name", TYPES)
def test_a_pyarrow_array_shares_its_memory(name):
    array = pa.array([1, 2, 4], TYPES[name])
    t = dt.from_arrow(array)
    assert t.data_ptr() == values_address(array)
    assert (t.dtype, t.shape, t.tolist()) == (getattr(dt, name), (3,), [1, 2, 4])


def test_a_tensor_from_arrow_is_read_only():
    t = dt.from_arrow(pa.array([1, 2, 4]))
    assert t.readonly
    with pytest.raises(ValueError, match="read-only"):
        t[0] = 5
    assert not np.asarray(t).flags.writeable


def test_a_slice_starts_at_its_offset():
    array = pa.array([1, 2, 4, 8, 16], pa.int16())
    t = dt.from_arrow(array[1:4])
    assert t.tolist() == [2, 4, 8]
    assert t.data_ptr() == values_address(array) + 2
    assert dt.from_arrow(array[1:4][1:]).tolist() == [4, 8]


def test_an_array_of_no_elements_is_a_tensor_of_none():
    assert dt.from_arrow(pa.array([], pa.float64())).shape == (0,)
    assert dt.from_arrow(pa.array([1, 2])[2:]).shape == (0,)


def test_the_memory_goes_back_to_pyarrows_pool_with_the_last_view():
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    array = pa.array(range(1000), pa.int64(), memory_pool=pool)
    taken = pool.bytes_allocated()
    assert taken >= 8000
    t = dt.from_arrow(array)
    del array
    view = t[10:]
    del t
    gc.collect()
    assert pool.bytes_allocated() == taken
    assert view[0].item() == 10
    del view
    assert pool.bytes_allocated() == 0


def test_many_exchanges_leave_nothing_behind():
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    array = pa.array(range(10), pa.int64(), memory_pool=pool)
    taken = pool.bytes_allocated()
    for _ in range(10_000):
        assert dt.from_arrow(array).shape == (10,)
    assert pool.bytes_allocated() == taken
    del array
    assert pool.bytes_allocated() == 0


def test_nulls_are_refused_with_the_remedy():
    array = pa.array([1, None, None])
    with pytest.raises(dt.ExchangeError, match=r"2 of its 3 elements are null.*fill_null"):
        dt.from_arrow(array)
    assert dt.from_arrow(array.fill_null(7)).tolist() == [1, 7, 7]
    assert dt.from_arrow(array[:1]).tolist() == [1]


# Rule 62.
def test_nulls_that_were_not_counted_are_counted():
    values = pa.py_buffer(np.arange(4, dtype=np.int32))
    for bits, nulls in ((0b1111, 0), (0b1011, 1)):
        validity = pa.py_buffer(bytes([bits]))
        array = pa.Array.from_buffers(pa.int32(), 4, [validity, values], null_count=-1)
        if nulls:
            with pytest.raises(dt.ExchangeError, match="1 of its 4"):
                dt.from_arrow(array)
        else:
            assert dt.from_arrow(array).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("array", "remedy"),
    [
        (pa.array([True]), "cast to uint8"),
        (pa.array(["a"]), "text"),
        (pa.array([b"a"]), "byte strings"),
        (pa.array([[1]]), r"pa\.list_"),
        (pa.array([{"a": 1}]), "several fields"),
        (pa.array([None]), "nothing but nulls"),
        (pa.array([1], pa.date32()), r"view\("),
        (pa.array([1], pa.timestamp("us", "UTC")), r"view\("),
        (pa.array([1], pa.decimal128(5)), "float64"),
        (pa.array(["a", "a"]).dictionary_encode(), "dictionary_decode"),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_what_is_no_row_of_numbers_is_refused_with_the_remedy(array, remedy):
    with pytest.raises(dt.ExchangeError, match=remedy):
        dt.from_arrow(array)


def test_dates_viewed_as_integers_are_taken():
    array = pa.array([1, 2], pa.timestamp("us"))
    t = dt.from_arrow(array.view(pa.int64()))
    assert t.tolist() == [1, 2]
    assert t.data_ptr() == values_address(array)


def test_an_extension_type_is_taken_as_its_storage():
    array = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))
    assert dt.from_arrow(array).dtype == dt.int8


def test_an_image_of_pillow_is_taken():
    image = Image.new("L", (3, 2), 7)
    image.putpixel((1, 0), 9)
    t = dt.from_arrow(image)
    del image
    assert (t.dtype, t.tolist()) == (dt.uint8, [7, 9, 7, 7, 7, 7])


def test_an_object_with_the_cpu_method_alone_is_taken():
    array = pa.array([1, 2, 4])
    only = types.SimpleNamespace(__arrow_c_array__=array.__arrow_c_array__)
    assert dt.from_arrow(only).data_ptr() == values_address(array)


def test_objects_without_the_protocol_are_an_attribute_error():
    for x in (3, [1, 2], np.arange(3)):
        with pytest.raises(AttributeError, match="__arrow_c_array__"):
            dt.from_arrow(x)


def test_what_the_producer_raises_is_handed_on():
    class Broken:
        def __arrow_c_array__(self, requested_schema=None):
            raise KeyError("not today")

    with pytest.raises(KeyError, match="not today"):
        dt.from_arrow(Broken())


def test_capsules_of_the_wrong_kind_are_refused():
    lent = LentArrow(b"f", [1.0])
    schema, array = lent.__arrow_c_array__()
    for pair, error in (
        ((array, schema), dt.ExchangeError),
        ((schema, schema), dt.ExchangeError),
        ((schema, 3), dt.ExchangeError),
        ((schema,), TypeError),
        (schema, TypeError),
        (None, TypeError),
    ):
        with pytest.raises(error):
            dt.from_arrow(Producer(__arrow_c_array__=pair))
    assert lent.releases == lent.schema_releases == 0
    assert dt.from_arrow(lent).tolist() == [1]


# Rule 62.
def test_release_is_called_once_when_the_tensor_goes():
    lent = LentArrow(b"f", [1.0, 2.0])
    t = dt.from_arrow(lent)
    assert t.data_ptr() == lent.address
    assert (lent.releases, lent.schema_releases) == (0, 1)
    lent.values[1] = 5.0
    assert t.tolist() == [1, 5]
    del t
    assert (lent.releases, lent.schema_releases) == (1, 1)


# Rule 62.
def test_release_is_called_once_when_the_array_is_refused():
    lent = LentArrow(b"f", [1.0, 2.0], null_count=1)
    with pytest.raises(dt.ExchangeError, match="null"):
        dt.from_arrow(lent)
    assert (lent.releases, lent.schema_releases) == (1, 1)


def test_an_array_that_was_taken_is_refused_the_second_time():
    lent = LentArrow(b"f", [1.0])
    t = dt.from_arrow(lent)
    with pytest.raises(dt.ExchangeError, match="already released or consumed"):
        dt.from_arrow(lent)
    assert t.tolist() == [1]
    del t
    assert lent.releases == 1


# Rule 62.
def test_memory_on_a_device_passes_through():
    lent = LentArrow(b"f", [1.0, 2.0], device=(arrow_structs.CUDA, 1, None))
    t = dt.from_arrow(lent)
    assert (str(t.device), t.shape, t.data_ptr()) == ("cuda:1", (2,), lent.address)
    schema, array = t.__arrow_c_device_array__()
    device_array = read(array, ArrowDeviceArray)
    assert (device_array.device_type, device_array.device_id) == (arrow_structs.CUDA, 1)
    assert device_array.sync_event is None
    assert device_array.array.buffers[1] == lent.address
    with pytest.raises(dt.ExchangeError, match="__arrow_c_device_array__"):
        t.__arrow_c_array__()
    del t
    assert lent.releases == 0
    del schema, array, device_array
    assert lent.releases == 1


# Rule 62.
def test_an_event_that_nobody_can_wait_for_is_refused():
    for device in ((arrow_structs.CUDA, 0, 4096), (arrow_structs.CPU, -1, 4096)):
        lent = LentArrow(b"f", [1.0], device=device)
        with pytest.raises(dt.ExchangeError, match="event"):
            dt.from_arrow(lent)
        assert lent.releases == 1


def test_a_refusal_survives_the_destructors_of_the_producers_capsules():
    destroyed = []

    @ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    def destroy(address):
        destroyed.append(address)

    lent = LentArrow(b"tdD", [1.0])
    destructor = ctypes.cast(destroy, ctypes.c_void_p).value

    def method(self, requested_schema=None):
        return tuple(
            capsules.new(ctypes.addressof(struct), type(struct).name, destructor)
            for struct in (lent.schema, lent.array)
        )

    with pytest.raises(dt.ExchangeError, match="holds dates"):
        dt.from_arrow(type("Destroying", (), {"__arrow_c_array__": method})())
    assert len(destroyed) == 2
