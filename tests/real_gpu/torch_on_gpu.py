"""PyTorch on a real GPU. The tests of a module that imports this are skipped where there is none.

from torch_on_gpu import torch
"""

import pytest

import dovetail as dt

GPU = dt.backends().get("cuda", "this build has no CUDA backend")
if not isinstance(GPU, int) or GPU == 0:
    pytest.skip(f"no GPU: {GPU}", allow_module_level=True)
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("this PyTorch sees no GPU", allow_module_level=True)
