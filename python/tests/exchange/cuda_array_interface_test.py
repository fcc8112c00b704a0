"""The CUDA Array Interface in both directions, without a GPU: objects made by hand (rule 59)."""

import gc
import sys
import weakref

import numpy as np
import pytest

import dovetail as dt

SOMEWHERE = 0x7F0000001000  # an address that is never dereferenced


class Gpu:
    """An object with only this attribute. Arguments replace entries, or remove them (...)."""

    def __init__(self, **changes):
        interface = {
            "shape": (2, 3),
            "typestr": "<f4",
            "data": (SOMEWHERE, False),
            "version": 3,
            **changes,
        }
        self.__cuda_array_interface__ = {k: v for k, v in interface.items() if v is not ...}


def interface_of(**changes):
    return dt.from_cuda_array_interface(Gpu(**changes)).__cuda_array_interface__


# Import


def test_without_a_backend_memory_passes_through_as_the_first_device():
    t = dt.from_cuda_array_interface(Gpu())
    assert (str(t.device), t.dtype, t.shape, t.strides) == ("cuda:0", dt.float32, (2, 3), (3, 1))
    assert t.data_ptr() == SOMEWHERE
    assert not t.readonly
    assert t.__dlpack_device__() == (2, 0)


def test_the_object_is_kept_until_the_last_view_goes():
    gpu = Gpu()
    alive, references = weakref.ref(gpu), sys.getrefcount(gpu)
    t = dt.from_cuda_array_interface(gpu)
    assert sys.getrefcount(gpu) == references + 1
    del gpu
    view = t[1]
    del t
    gc.collect()
    assert alive() is not None
    del view
    assert alive() is None


def test_a_refused_object_is_not_kept():
    gpu = Gpu(version=1)
    references = sys.getrefcount(gpu)
    with pytest.raises(dt.ExchangeError):
        dt.from_cuda_array_interface(gpu)
    assert sys.getrefcount(gpu) == references


# Rule 59.
def test_strides_come_in_bytes():
    t = dt.from_cuda_array_interface(Gpu(strides=(4, 8)))
    assert t.strides == (1, 2)
    below = dt.from_cuda_array_interface(Gpu(shape=(3,), strides=(-8,)))
    assert (below.strides, below.data_ptr()) == ((-2,), SOMEWHERE)


# Rule 59.
def test_read_only_is_kept():
    assert dt.from_cuda_array_interface(Gpu(data=(SOMEWHERE, True))).readonly


def test_no_elements_need_no_memory():
    t = dt.from_cuda_array_interface(Gpu(shape=(0, 3), data=(0, False)))
    assert (t.shape, t.__cuda_array_interface__["data"]) == ((0, 3), (0, False))


# Rule 59.
def test_versions_2_and_3_are_understood():
    assert dt.from_cuda_array_interface(Gpu(version=2)).shape == (2, 3)
    for version in (0, 1, 4):
        with pytest.raises(dt.ExchangeError, match=f"version {version}"):
            dt.from_cuda_array_interface(Gpu(version=version))
    with pytest.raises(dt.ExchangeError, match='no entry "version"'):
        dt.from_cuda_array_interface(Gpu(version=...))


# Rule 59.
def test_a_stream_of_0_is_refused():
    for stream in (0, -1):
        with pytest.raises(dt.ExchangeError, match=f"stream is {stream}"):
            dt.from_cuda_array_interface(Gpu(stream=stream))


# Rule 59.
def test_a_mask_is_refused():
    assert dt.from_cuda_array_interface(Gpu(mask=None)).shape == (2, 3)
    with pytest.raises(dt.ExchangeError, match="mask"):
        dt.from_cuda_array_interface(Gpu(mask=Gpu(typestr="|b1")))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"typestr": ">f4"}, "newbyteorder"),
        ({"typestr": "|V2"}, "unsigned integers"),
        ({"typestr": ...}, "typestr"),
        ({"shape": ...}, "shape"),
        ({"shape": (-1,)}, "negative"),
        ({"strides": (4,)}, "strides"),
        ({"data": ...}, "pair"),
        ({"data": bytes(24)}, "pair"),
        ({"data": (0, False)}, "no data"),
        ({"data": (2**64 - 8, False)}, "address space"),
    ],
    ids=str,
)
def test_what_can_not_be_shared_is_refused_with_the_reason(changes, why):
    with pytest.raises(dt.ExchangeError, match=why):
        dt.from_cuda_array_interface(Gpu(**changes))


def test_an_object_without_the_attribute_is_an_attribute_error():
    for x in (object(), np.arange(3)):
        with pytest.raises(AttributeError, match="__cuda_array_interface__"):
            dt.from_cuda_array_interface(x)


def test_what_has_to_be_copied_says_that_a_backend_is_missing():
    with pytest.raises(RuntimeError, match="cuda"):
        dt.tensor(Gpu())


# Export


# Rule 59.
@pytest.mark.parametrize("typestr", ["|b1", "|i1", "<u2", "<f2", "<i8", "<c16"])
def test_what_came_in_goes_out(typestr):
    assert interface_of(typestr=typestr, data=(SOMEWHERE, True)) == {
        "version": 3,
        "shape": (2, 3),
        "typestr": typestr,
        "data": (SOMEWHERE, True),
        "strides": None,
        "stream": None,
    }


# Rule 59.
def test_strides_go_out_in_bytes_and_views_at_their_element():
    t = dt.from_cuda_array_interface(Gpu())
    assert t.T.__cuda_array_interface__["strides"] == (4, 12)
    row = t[1, 1:].__cuda_array_interface__
    assert (row["data"], row["shape"], row["strides"]) == ((SOMEWHERE + 16, False), (2,), None)


# Rule 59.
@pytest.mark.parametrize("stream", [None, 1, 2, 0x55AA])
def test_the_stream_goes_on_with_the_memory(stream):
    assert interface_of(stream=stream)["stream"] == stream


# Rule 59.
def test_the_stream_is_not_lost_on_the_way_to_dlpack():
    t = dt.from_cuda_array_interface(Gpu(stream=0x55AA))
    for stream in (None, 1, 2):
        with pytest.raises(dt.ExchangeError, match="stream 0x55aa"):
            t.__dlpack__(stream=stream, max_version=(1, 0))
    t.__dlpack__(stream=0x55AA, max_version=(1, 0))
    t.__dlpack__(stream=-1, max_version=(1, 0))
    ready = dt.from_cuda_array_interface(Gpu())
    ready.__dlpack__(stream=None, max_version=(1, 0))


def test_other_memory_has_no_such_attribute():
    assert not hasattr(dt.zeros(3), "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="cpu"):
        _ = dt.zeros(3).__cuda_array_interface__


def test_a_tensor_that_requires_gradient_is_refused():
    t = dt.from_cuda_array_interface(Gpu()).requires_grad_()
    with pytest.raises(dt.ExchangeError, match="detach"):
        _ = t.__cuda_array_interface__


def test_memory_on_a_gpu_has_no_interface_of_the_hosts():
    t = dt.from_cuda_array_interface(Gpu())
    assert not hasattr(t, "__array_interface__")
    with pytest.raises(BufferError):
        memoryview(t)
