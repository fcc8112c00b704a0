"""Tables and other objects with __array__ and no zero-copy protocol; mappings; masked arrays."""

import collections

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dovetail as dt

ROWS = [[0.5, 2.5], [1.5, 3.5]]


class Labelled:
    """Like xarray, Dask and TensorFlow variables: has __array__, and is a number and a sequence."""

    def __init__(self, values):
        self.values, self.calls = values, 0

    def __array__(self, dtype=None, copy=None):
        self.calls += 1
        return self.values

    def __float__(self):
        raise TypeError("only one element is a number")

    def __index__(self):
        raise TypeError("only one element is an index")

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return float(self.values[i])


class Fresh(Labelled):
    """Each call of __array__ returns new memory."""

    def __array__(self, dtype=None, copy=None):
        return super().__array__().copy()


TABLES = {
    "DataFrame": (pd.DataFrame(ROWS), ROWS, "float64"),
    "labelled DataFrame": (pd.DataFrame(ROWS, columns=["a", "b"]), ROWS, "float64"),
    "DataFrame of ints": (pd.DataFrame([[1, 2], [3, 4]], dtype="uint8"), [[1, 2], [3, 4]], "uint8"),
    "Series": (pd.Series([1.1, 2.2]), [1.1, 2.2], "float64"),
    "labelled Series": (pd.Series([1.1, 2.2], index=[5, 7]), [1.1, 2.2], "float64"),
    "Series of one": (pd.Series([1.1]), [1.1], "float64"),
    "Series of complex128": (pd.Series([1j, 2.0]), [1j, 2], "complex128"),
    "Series of uint8": (pd.Series([1, 255], dtype="uint8"), [1, 255], "uint8"),
    "Series of Int64": (pd.Series([1, 2], dtype="Int64"), [1, 2], "int64"),
    "Index": (pd.Index([3, 4]), [3, 4], "int64"),
    "polars.DataFrame": (pl.DataFrame(ROWS, orient="row"), ROWS, "float64"),
    "polars.Series": (pl.Series([1.1, 2.2]), [1.1, 2.2], "float64"),
    "polars.Series of uint8": (pl.Series([1, 255], dtype=pl.UInt8), [1, 255], "uint8"),
    "__array__": (Labelled(np.array([1.1, 2.2])), [1.1, 2.2], "float64"),
    "__array__ of one": (Labelled(np.array([1.1])), [1.1], "float64"),
    "__array__ of none": (Labelled(np.zeros((0, 3), "uint8")), [], "uint8"),
    "__array__ without dimensions": (Labelled(np.array(1.1)), 1.1, "float64"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_comes_in_as_its_array(name):
    table, values, dtype = TABLES[name]
    t = dt.tensor(table)
    assert (t.tolist(), t.dtype.name) == (values, dtype)
    assert dt.tensor(table, dtype="complex128").tolist() == values
    assert dt.convert(table, dt.Tensor).tolist() == values
    array = dt.convert(table, np.ndarray)
    assert (array.tolist(), array.dtype.name) == (values, dtype)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_written_as_its_array(name):
    table, values, dtype = TABLES[name]
    shape = np.shape(values) if len(np.shape(values)) != 1 or values else (0, 3)
    for write in (lambda t: t.__setitem__(..., table), lambda t: dt.copyto(t, table)):
        t = dt.zeros(shape, dtype=dtype)
        write(t)
        assert t.tolist() == values


def test_a_table_within_lists_is_one_of_the_arrays():
    t = dt.tensor([pd.Series([1.1, 2.2]), pl.Series([3.0, 4.0])])
    assert (t.tolist(), t.dtype) == ([[1.1, 2.2], [3.0, 4.0]], dt.float64)
    assert dt.full((2,), Labelled(np.array(1.5))).dtype == dt.float64


def test_a_new_tensor_is_its_own():
    values = np.array([1.0, 2.0])
    t = dt.tensor(Labelled(values))
    t[0] = 5
    assert values.tolist() == [1, 2]


def test_convert_shares_what_the_array_shares_and_its_access():
    values = np.array([1.0, 2.0])
    t = dt.convert(Labelled(values), dt.Tensor)
    assert t.data_ptr() == values.ctypes.data and not t.readonly
    values.flags.writeable = False
    assert dt.convert(Labelled(values), dt.Tensor).readonly
    frame = pd.DataFrame(ROWS)
    t = dt.convert(frame, dt.Tensor, copy=False)
    assert t.data_ptr() == frame.to_numpy().ctypes.data
    assert t.readonly == (not np.asarray(frame).flags.writeable)


def test_the_array_is_held_as_long_as_it_is_used():
    fresh = Fresh(np.arange(1000.0))
    t = dt.convert(fresh, dt.Tensor)
    others = [dt.convert(fresh, dt.Tensor) for _ in range(20)]
    assert len({o.data_ptr() for o in [t, *others]}) == 21
    del others, fresh
    assert t.tolist() == list(range(1000))


def test_an_array_that_is_new_each_time_is_no_sharing():
    for target in (dt.Tensor, np.ndarray):
        with pytest.raises(dt.ExchangeError, match=r"__array__.*copy=False"):
            dt.convert(Fresh(np.ones(3)), target, copy=False)
    values = np.ones(3)
    assert dt.convert(Labelled(values), dt.Tensor, copy=False).data_ptr() == values.ctypes.data


def test_explain_tells_whether_the_array_is_new():
    assert dt.explain(Labelled(np.ones(3)), dt.Tensor).aliases is True
    report = dt.explain(Fresh(np.ones(3)), dt.Tensor)
    assert (report.aliases, report.door) == (False, "__array__")
    report = dt.explain(Fresh(np.ones(3)), dt.Tensor, copy=False)
    assert report.aliases is None and isinstance(report.refused, dt.ExchangeError)


def test_the_array_is_asked_for_once_and_after_the_doors_that_share():
    x = Labelled(np.ones(3))
    dt.tensor(x)
    assert x.calls == 1

    class AlsoDLPack(Labelled):
        def __dlpack__(self, **keywords):
            return np.array([7.0]).__dlpack__(**keywords)

        def __dlpack_device__(self):
            return (1, 0)

    x = AlsoDLPack(np.ones(3))
    assert dt.tensor(x).tolist() == [7.0] and x.calls == 0


def test_from_dlpack_does_not_ask_for_it():
    with pytest.raises(AttributeError, match="__dlpack__"):
        dt.from_dlpack(pd.Series([1.0]))


@pytest.mark.parametrize("result", [[1, 2], None, 5], ids=repr)
def test_what_is_no_array_of_numpy_is_a_type_error_that_names_the_class(result):
    with pytest.raises(TypeError, match=r"Labelled\.__array__\(\) returned"):
        dt.tensor(Labelled(result))


def test_an_error_of_the_method_is_seen():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("not computed")

    with pytest.raises(RuntimeError, match="not computed"):
        dt.tensor(Broken())
    t = dt.zeros(2)
    with pytest.raises(RuntimeError, match="not computed"):
        t[...] = Broken()


@pytest.mark.parametrize("table", [pd.DataFrame({"a": [1], "b": ["x"]}), pd.Series(["x"])])
def test_a_table_of_objects_is_refused(table):
    with pytest.raises(BufferError):
        dt.tensor(table)


def test_numbers_of_numpy_stay_numbers():
    t = dt.zeros(2, dtype="int8")
    t[...] = np.float64(1.75)  # converted as a number, so the fraction is dropped
    assert t.tolist() == [1, 1]
    with pytest.raises(OverflowError):
        t[...] = np.int64(300)


# Mappings


class Mapping(collections.abc.Mapping):
    def __getitem__(self, key):
        return {0: 5, 1: 6}[key]

    def __iter__(self):
        return iter((0, 1))

    def __len__(self):
        return 2


@pytest.mark.parametrize("mapping", [Mapping(), {0: 5}, collections.UserDict({0: 5, 1: 6})])
def test_a_mapping_is_refused_with_what_to_give_instead(mapping):
    t = dt.zeros(2)
    for use in (
        lambda: dt.tensor(mapping),
        lambda: dt.tensor([mapping]),
        lambda: t.__setitem__(..., mapping),
        lambda: dt.copyto(t, mapping),
    ):
        with pytest.raises(TypeError, match=r"mapping.*values\(\)"):
            use()
    assert t.tolist() == [0, 0]
    assert dt.tensor(list(Mapping().values())).tolist() == [5, 6]


# Masked arrays


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize(
    "use",
    [
        dt.tensor,
        dt.from_dlpack,
        dt.from_array_interface,
        lambda x: dt.frombuffer(x, dtype=dt.float64),
        lambda x: dt.convert(x, dt.Tensor),
        lambda x: dt.convert(x, np.ndarray),
        lambda x: dt.tensor([x, x]),
        lambda x: dt.zeros(2).__setitem__(..., x),
        lambda x: dt.copyto(dt.zeros(2), x),
        lambda x: dt.tensor(Labelled(x)),
    ],
)
def test_masked_elements_are_refused_with_the_remedy(use):
    with pytest.raises(dt.ExchangeError, match=r"masked.*filled"):
        use(MASKED)


def test_the_masked_constant_is_no_number():
    with pytest.raises(dt.ExchangeError, match="masked"):
        dt.tensor([1.0, np.ma.masked])
    t = dt.zeros(2)
    with pytest.raises(dt.ExchangeError, match="masked"):
        t[0] = np.ma.masked


@pytest.mark.parametrize("mask", [np.ma.nomask, [False, False]], ids=str)
def test_a_masked_array_without_masked_elements_is_an_array(mask):
    a = np.ma.array([1.0, 2.0], mask=mask)
    assert dt.tensor(a).tolist() == [1, 2]
    assert dt.from_dlpack(a).data_ptr() == a.ctypes.data
