"""What is carried: one matrix of each kind, as a tensor of each library with the same elements."""

import ml_dtypes
import numpy as np
import torch

import dovetail as dt

# The kinds, and the ratio to NumPy's time to reach. NumPy copies what is permuted, which costs it
# little, and pickles bfloat16 (of ml_dtypes) in several copies.
KINDS = {"C order": 1.05, "F order": 1.05, "permuted": 1.05, "bfloat16": 0.6}

SIZES = {"1 KiB": 2**10, "64 KiB": 2**16, "1 MiB": 2**20, "16 MiB": 2**24, "256 MiB": 2**28}


def values(kind, nbytes, *, shared=False):
    """Return {library: tensor}. `shared`: Dovetail's is in memory that other processes can open."""
    if kind == "bfloat16":
        array = np.arange(nbytes // 2).astype(ml_dtypes.bfloat16).reshape(-1, 16)
        tensor = torch.arange(nbytes // 2).to(torch.bfloat16).reshape(-1, 16)
    else:
        array = np.arange(nbytes // 4, dtype=np.float32).reshape(-1, 4, 8)
        if kind == "F order":
            array = np.asfortranarray(array)
        elif kind == "permuted":
            array = array.transpose(1, 0, 2)
        tensor = torch.from_numpy(array)
    ours = dt.from_dlpack(tensor)
    ours = dt.ipc.share(ours, copy=True).tensor if shared else ours.copy("K")
    return {"dovetail": ours, "numpy": array, "torch": tensor}
