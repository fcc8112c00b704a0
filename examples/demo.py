"""One memory in NumPy, PyTorch, another process and whatever else is installed.

docs/start.md shows it.

./bazelw run //examples:demo
"""

import subprocess
import sys

import numpy as np
import torch

import dovetail as dt

shared = dt.ipc.empty(6, dtype="float32")  # memory that other processes can open
array = dt.convert(shared, np.ndarray)
array[:] = range(6)  # NumPy writes it,
dt.convert(array, torch.Tensor).mul_(10)  # PyTorch multiplies it,
program = """if True:  # and another process sets an element
    import sys, dovetail as dt
    handle = dt.ipc.Handle.from_bytes(bytes.fromhex(sys.argv[1]))
    dt.ipc.open(handle)[0] = 7
"""
handle = bytes(dt.ipc.share(shared)).hex()
subprocess.run([sys.executable, "-c", program, handle], check=True)
for name in ("numpy", "torch", "jax", "tvm_ffi", "pyarrow", "onnxruntime"):
    try:
        x = dt.convert(shared, name, copy=False)  # raises instead of copying
    except ImportError:
        continue
    print(f"{name:12}", dt.asarray(x).data_ptr() == shared.data_ptr(), dt.asarray(x).tolist())
