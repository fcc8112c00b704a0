"""cuda.core's StridedMemoryView, on CUDA devices. It has no functions that read or write elements:
load() and put() of cuda.py do that.
"""

from ..adapter import Adapter

_SETUP = """\
import ctypes, numpy as np
from cuda.core import Device
from cuda.core.utils import StridedMemoryView
def on_device(array):
    device = Device(0)
    device.set_current()
    buffer = device.allocate(max(array.nbytes, 1), stream=device.default_stream)
    if array.nbytes:
        put((ctypes.c_char * array.nbytes).from_buffer_copy(array.tobytes()), int(buffer.handle))
    return StridedMemoryView.from_buffer(buffer, array.shape, dtype=array.dtype)
def on_host(view):
    shape, size = view.shape, view.dtype.itemsize
    strides = view.strides or [int(np.prod(shape[d + 1:])) for d in range(len(shape))]
    ends = [(n - 1) * step for n, step in zip(shape, strides)]
    low, high = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
    count = high - low + 1 if view.size else 0
    raw = load(ctypes.c_char * (count * size), view.ptr + low * size) if count else b""
    elements = np.frombuffer(raw, view.dtype)[-low:]
    steps = [step * size if n > 1 else 0 for n, step in zip(shape, strides)]
    return np.lib.stride_tricks.as_strided(elements, shape, steps).tolist()"""

ADAPTER = Adapter(
    name="cuda_core",
    module="cuda.core",
    setup=_SETUP,
    version="__import__('cuda.core').core.__version__",
    dtype="np.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "complex64 complex128",
    views={},
    values="on_host({y})",
    view=None,
    passes_on=("types", "devices"),
    devices={
        "cuda": {
            "array": "on_device(np.array({values}, {dtype}))",
            "ones": "on_device(np.ones({size}, {dtype}))",
            "take": "StridedMemoryView.from_dlpack({x}, stream_ptr=1)",
        }
    },
)
