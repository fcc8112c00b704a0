"""arange, tensor and tolist of many elements: the same as of each element alone."""

import ml_dtypes
import numpy as np
import pytest

import dovetail as dt

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SMALL = ["int2", "int4", "uint2", "uint4"]
FLOATS = ["float32", "float64"]
NARROW = ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"]
COUNT = 70_000  # more than one block of elements


def limits(name):
    if name in SMALL:
        bits = int(name[-1])
        return (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    info = np.iinfo(name)
    return int(info.min), int(info.max)


def one(value, dtype):
    """The number that a tensor of one element has, or the class of the error."""
    try:
        return dt.tensor(value, dtype=dtype).item()
    except (OverflowError, ValueError) as error:
        return type(error)


def edges(source):
    """Values of a type at and beyond the limits of the integer types."""
    values = {0, 1, 2, 3}
    for name in INTEGERS + SMALL:
        for limit in limits(name):
            values |= {limit - 1, limit, limit + 1}
    if source in FLOATS:
        numbers = np.array([*values, 0.5, -0.5, 127.5, -128.5, np.inf, -np.inf], source)
        near = [np.nextafter(numbers, numbers.dtype.type(to)) for to in (np.inf, -np.inf)]
        return [*numbers.tolist(), *near[0].tolist(), *near[1].tolist(), np.nan]
    low, high = limits(source)
    return sorted(v for v in values if low <= v <= high)


@pytest.mark.parametrize("dtype", INTEGERS + SMALL)
@pytest.mark.parametrize("source", INTEGERS + FLOATS)
@pytest.mark.parametrize("is_strided", [False, True])
def test_an_array_converts_as_its_numbers_do(source, dtype, is_strided):
    for value in edges(source):
        array = np.zeros((COUNT, 2) if is_strided else COUNT, source)
        array = array[:, 1] if is_strided else array
        array[[5, -3]] = value
        expected = one(value, dtype)
        if isinstance(expected, type):
            with pytest.raises(expected, match=dtype):
                dt.tensor(array, dtype=dtype)
            continue
        made = dt.tensor(array, dtype=dtype)
        assert made.dtype == dtype and made.shape == (COUNT,)
        numbers = (made.to("int8") if dtype in SMALL else made).numpy()
        assert numbers[[4, 5, 6, -3, -1]].tolist() == [0, expected, 0, expected, 0]


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float8_e4m3fn", "int4"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int2", "int32"])
def test_an_array_of_small_elements_converts_as_its_numbers_do(source, dtype):
    for value in (-8, -2, -1, 0, 1, 3, 7):
        array = dt.full((COUNT,), value, dtype=source)
        expected = one(value, dtype)
        if isinstance(expected, type):
            with pytest.raises(expected, match=dtype):
                dt.tensor(array, dtype=dtype)
        else:
            assert dt.tensor(array, dtype=dtype)[8].item() == expected


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + NARROW + ["complex64", "bool", "int4"])
@pytest.mark.parametrize("shape", ["flat", "nested"])
@pytest.mark.parametrize("numbers", [[0, 1, True], [0.0, 1.5], [0, 1.5, False]])
def test_a_list_converts_as_its_numbers_do(dtype, shape, numbers):
    data = numbers * 5
    made = dt.tensor(data if shape == "flat" else [data, data], dtype=dtype)
    expected = [one(number, dtype) for number in data]
    assert made.tolist() == (expected if shape == "flat" else [expected, expected])


def test_lists_of_wrong_numbers_are_refused_as_the_numbers_are():
    cases = [(300, "int8"), (-1, "uint8"), (np.nan, "int32"), (np.inf, "int64"), (2**64, "int64"),
             (9, "int4")]  # fmt: skip
    for number, dtype in cases:
        for count in (1, 1000):
            with pytest.raises(one(number, dtype), match=str(number)):
                dt.tensor([*[type(number)(1)] * count, number], dtype=dtype)
    with pytest.raises(OverflowError, match="does not fit int64"):
        dt.tensor([1, 2**63])
    assert dt.tensor([1, 2**63], dtype="uint64").tolist() == [1, 2**63]
    assert dt.tensor([0.5, 2**63], dtype="float64").tolist() == [0.5, 2.0**63]


