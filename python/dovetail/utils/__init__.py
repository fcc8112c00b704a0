"""Modules under the names that other frameworks use."""

from dovetail.utils import dlpack

__all__ = ["dlpack"]
