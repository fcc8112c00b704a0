"""==, `in` and the other comparisons of tensors, types and devices."""

# The tests use both operators, with the operands in both orders.
# ruff: noqa: SIM201, SIM202, SIM300, E721

import decimal
import fractions
import math
import operator
from unittest import mock

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch
from managed import Lent, Producer
from peers import JAX_FLOAT8, STANDARD, TORCH_FLOAT8, paddle

import dovetail as dt

# Tensors


ONE = dt.arange(3)[1]


@pytest.mark.parametrize(
    "number",
    [1, 1.0, True, 1 + 0j, np.int8(1), np.float64(1), decimal.Decimal(1), fractions.Fraction(1),
     dt.tensor(1), dt.tensor([[1.0]]), np.array(1), torch.tensor(1)],
    ids=repr,
)  # fmt: skip
def test_a_tensor_of_one_element_compares_as_its_number(number):
    assert ONE == number and number == ONE
    assert not ONE != number
    assert dt.arange(3)[2] != number and not dt.arange(3)[2] == number


def test_order_is_that_of_the_numbers():
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        compare = getattr(operator, name)
        for other in (0, 1, 1.5, np.int64(2), dt.tensor(1)):
            assert compare(ONE, other) == compare(1, float(other)), (name, other)
            assert compare(other, ONE) == compare(float(other), 1), (name, other)


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("number", [0.1, 1 / 3, 16777217, 1e-9])
def test_pythons_numbers_are_rounded_to_the_type_as_numpy_and_torch_do(name, number):
    theirs = torch.tensor(number, dtype=getattr(torch, name))
    is_finite = math.isfinite(theirs.real)
    assert (dt.tensor(number, dtype=name) == number) is (bool(theirs == number) and is_finite)
    assert (dt.tensor(1.0, dtype=name) == number) is False


def test_numbers_of_numpy_are_compared_as_they_are():
    assert dt.tensor(0.1) != np.float64(0.1)
    assert dt.tensor(0.1) == np.float32(0.1)
    assert dt.tensor(0.1) != np.float16(0.1)
    assert dt.tensor(0.1) != dt.tensor(0.1, dtype="float64")


def test_integers_are_not_cut_to_the_type():
    assert dt.tensor(1) != 1.5
    assert dt.tensor(44, dtype="uint8") != 300
    assert dt.tensor(0) != 1 << 64
    assert dt.tensor(math.inf, dtype="float16") != 70000
    assert dt.tensor(math.inf, dtype="float16") == math.inf
    assert dt.tensor(math.nan) != math.nan


def test_in_finds_a_number():
    t = dt.arange(3)
    assert 1 in t and 2.0 in t and 5 not in t
    assert 5 not in dt.zeros(0)
    with pytest.raises(TypeError, match=r"t\.numpy\(\)"):
        operator.contains(dt.zeros(2, 2), 1)


@pytest.mark.parametrize(
    "other", [1, 1.5, [1, 2], (1, 2), range(2), "t", dt.zeros(2), torch.ones(2), b"ab"], ids=repr
)
@pytest.mark.parametrize("op", [operator.eq, operator.ne, operator.lt, operator.ge])
def test_several_elements_are_no_number_and_the_error_names_numpy(other, op):
    t = dt.zeros(2)
    other = t if other == "t" else other
    with pytest.raises(TypeError, match=r"tensor of 2 elements.*t\.numpy\(\)"):
        op(t, other)
    if not isinstance(other, torch.Tensor):
        with pytest.raises(TypeError, match=r"tensor of 2 elements.*t\.numpy\(\)"):
            op(other, t)


def test_an_empty_tensor_has_no_number():
    with pytest.raises(TypeError, match="tensor of 0 elements"):
        operator.eq(dt.zeros(0), 0)


def test_an_array_of_numpy_compares_element_by_element_on_either_side():
    a = np.array([0, 5, 2])
    for result in (dt.arange(3) == a, a == dt.arange(3)):
        assert result.tolist() == [True, False, True]
    assert (dt.arange(3) < a).tolist() == [False, True, False]


@pytest.mark.parametrize("tensor", [ONE, dt.zeros(2)], ids=["one", "two"])
def test_other_objects_are_unequal_and_without_order(tensor):
    for other in (None, "1", object(), {}, dt.int64, dt.Device("cpu")):
        assert not tensor == other and tensor != other
        with pytest.raises(TypeError):
            operator.lt(tensor, other)
    assert tensor == mock.ANY  # mock.ANY decides


