"""The checks of PyTorch's own DLPack tests, applied to Dovetail: as the consumer of PyTorch's
tensors, and as a producer. (The GPU backends have the tests that need a GPU.)

Deliberate differences:
  stream=0 on the CPU   ExchangeError, a BufferError; PyTorch fails an assertion
  a legacy capsule      of a read-only tensor is refused; PyTorch knows no read-only tensors
"""

import numpy as np
import pytest
import torch

import dovetail as dt

STANDARD = [
    torch.bool,
    *(torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.uint8, torch.uint16, torch.uint32, torch.uint64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.complex32, torch.complex64, torch.complex128),
]
NARROW = [
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e8m0fnu,
    torch.float4_e2m1fn_x2,
]
EVERY_TYPE = pytest.mark.parametrize("dtype", [*STANDARD, *NARROW], ids=str)


def make(dtype, shape=(5,)):
    """A tensor of `dtype` with random bits, but no NaN."""
    if dtype in NARROW:
        return torch.randint(0, 64, shape, dtype=torch.uint8).view(dtype)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, dtype=torch.float64).to(dtype)
    return torch.randint(0, 2, shape).to(dtype)


def bits(tensor):
    return tensor.contiguous().view(torch.uint8).tolist()


class OnlyDLPack:
    """Wraps a tensor and has only the protocol's methods: no exchange API, no buffer."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, *args, **kwargs):
        return self.tensor.__dlpack__(*args, **kwargs)

    def __dlpack_device__(self, *args, **kwargs):
        return self.tensor.__dlpack_device__(*args, **kwargs)


@EVERY_TYPE
def test_a_capsule_there_and_back_keeps_type_and_bits(dtype):
    x = make(dtype)
    there = dt.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    back = torch.from_dlpack(dt.to_dlpack(there))
    assert (back.dtype, back.shape) == (x.dtype, x.shape)
    assert bits(back) == bits(x)
    assert back.data_ptr() == there.data_ptr() == x.data_ptr()


@EVERY_TYPE
def test_the_protocol_there_and_back_keeps_type_and_bits(dtype):
    x = make(dtype)
    back = torch.from_dlpack(dt.from_dlpack(x))
    assert (back.dtype, back.data_ptr(), bits(back)) == (x.dtype, x.data_ptr(), bits(x))


# Rule 55.
@EVERY_TYPE
def test_the_methods_alone_give_the_same_as_the_exchange_api(dtype):
    x = make(dtype)
    fast, slow = dt.from_dlpack(x), dt.from_dlpack(OnlyDLPack(x))
    assert fast.dtype == slow.dtype
    assert fast.data_ptr() == slow.data_ptr() == x.data_ptr()
    assert (fast.shape, fast.strides, fast.readonly) == (slow.shape, slow.strides, slow.readonly)


def test_storage_is_shared():
    x = make(torch.float64)
    t = dt.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    t[0] = t[0].item() + 20.0
    assert t.tolist() == x.tolist()


@pytest.mark.parametrize("dtype", STANDARD, ids=str)
def test_what_is_not_contiguous_comes_through_as_it_is(dtype):
    x = make(dtype, (5, 5))
    for view in (x[0], x[:, 0], x[1, :], x[1], x.t(), x[::2, 1:4:2], x[2:2]):
        back = torch.from_dlpack(dt.from_dlpack(view))
        assert back.stride() == view.stride()
        assert back.tolist() == view.tolist()


@pytest.mark.parametrize("stream", [object(), 1.5, "1"])
def test_a_stream_must_be_an_int(stream):
    with pytest.raises(TypeError, match="stream"):
        dt.zeros(5).__dlpack__(stream=stream)


def test_there_is_no_stream_on_the_cpu():
    with pytest.raises(BufferError, match="stream"):
        dt.zeros(5).__dlpack__(stream=0)


def test_what_requires_gradients_is_not_exported():
    with pytest.raises(BufferError, match="require gradient"):
        dt.zeros(10).requires_grad_().__dlpack__()
    with pytest.raises(BufferError, match="require gradient"):
        dt.from_dlpack(torch.zeros(10, requires_grad=True))


# Rules 44, 55.
@pytest.mark.parametrize("wrap", [lambda x: x, OnlyDLPack], ids=["tensor", "protocol"])
def test_what_is_not_plain_memory_is_refused_in_torchs_words(wrap):
    with pytest.raises(BufferError, match="conjugate bit"):
        dt.from_dlpack(wrap(torch.tensor([-1 + 1j, -2 + 2j, 3 - 3j]).conj()))
    with pytest.raises(BufferError, match="strided"):
        dt.from_dlpack(wrap(torch.sparse_coo_tensor([[0]], [1], size=(1,))))
    with pytest.raises(BufferError, match="types are not supported by dlpack"):
        dt.from_dlpack(wrap(torch.quantize_per_tensor(torch.randn(()), 0.1, 10, torch.qint8)))


# Rule 13.
def test_the_stride_of_a_single_element_is_kept():
    x = torch.rand(16)[::3][:1]
    t = dt.from_dlpack(x)
    assert (t.shape, t.strides) == ((1,), (3,))
    assert torch.from_dlpack(t).stride() == (3,)


@pytest.mark.parametrize("wrap", [lambda x: x, OnlyDLPack], ids=["tensor", "protocol"])
def test_a_tensor_is_made_from_what_has_the_protocol_alone(wrap):
    x = torch.rand(10)
    t = dt.tensor(wrap(x))
    assert t.tolist() == x.tolist()
    assert t.data_ptr() != x.data_ptr()
    assert torch.tensor(wrap(t)).tolist() == x.tolist()


@pytest.mark.parametrize("asked", [{}, {"max_version": (0, 8)}, {"max_version": (1, 0)}], ids=str)
def test_the_version_asked_for_names_the_capsule_and_both_can_be_taken(asked):
    t = dt.arange(5)
    capsule = t.__dlpack__(**asked)
    name = "dltensor_versioned" if asked.get("max_version", (0,)) >= (1,) else "dltensor"
    assert f'capsule object "{name}" at' in str(capsule)
    assert torch.from_dlpack(capsule).tolist() == t.tolist()


def test_a_newer_version_than_ours_may_be_asked_for():
    assert torch.from_dlpack(dt.arange(5).__dlpack__(max_version=(2, 0))).tolist() == [
        0,
        1,
        2,
        3,
        4,
    ]


NUMPY_TOO = [dtype for dtype in STANDARD if dtype not in (torch.bfloat16, torch.complex32)]


@pytest.mark.parametrize("dtype", NUMPY_TOO, ids=str)
def test_numpy_and_torch_see_the_same(dtype):
    x = make(dtype)
    t = dt.from_dlpack(x)
    assert np.from_dlpack(t).tolist() == x.tolist()
    back = dt.from_dlpack(t.numpy())
    assert back.tolist() == x.tolist()
    assert back.data_ptr() == x.data_ptr()


# Rules 37, 38, 39.
@pytest.mark.parametrize(
    ("asked", "copied"),
    [
        ({}, False),
        ({"copy": False}, False),
        ({"device": "cpu"}, False),
        ({"device": torch.device("cpu"), "copy": False}, False),
        ({"copy": True}, True),
        ({"device": "cpu", "copy": True}, True),
    ],
    ids=str,
)
@pytest.mark.parametrize("wrap", [lambda x: x, OnlyDLPack], ids=["tensor", "protocol"])
def test_memory_moves_only_if_asked(wrap, asked, copied):
    x = make(torch.float32)
    t = dt.from_dlpack(wrap(x), **asked)
    assert t.tolist() == x.tolist()
    assert t.device == dt.Device("cpu")
    assert (t.data_ptr() != x.data_ptr()) is copied


# Rules 38, 45.
def test_a_move_without_a_copy_is_a_value_error_and_a_buffer_error():
    with pytest.raises(ValueError) as caught:
        dt.from_dlpack(make(torch.float32), device="cuda:0", copy=False)
    assert isinstance(caught.value, BufferError)


# Rule 41.
def test_an_unsupported_device_is_a_buffer_error():
    hexagon = torch.utils.dlpack.DLDeviceType.kDLHexagon
    with pytest.raises(BufferError, match="hexagon"):
        dt.zeros(5).__dlpack__(max_version=(1, 0), dl_device=(hexagon, 0))
