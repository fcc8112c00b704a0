"""numpy.dtype() takes our types: NumPy's own, and those of ml_dtypes where it is installed."""

import warnings

import ml_dtypes
import numpy as np
import pytest
from peers import JAX_FLOAT8, STANDARD
from process import run_python

import dovetail as dt

OF_ML_DTYPES = [
    *("bfloat16", "int2", "int4", "uint2", "uint4", *JAX_FLOAT8),
    *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
]


@pytest.fixture(autouse=True)
def _no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# Rule 63.
@pytest.mark.parametrize("name", STANDARD)
def test_a_type_that_numpy_has_is_numpys(name):
    t = getattr(dt, name)
    # NumPy 2.4 and later read __numpy_dtype__, older ones dtype.
    for found in (np.dtype(t), t.__numpy_dtype__, t.dtype, np.empty(1, dtype=t).dtype):
        assert found is np.dtype(name)
    assert t.type is np.dtype(name).type
    assert dt.dtype(np.dtype(t)) is t


def test_a_type_is_no_device_though_both_have_a_type():
    with pytest.raises(ValueError, match="is no device"):
        dt.zeros(1, device=dt.float32)
    assert not hasattr(dt.dtype("float32x4"), "type")


# Rule 63.
@pytest.mark.parametrize("name", OF_ML_DTYPES)
def test_a_type_that_numpy_lacks_is_that_of_ml_dtypes(name):
    t = getattr(dt, name)
    for found in (np.dtype(t), t.dtype, np.zeros(1).astype(t).dtype):
        assert found == np.dtype(getattr(ml_dtypes, name))
    assert dt.dtype(np.dtype(t)) is t


# Rule 63.
@pytest.mark.parametrize("name", [*STANDARD, "bfloat16", *JAX_FLOAT8])
def test_a_tensors_type_is_that_of_its_array(name):
    t = dt.zeros(3, dtype=name)
    assert np.dtype(t.dtype) == t.numpy().dtype


# Before 2.4, NumPy asks for an attribute, and gives no reason of ours.
gives_reasons = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="NumPy 2.4 is the first that asks a type"
)


@gives_reasons
@pytest.mark.parametrize("name", ["handle", "float32x4", "float4_e2m1fnx2"])
def test_a_type_that_neither_has_is_a_type_error(name):
    t = dt.dtype(name)
    with pytest.raises(TypeError, match=f"neither NumPy nor ml_dtypes .* has a type {name}"):
        np.dtype(t)
    assert not hasattr(t, "dtype")
    with pytest.raises(AttributeError, match=f"dovetail.{name} has no numpy.dtype") as raised:
        _ = t.dtype
    assert isinstance(raised.value.__cause__, TypeError)


def test_comparisons_with_numpys_types_are_true_or_false():
    assert np.dtype("float32") == dt.float32 == np.dtype("float32")
    assert np.dtype("float32") != dt.float64
    assert np.dtype("float32") != dt.handle
    assert dt.handle != np.dtype("float32")


@gives_reasons
def test_without_ml_dtypes_the_error_says_what_to_install():
    printed = run_python("""
        import sys
        sys.modules["ml_dtypes"] = None
        import numpy as np
        import dovetail as dt
        print(np.dtype(dt.float16), hasattr(dt.bfloat16, "dtype"))
        try:
            np.dtype(dt.bfloat16)
        except TypeError as error:
            print(error)
    """)
    assert printed.startswith("float16 False\nNumPy has no type bfloat16; install ml_dtypes")


def test_without_numpy_there_is_no_attribute():
    printed = run_python("""
        import sys
        sys.modules["numpy"] = None
        import dovetail as dt
        print(getattr(dt.float32, "dtype", "none"))
    """)
    assert printed == "none\n"
