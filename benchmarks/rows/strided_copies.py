"""Functions that copy a strided array into dense memory, by library, for strided_copy_peers.py,
permutation_peers.py and `python -m dovetail bench`.
"""

import numpy as np

import dovetail as dt

DENSE = ("memcpy", "streaming")  # the faster of the two is the baseline


def copies(source, torch=None):
    """Return the functions by library. PyTorch is left out for negative strides, which it lacks."""
    dense = np.zeros(source.shape, source.dtype)
    flat = np.ones(source.size, source.dtype), np.zeros(source.size, source.dtype)
    flat_from, flat_to = map(dt.from_dlpack, flat)
    to, from_ = dt.from_dlpack(dense), dt.from_dlpack(source)
    functions = {
        "dovetail": lambda: to.__setitem__(..., from_),
        "memcpy": lambda: np.copyto(flat[1], flat[0]),
        "streaming": lambda: flat_to.__setitem__(..., flat_from),
        "numpy": lambda: np.copyto(dense, source),
    }
    if torch and min(source.strides) >= 0:
        out, tensor = torch.from_numpy(dense), torch.from_numpy(source)
        functions["torch"] = lambda: out.copy_(tensor)
    return functions


def set_baseline(row):
    """Make the faster dense copy the baseline of a measured row."""
    least = row.nanoseconds
    row.baseline = min(least.keys() & set(DENSE), key=least.get, default="memcpy")