def test_lists_of_numbers_of_several_kinds_have_the_common_type():
    cases = [([1, 2.5], "float32"), ([True, 2], "int64"), ([True, False], "bool"),
             ([1, 2j], "complex64"), ([np.float64(1), 2], "float64"),
             ([np.int8(1), np.int8(2)], "int8"), ([1, np.arange(1.0)[0]], "float64")]  # fmt: skip
    for numbers, dtype in cases:
        made = dt.tensor(numbers)
        assert made.dtype == dtype and made.tolist() == [one(n, dtype) for n in numbers]
    arrays = [np.arange(3), np.arange(3, dtype=np.int16), [4, 5, 6]]
    assert dt.tensor(arrays).tolist() == [[0, 1, 2], [0, 1, 2], [4, 5, 6]]
    assert dt.tensor([np.arange(2.0)[::-1], [1, 2]], dtype="int8").tolist() == [[1, 0], [1, 2]]


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + NARROW + ["complex64", "bool", "int4"])
@pytest.mark.parametrize("bounds", [(0, 7, 1), (7, 0, -3), (1, 6.0, 2), (0, 3, 0.5), (0.1, 1, 0.1)])
def test_arange_has_the_numbers_of_its_formula(dtype, bounds):
    start, stop, step = bounds
    is_whole = float(step).is_integer() and float(start).is_integer()
    if dtype in [*INTEGERS, "int4"] and not is_whole:
        pytest.skip("refused")
    made = dt.arange(start, stop, step, dtype=dtype)
    assert made.tolist() == [one(start + i * step, dtype) for i in range(len(made))]
    assert len(made) == int(np.ceil((stop - start) / step))


def test_a_long_arange_is_right_at_its_blocks_ends():
    count = 5_000_000
    for dtype in ("int64", "int32", "float64", "float32"):
        made = dt.arange(3, 3 + 2 * count, 2, dtype=dtype).numpy()
        assert np.array_equal(made, np.arange(3, 3 + 2 * count, 2, dtype=dtype))
    made = dt.arange(0, 70_000, dtype="bfloat16").to("float32").numpy()
    theirs = np.arange(70_000).astype(ml_dtypes.bfloat16).astype(np.float32)
    assert np.array_equal(made, theirs)


@pytest.mark.parametrize(
    ("arguments", "dtype"),
    [((300,), "uint8"), ((-1, 1), "uint8"), ((0, 130, 64), "int8"), ((9,), "int4"),
     ((0.0, 300.0), "int8")],
)  # fmt: skip
def test_an_arange_beyond_its_type_is_refused(arguments, dtype):
    with pytest.raises(OverflowError, match=dtype):
        dt.arange(*arguments, dtype=dtype)


@pytest.mark.parametrize("dtype", INTEGERS + SMALL + FLOATS + NARROW + ["complex64", "bool"])
@pytest.mark.parametrize(
    "index",
    [..., slice(None, None, -1), (..., slice(None, None, 2)), 0, (1, 0), slice(0)],
    ids=str,
)
@pytest.mark.parametrize("is_transposed", [False, True])
def test_tolist_gives_each_element(dtype, index, is_transposed):
    numbers = np.array([[0, 1, 1, 0], [1, 0, 1, 1]])
    tensor = dt.tensor(numbers, dtype=dtype)
    if is_transposed:
        tensor, numbers, index = tensor.T, numbers.T, index if isinstance(index, tuple) else ...
        index = index[::-1] if index == (1, 0) else index
    elements = tensor[index].tolist()
    assert elements == numbers[index].tolist()
    assert {type(x) for x in np.array(elements, object).reshape(-1)} <= {type(tensor[0, 0].item())}
