"""Modules under the names that users of PyTorch and Paddle know."""

from dovetail.utils import dlpack

__all__ = ["dlpack"]
