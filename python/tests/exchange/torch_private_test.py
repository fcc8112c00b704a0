"""What Dovetail reads of the installed PyTorch's own, each row of the table by itself.

A failure names the row of python/exchange/torch/torch_private.h that this version breaks. Dovetail
goes on working without it, by what PyTorch publishes, which is slower.
"""

import pytest
import torch

from dovetail import _core

ASSUMPTIONS = _core._torch_assumptions()


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_what_is_read_of_pytorch_is_as_assumed(assumption):
    assert ASSUMPTIONS[assumption], f"PyTorch {torch.__version__}: not so: {assumption}"
