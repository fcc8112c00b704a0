"""Imports columns over Arrow's stream interface: PyArrow's, pandas' and polars' (rule 64)."""

import gc
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from arrow_structs import values_address
from process import run_python

import dovetail as dt


# Rule 64.
def test_a_column_in_one_piece_shares_its_memory():
    array = pa.array([1, 2, 4], pa.int16())
    for column in (pa.chunked_array([array]), pa.table({"x": array})["x"]):
        t = dt.from_arrow(column)
        assert (t.dtype, t.tolist()) == (dt.int16, [1, 2, 4])
        assert t.data_ptr() == values_address(array)


def test_pieces_without_elements_do_not_count():
    array, empty = pa.array([1, 2]), pa.array([], pa.int64())
    t = dt.from_arrow(pa.chunked_array([empty, array, empty]))
    assert t.data_ptr() == values_address(array)
    assert dt.from_arrow(pa.chunked_array([], pa.float32())).shape == (0,)
    assert dt.from_arrow(pa.chunked_array([empty, empty])).shape == (0,)


ENDLESS = """
    import faulthandler, itertools, signal
    import pyarrow as pa
    import dovetail as dt

    faulthandler.dump_traceback_later(60, exit=True)
    empty = pa.record_batch({"a": pa.array([], pa.int64())})
    # An iterator in C: no bytecode runs between the batches, so nothing else looks for signals.
    stream = pa.RecordBatchReader.from_batches(empty.schema, itertools.repeat(empty))
"""


def test_a_stream_of_nothing_but_empty_pieces_is_refused_in_the_end():
    code = """
    try:
        dt.from_arrow(stream)
    except dt.ExchangeError as error:
        print(error)
    """
    assert "1048576 arrays without elements" in run_python(ENDLESS + code)


def test_reading_a_stream_heeds_signals():
    code = """
    class Alarm(Exception): pass
    def ring(*_): raise Alarm
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        dt.from_arrow(stream)
    except Alarm:
        print("stopped")
    """
    assert run_python(ENDLESS + code) == "stopped\n"


def test_several_pieces_have_to_be_combined_first():
    chunked = pa.chunked_array([[1, 2], [4]])
    with pytest.raises(dt.ExchangeError, match=r"combine_chunks\(\)"):
        dt.from_arrow(chunked)
    assert dt.from_arrow(chunked.combine_chunks()).tolist() == [1, 2, 4]


def test_a_table_is_refused_with_the_remedy():
    table = pa.table({"a": [1]})
    with pytest.raises(dt.ExchangeError, match=r"column\(i\)"):
        dt.from_arrow(table)
    assert dt.from_arrow(table.column(0)).tolist() == [1]


def test_a_series_of_polars_shares_its_memory():
    series = pl.Series([1.5, 2.5, 4.0])
    t = dt.from_arrow(series)
    assert t.tolist() == [1.5, 2.5, 4.0]
    assert t.data_ptr() == series.to_numpy(allow_copy=False).ctypes.data
    several = pl.concat([series, series], rechunk=False)
    with pytest.raises(dt.ExchangeError, match=r"rechunk\(\)"):
        dt.from_arrow(several)
    assert dt.from_arrow(several.rechunk()).shape == (6,)


@pytest.mark.skipif(
    not hasattr(pd.Series, "__arrow_c_stream__"), reason="pandas before 3.0 exports no columns"
)
def test_a_series_of_pandas_shares_its_memory():
    values = np.array([1, 2, 4], np.int32)
    assert dt.from_arrow(pd.Series(values, copy=False)).data_ptr() == values.ctypes.data
    series = pd.Series([1, 2, 4], dtype="int64[pyarrow]")
    t = dt.from_arrow(series)
    assert t.tolist() == [1, 2, 4]
    assert t.data_ptr() == values_address(series.array.__arrow_array__().chunk(0))


def test_nulls_are_refused():
    with pytest.raises(dt.ExchangeError, match="1 of its 2 elements are null"):
        dt.from_arrow(pl.Series([1, None]))


def test_the_memory_outlives_the_column():
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    column = pa.chunked_array([pa.array(range(1000), pa.int64(), memory_pool=pool)])
    t = dt.from_arrow(column)
    del column
    gc.collect()
    assert t[999].item() == 999
    assert pool.bytes_allocated() > 0
    del t
    assert pool.bytes_allocated() == 0


def test_many_exchanges_leave_nothing_behind():
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    column = pa.chunked_array([pa.array(range(10), pa.int64(), memory_pool=pool)])
    taken = pool.bytes_allocated()
    several = pa.chunked_array([column.chunk(0), column.chunk(0)])
    for _ in range(1000):
        assert dt.from_arrow(column).shape == (10,)
        with pytest.raises(dt.ExchangeError):
            dt.from_arrow(several)
    del several
    assert pool.bytes_allocated() == taken
    del column
    assert pool.bytes_allocated() == 0


def test_capsules_of_the_wrong_kind_are_refused():
    schema = pa.int64().__arrow_c_schema__()
    for capsule in (schema, None, 3):
        producer = types.SimpleNamespace(__arrow_c_stream__=lambda capsule=capsule: capsule)
        with pytest.raises(dt.ExchangeError, match="arrow_array_stream"):
            dt.from_arrow(producer)


def test_a_stream_that_was_taken_is_refused_the_second_time():
    capsule = pa.chunked_array([[1, 2]]).__arrow_c_stream__()
    producer = types.SimpleNamespace(__arrow_c_stream__=lambda: capsule)
    assert dt.from_arrow(producer).tolist() == [1, 2]
    with pytest.raises(dt.ExchangeError, match="already released"):
        dt.from_arrow(producer)


def test_what_the_producer_raises_is_handed_on():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise KeyError("not today")

    with pytest.raises(KeyError, match="not today"):
        dt.from_arrow(Broken())


def test_the_error_of_a_producer_in_the_middle_of_a_stream_is_handed_on():
    def batches():
        yield pa.record_batch({"x": [1, 2]})
        raise ValueError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())
    with pytest.raises(dt.ExchangeError, match="the disk is gone"):
        dt.from_arrow(reader)
