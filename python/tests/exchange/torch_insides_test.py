"""Dovetail's assumptions about the insides of the installed PyTorch, each by itself.

A failure names the assumption that this version breaks; python/exchange/torch/torch_abi.h has it.
Dovetail goes on working without it, by PyTorch's Python interface, which is slower.
"""

import pytest
import torch

from dovetail import _core

ASSUMPTIONS = _core._torch_assumptions()


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_the_insides_of_pytorch_are_as_assumed(assumption):
    assert ASSUMPTIONS[assumption], f"PyTorch {torch.__version__}: not so: {assumption}"
