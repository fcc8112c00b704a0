"""to_dlpack and from_dlpack, under the module name that PyTorch and Paddle use.

>>> import dovetail as dt
>>> t = dt.arange(4)
>>> capsule = dt.utils.dlpack.to_dlpack(t)
>>> capsule  # doctest: +ELLIPSIS
<capsule object "dltensor" at 0x...>
>>> t2 = dt.utils.dlpack.from_dlpack(capsule)
>>> t2[:2] = -1
>>> t
tensor([-1, -1,  2,  3])
"""

from dovetail._core import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