def test_a_tensor_is_a_key_as_the_object_that_it_is():
    tensors = [dt.zeros(2), dt.zeros(2), dt.tensor(1)]
    table = {t: i for i, t in enumerate(tensors)}
    assert [table[t] for t in tensors] == [0, 1, 2]
    assert 1 not in table


def test_what_the_host_cannot_read_is_refused():
    device = (42, 0)
    t = dt.from_dlpack(Producer(lambda **keywords: Lent((1,), device=device).capsule(), device))
    with pytest.raises(dt.ExchangeError):
        operator.eq(t, 1)


def test_vectors_are_no_numbers():
    with pytest.raises(TypeError, match="lanes"):
        operator.eq(dt.zeros(1, dtype="float32x4"), 0)


# Types


EVERY_NAME = [*STANDARD, "bfloat16", "float8_e4m3fn", "int4", "float32x4"]


@pytest.mark.parametrize("name", EVERY_NAME)
def test_a_type_equals_its_name_and_hashes_as_it(name):
    t = dt.dtype(name)
    assert t == name and name == t and not t != name
    assert {name: 1}[t] == 1 and t in {name} and name in {t}
    assert t != "uint2" and t != "handle"


@pytest.mark.parametrize("name", STANDARD)
def test_a_type_equals_those_of_other_libraries(name):
    t = dt.dtype(name)
    for theirs in (np.dtype(name), getattr(np, name), getattr(torch, name)):
        assert t == theirs and theirs == t, theirs
    assert t != np.dtype("M8[s]") and t != torch.qint8 and t != np.dtype(">f4")
    assert (t == float) is (name == "float32")


@pytest.mark.parametrize("name", JAX_FLOAT8)
def test_a_narrow_type_equals_those_of_other_libraries(name):
    t = dt.dtype(name)
    assert t == getattr(ml_dtypes, name) and t == np.dtype(getattr(ml_dtypes, name))


@pytest.mark.parametrize("name", ["bfloat16", *TORCH_FLOAT8])
def test_a_narrow_type_equals_that_of_torch(name):
    assert dt.dtype(name) == getattr(torch, name)


def test_bfloat16_equals_those_of_jax_and_paddle():
    assert dt.bfloat16 == jnp.bfloat16 and dt.bfloat16 == paddle.bfloat16


def test_a_type_is_unequal_to_other_objects_and_asks_them_for_nothing():
    class Text:
        asked = False

        def __str__(self):
            Text.asked = True
            return "float32"

    for other in (None, 5, "float", "no type", b"float32", [], object(), Text(), np.float32(1),
                  dt.zeros(2), dt.Device("cpu")):  # fmt: skip
        assert not dt.float32 == other and dt.float32 != other
    assert not Text.asked
    assert dt.float32 == mock.ANY


# Devices


def test_a_device_equals_its_name_and_hashes_as_it():
    for name in ("cpu", "cuda:0", "cuda:1", "rocm:3", "cuda_host", "device(42):1"):
        device = dt.Device(name)
        assert device == name and name == device and not device != name
        assert {name: 1}[device] == 1 and name in {device}
    assert dt.Device("cuda:0") == "cuda" and dt.Device("cuda:1") != "cuda"
    assert dt.zeros(2).device == "cpu" != dt.Device("cuda")
    assert dt.Device("cpu") != "no device" and dt.Device("cpu") != "CPU"


def test_a_device_equals_those_of_other_libraries():
    assert dt.Device("cpu") == torch.device("cpu") and torch.device("cpu") == dt.Device("cpu")
    assert dt.Device("cuda:2") == torch.device("cuda:2") != dt.Device("cuda:1")
    assert dt.Device("cpu") == paddle.CPUPlace()
    assert dt.Device("cuda:3") == (2, 3) and dt.Device("cuda:3") != (2, 4)


def test_a_device_is_unequal_to_other_objects():
    for other in (None, 1, (1, 2, 3), ("cpu", 0), [], object(), dt.float32, dt.zeros(2), b"cpu"):
        assert not dt.Device("cpu") == other and dt.Device("cpu") != other
    assert dt.Device("cpu") == mock.ANY
