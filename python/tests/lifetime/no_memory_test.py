"""Python runs out of memory at each allocation of an operation: at one, or at a hundred from there.

The answer is a MemoryError or the result. References, and memory of tensors, are as before. (With
all later allocations failing, the interpreter of CPython 3.11 loops forever in some handlers.)
"""

import gc
import sys

import numpy as np
import pytest
import torch

import dovetail as dt

try:
    import _testcapi
except ImportError:
    _testcapi = None
pytestmark = pytest.mark.skipif(_testcapi is None, reason="this Python has no _testcapi")

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)
TORCH = torch.arange(6, dtype=torch.float32).reshape(2, 3)
TENSOR = dt.from_dlpack(np.arange(6, dtype=np.float32).reshape(2, 3))
SHARED = dt.ipc.empty((2, 3))
SHARED[...] = 1
HANDLE = dt.ipc.share(SHARED)
WATCHED = (ARRAY, TORCH, TENSOR, SHARED, HANDLE)

OPERATIONS = {
    "from_dlpack of NumPy": lambda: dt.from_dlpack(ARRAY),
    "from_dlpack of PyTorch": lambda: dt.from_dlpack(TORCH),
    "from_dlpack with copy": lambda: dt.from_dlpack(ARRAY, copy=True),
    "from_dlpack of a capsule": lambda: dt.from_dlpack(TENSOR.__dlpack__(max_version=(1, 0))),
    "convert NumPy to PyTorch": lambda: dt.convert(ARRAY, torch.Tensor),
    "convert PyTorch to NumPy": lambda: dt.convert(TORCH, np.ndarray),
    "convert to PyTorch": lambda: dt.convert(TENSOR, torch.Tensor),
    "explain": lambda: dt.explain(ARRAY[::-1], torch.Tensor),
    "numpy()": lambda: TENSOR.numpy(),
    "np.asarray": lambda: np.asarray(TENSOR),
    "torch.from_dlpack": lambda: torch.from_dlpack(TENSOR),
    "memoryview": lambda: memoryview(TENSOR).tolist(),
    "tensor of lists": lambda: dt.tensor([[1, 2], [3, 4]], dtype="int32"),
    "frombuffer": lambda: dt.frombuffer(bytearray(16), dtype=dt.int32),
    "zeros": lambda: dt.zeros((2, 3)),
    "views": lambda: TENSOR[1:, ::2].T.reshape(-1)[None],
    "copy": lambda: TENSOR.T.copy(),
    "cast": lambda: TENSOR.to("float16"),
    "assignment": lambda: TENSOR.copy().__setitem__((0, slice(None)), [1, 2, 3]),
    "tolist": lambda: TENSOR.tolist(),
    "item": lambda: TENSOR[0, 0].item(),
    "repr": lambda: repr(TENSOR),
    "attributes": lambda: (TENSOR.shape, TENSOR.strides, TENSOR.dtype, str(TENSOR.device)),
    "ipc.empty": lambda: dt.ipc.empty((2, 3)),
    "ipc.share": lambda: dt.ipc.share(SHARED),
    "ipc.share of a copy": lambda: dt.ipc.share(TENSOR, copy=True),
    "ipc.open": lambda: dt.ipc.open(HANDLE),
    "parts of a handle": lambda: dt.ipc.Handle.from_bytes(HANDLE.__reduce__()[1][0]).shape,
}


def state():
    gc.collect()
    stats = [
        dt.allocator_stats("cpu", kind=kind)["allocated_bytes"] for kind in ("device", "shared")
    ]
    return [sys.getrefcount(x) for x in WATCHED], stats


def fails(operation, first, last):
    """Whether the operation raised MemoryError, where Python's allocations from `first` on fail and
    those from `last` on do not."""
    _testcapi.set_nomemory(first, last)
    try:
        operation()
    except MemoryError:
        return True
    except (RuntimeError, dt.ExchangeError) as e:  # PyTorch's own, of its own tensor
        _testcapi.remove_mem_hooks()
        assert "Failed to allocate a Tensor object" in str(e)
        return True
    finally:
        _testcapi.remove_mem_hooks()
    return False


@pytest.fixture(autouse=True, scope="module")
def _quick_collections():
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("count", [1, 100])
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_done_or_a_memory_error(name, count):
    operation = OPERATIONS[name]
    for _ in range(3):
        operation()  # fills caches
    before = state()
    in_use = [dt.empty(1) for _ in range(200)]  # empties the caches of free objects
    failures = 0
    in_a_row = 0
    for first in range(1000):
        failed = fails(operation, first, first + count)
        failures += failed
        in_a_row = 0 if failed else in_a_row + 1
        if in_a_row == 20:  # some allocations are done without
            break
    else:
        pytest.fail("it never has enough memory")
    assert failures > 0
    del in_use
    operation()
    assert state() == before
