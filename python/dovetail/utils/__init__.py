"""Modules with the names that PyTorch and Paddle use."""

from dovetail.utils import dlpack

__all__ = ["dlpack"]
