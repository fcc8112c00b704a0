"""The DLPack functions under the name that PyTorch and Paddle give them.

>>> from dovetail.utils.dlpack import from_dlpack, to_dlpack
"""

from dovetail._core import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
