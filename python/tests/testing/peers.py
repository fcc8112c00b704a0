"""The other libraries, with functions to make, read, write and import their tensors.

    for peer in EXPORTERS:                     # gives tensors with __dlpack__
        x = peer.make("float32", [1, 2, 4])
        t = dovetail.from_dlpack(x)
        assert t.data_ptr() == peer.pointer(x)

Values are 1, 2 and 4 unless a test says otherwise: every type except bool represents them exactly.
A library that this Python lacks is None here (tools/pythons), and its peer is in no list. NumPy and
ml_dtypes are always there.
"""

import dataclasses
import importlib
import warnings
from collections.abc import Callable

import ml_dtypes
import numpy as np


def _installed(name):
    """The module, or None if there is no such package."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


jax = _installed("jax")
onnxruntime = _installed("onnxruntime")
if onnxruntime and not hasattr(onnxruntime.OrtValue, "from_dlpack"):
    onnxruntime = None  # one of before 1.24, the last for CPython 3.10
pa = _installed("pyarrow")
torch = _installed("torch")
tvm_ffi = _installed("tvm_ffi")
paddle = _installed("paddle")

if jax:
    jax.config.update("jax_enable_x64", True)
if paddle:
    paddle.set_device("cpu")

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
STANDARD = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
TORCH_FLOAT8 = (
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)
JAX_FLOAT8 = (*TORCH_FLOAT8, "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz")


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    dtypes: tuple[str, ...]
    make: Callable  # (dtype name, values): a tensor that owns its memory
    pointer: Callable  # (tensor): the address of element 0
    values: Callable  # (tensor): nested lists
    take: Callable | None = None  # the library's from_dlpack
    write: Callable | None = None  # (tensor, index, value); None: its tensors are immutable

    def __repr__(self):  # the case's name in pytest
        return self.name


def numpy_dtype(name):
    return np.dtype(getattr(np, name, None) or getattr(ml_dtypes, name))


def array(name, values):
    """A NumPy array of one of NumPy's or ml_dtypes' types."""
    return np.array(values, dtype=numpy_dtype(name))


def _torch(name, values):
    plain = array(name, values)
    if hasattr(np, name):
        return torch.tensor(values, dtype=getattr(torch, name))
    bits = torch.from_numpy(plain.view(f"u{plain.itemsize}").copy())
    return bits.view(getattr(torch, name))


def _torch_values(tensor):
    if tensor.dtype.itemsize == 1 and tensor.dtype.is_floating_point:
        tensor = tensor.to(torch.float32)
    return tensor.tolist()


def _paddle(name, values):
    if name in COMPLEX:
        return paddle.to_tensor(np.array(values, dtype=name), place="cpu")
    return paddle.to_tensor(np.array(values, dtype="float64"), place="cpu").astype(name)


def _setitem(tensor, index, value):
    tensor[index] = value


NUMPY = Peer(
    "numpy",
    STANDARD,
    array,
    lambda x: x.__array_interface__["data"][0],
    lambda x: x.tolist(),
    np.from_dlpack,
    _setitem,
)
TORCH = Peer(
    "torch",
    (*STANDARD, "bfloat16", *TORCH_FLOAT8),
    _torch,
    lambda x: x.data_ptr(),
    _torch_values,
    torch and torch.from_dlpack,
    _setitem,
)
JAX = Peer(
    "jax",
    (*STANDARD, "bfloat16", *JAX_FLOAT8),
    lambda name, values: jax.numpy.asarray(array(name, values)).copy(),
    lambda x: x.unsafe_buffer_pointer(),
    lambda x: np.asarray(x).tolist(),
    jax and jax.dlpack.from_dlpack,
)
PADDLE = Peer(
    "paddle",
    ("bool", "int8", "int16", "int32", "int64", "uint8", *FLOATS, *COMPLEX, "bfloat16"),
    _paddle,
    lambda x: x.data_ptr(),
    lambda x: (x.astype("float32") if x.dtype == paddle.bfloat16 else x).tolist(),
    paddle and paddle.from_dlpack,
    _setitem,
)
# A tvm_ffi.Tensor has no access to its elements: NumPy reads its memory.
TVM_FFI = Peer(
    "tvm_ffi",
    (*STANDARD, "bfloat16", *TORCH_FLOAT8),
    lambda name, values: tvm_ffi.from_dlpack(_torch(name, values)),
    lambda x: x.data_ptr(),
    lambda x: _torch_values(torch.from_dlpack(x)),
    tvm_ffi and tvm_ffi.from_dlpack,
    lambda x, index, value: _setitem(np.from_dlpack(x), index, value),
)


def _dovetail(name, values):
    import dovetail  # here, because a test may install it first

    return dovetail.tensor(values, dtype=name)


DOVETAIL = Peer(
    "dovetail",
    STANDARD,
    _dovetail,
    lambda x: x.data_ptr(),
    lambda x: x.tolist(),
    write=_setitem,
)
PYARROW = Peer(
    "pyarrow",
    (*INTEGERS, *FLOATS),
    lambda name, values: pa.array(array(name, values)),
    lambda x: x.buffers()[1].address + x.offset * x.type.byte_width,
    lambda x: x.to_pylist(),
)
# An OrtValue has no access to its elements: PyTorch reads and writes its memory.
ONNXRUNTIME = Peer(
    "onnxruntime",
    ("bool", *INTEGERS, *FLOATS, "bfloat16", *TORCH_FLOAT8),
    lambda name, values: onnxruntime.OrtValue.from_dlpack(_torch(name, values)),
    lambda x: x.data_ptr(),
    lambda x: _torch_values(torch.from_dlpack(x)),
    onnxruntime and onnxruntime.OrtValue.from_dlpack,
    lambda x, index, value: _setitem(torch.from_dlpack(x), index, value),
)

# Where a peer needs PyTorch to read its elements, it is there only with PyTorch.
_PRESENT = {
    "numpy": True,
    "torch": torch,
    "jax": jax,
    "paddle": paddle,
    "tvm_ffi": tvm_ffi and torch,
    "pyarrow": pa,
    "onnxruntime": onnxruntime and torch,
}


def _present(*peers):
    return tuple(peer for peer in peers if _PRESENT[peer.name])


# Their tensors have __dlpack__.
EXPORTERS = _present(NUMPY, TORCH, JAX, PADDLE, TVM_FFI, PYARROW, ONNXRUNTIME)
# They have a from_dlpack.
IMPORTERS = _present(NUMPY, TORCH, JAX, PADDLE, TVM_FFI, ONNXRUNTIME)
# Both, with writable memory.
WRITERS = _present(NUMPY, TORCH, PADDLE, TVM_FFI, ONNXRUNTIME)
