"""Names of PyTorch's and NumPy's for facts, copies and writes; operators that a tensor has not."""

import numpy as np
import pytest
import torch

import dovetail as dt


def test_facts_are_those_of_pytorch():
    theirs = torch.arange(24.0).reshape(2, 3, 4)[1:, :, ::2].permute(2, 0, 1)
    ours = dt.from_dlpack(theirs)
    for name in ("numel", "dim", "element_size", "stride"):
        assert getattr(ours, name)() == getattr(theirs, name)(), name
    assert [ours.stride(d) for d in (0, -1)] == [theirs.stride(d) for d in (0, -1)]
    assert ours.is_cuda is theirs.is_cuda is False
    with pytest.raises(IndexError):
        ours.stride(3)


def test_the_offset_counts_from_the_start_of_the_shared_memory():
    tensor = dt.arange(12).reshape(3, 4)
    assert [tensor.storage_offset(), tensor[2].storage_offset()] == [0, 8]
    assert tensor[::-1].storage_offset() == 8
    with pytest.raises(ValueError, match="no whole number of elements"):
        dt.frombuffer(bytes(9), dtype="uint8")[1:].view("float32").storage_offset()


def test_astype_copies_as_numpy_does():
    array = np.array([[1.5, -2.7], [3.2, 0.0]], np.float32)
    tensor = dt.from_dlpack(array).T
    for dtype in ("int32", "float64", "bfloat16"):
        cast = tensor.astype(dtype)
        assert cast.dtype == dtype and cast.strides == (1, 2)
        assert cast.tolist() == tensor.to(dtype).tolist()
    assert tensor.astype("float32").data_ptr() != tensor.data_ptr()
    assert tensor.astype("float32", copy=False) is tensor
    assert tensor.astype("int8", order="C").strides == (2, 1)
    with pytest.raises(TypeError, match="'safe' allows no cast from float32 to int8"):
        tensor.astype("int8", casting="safe")


LAYOUTS = {
    "row-major": lambda: np.zeros((2, 3), np.float32),
    "column-major": lambda: np.zeros((3, 2), np.float32).T,
    "with gaps": lambda: np.zeros((2, 6), np.float32)[:, ::2],
    "reversed": lambda: np.zeros((2, 3), np.float32)[::-1],
    "one row": lambda: np.zeros((1, 3), np.float32),
    "empty": lambda: np.zeros((0, 3), np.float32)[:, ::2],
    "0-D": lambda: np.zeros((), np.float32),
}


@pytest.mark.parametrize("order", ["C", "F", "A", "K", None])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_astype_without_copy_keeps_a_tensor_that_is_in_the_order_as_numpy_does(layout, order):
    array = LAYOUTS[layout]()
    tensor = dt.from_dlpack(array)
    for dtype in ("float32", "int32"):
        expected = array.astype(dtype, order=order or "K", copy=False)
        cast = tensor.astype(dtype, order=order, copy=False)
        assert (cast is tensor) == (expected is array)
        if cast is not tensor and array.size:
            assert cast.strides == tuple(s // expected.itemsize for s in expected.strides)
            assert cast.data_ptr() != tensor.data_ptr()


def test_clone_is_a_copy_in_the_same_order():
    tensor = dt.zeros((2, 3)).T
    clone = tensor.clone()
    assert clone.strides == tensor.strides and clone.data_ptr() != tensor.data_ptr()


def test_devices():
    tensor = dt.zeros(3)
    assert tensor.cpu() is tensor and tensor.to_device("cpu") is tensor
    for device in (None, 0, "cuda:0", dt.Device("cuda:0")):
        with pytest.raises(RuntimeError, match="driver"):
            tensor.cuda(device)
    for wrong in (-1, 2**40, "cpu"):
        with pytest.raises(ValueError):
            tensor.cuda(wrong)
    with pytest.raises(TypeError, match=r"with dovetail\.stream"):
        tensor.to_device("cpu", stream=1)


@pytest.mark.parametrize("name", ["bool", "int4", "float16", "bfloat16", "float64", "complex64"])
def test_tobytes_is_row_major(name):
    tensor = dt.full((2, 4), 1, dtype=name)
    tensor[1, 2] = 0
    for view in (tensor, tensor.T, tensor[:, ::2], tensor[:0]):
        expected = bytes(memoryview(view.copy().view("uint8"))) if view.size else b""
        assert view.tobytes() == expected
    if name in ("bool", "float16", "float64", "complex64"):
        assert tensor.T.tobytes() == tensor.numpy().T.tobytes()


def test_writes_return_the_tensor():
    tensor = dt.zeros((2, 2), dtype="int8")
    assert tensor.fill_(3) is tensor and tensor.tolist() == [[3, 3], [3, 3]]
    assert tensor.zero_() is tensor and tensor.tolist() == [[0, 0], [0, 0]]
    assert tensor.copy_(torch.tensor([1.9, -2.9])) is tensor
    assert tensor.tolist() == [[1, -2], [1, -2]]
    assert tensor.copy_(np.full((2, 1), 7), non_blocking=True).tolist() == [[7, 7], [7, 7]]
    with pytest.raises(ValueError):
        tensor.copy_([1, 2, 3])


@pytest.mark.parametrize("name", ["bool", "int4", "bfloat16", "complex64", "float8_e4m3fn"])
def test_zeros_of_any_type(name):
    tensor = dt.full(5, 1, dtype=name)
    assert tensor.zero_().tobytes() == bytes(tensor.nbytes)


def test_read_only_tensors_are_not_written():
    fixed = dt.frombuffer(bytes(4), dtype="uint8")
    for write in (lambda: fixed.fill_(1), fixed.zero_, lambda: fixed.copy_(1)):
        with pytest.raises(ValueError, match="read-only"):
            write()


OPERATORS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b, "//": lambda a, b: a // b, "%": lambda a, b: a % b,
    "**": lambda a, b: a**b, "@": lambda a, b: a @ b, "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b, "&": lambda a, b: a & b, "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b, "divmod": divmod,
}  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_arithmetic_says_who_has_it(operator):
    tensor = dt.arange(3)
    for operands in [(tensor, tensor), (tensor, 2), (2.5, tensor), (tensor, True), (1j, tensor)]:
        with pytest.raises(TypeError, match=r"no arithmetic; t\.numpy\(\)"):
            operator(*operands)
    with pytest.raises(TypeError, match="unsupported operand"):
        operator(tensor, object())


def test_signs_say_so_too():
    for operator in (lambda t: -t, lambda t: +t, abs, lambda t: ~t):
        with pytest.raises(TypeError, match="no arithmetic"):
            operator(dt.arange(3))


def test_numpy_does_the_arithmetic_where_it_takes_part():
    tensor = dt.arange(3, dtype="float64")
    array = np.ones(3)
    for result in (tensor + array, array + tensor, np.float64(1) + tensor, tensor + np.float64(1)):
        assert type(result) is np.ndarray and result.tolist() == [1, 2, 3]
