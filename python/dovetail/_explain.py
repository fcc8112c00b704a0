"""dovetail.explain(): how an object would be imported, whether that shares memory, and why.

>>> import dovetail as dt
>>> import numpy as np
>>> report = dt.explain(np.zeros(3, np.float32))
>>> report.aliases, report.door
(True, 'NumPy array')
"""

import sys

from dovetail import _core
from dovetail._targets import class_named

_FLAGS = {1: "READ_ONLY", 2: "IS_COPIED", 4: "IS_SUBBYTE_TYPE_PADDED"}  # dlpack.h 1.3


# The fields of a report, in the order in which it prints them.
_FIELDS = (
    "source",
    "target",
    "door",
    "aliases",
    "reason",
    "refused",
    "dtype",
    "shape",
    "strides",
    "device",
    "readonly",
    "version",
    "flags",
    "stream",
)


class Report:
    """What an exchange would do. Print it, or read its fields.

    source     the class of the source object
    target     the class of the result
    door       the protocol that the exchange would use; None if there is none
    aliases    True if the result shares the source's memory, False if it is a copy; None if the
               exchange is refused
    reason     why the exchange shares memory, copies or is refused
    refused    the exception that the exchange would raise, or None
    dtype, shape, strides (in elements), device, readonly    as the source declares them
    version    of the source's DLPack struct; (0, 0) for a legacy struct; None without DLPack
    flags      the names of the DLPack flags that the source set; None without DLPack
    stream     how pending work of the source would be ordered before the consumer's
    """

    __slots__ = _FIELDS

    def __init__(self, **fields):
        for name in _FIELDS:
            setattr(self, name, fields.get(name))

    def __repr__(self):
        lines = [f"{self.source} -> {self.target}: {self._verdict()}"]
        for name in _FIELDS[2:]:
            value = getattr(self, name)
            if value is not None and name not in ("aliases", "refused"):
                lines.append(f"  {name:<9}{value}")
        return "\n".join(lines)

    def _verdict(self):
        if self.aliases is None:
            return "refused"
        return "shares the memory" if self.aliases else "copies"


def explain(x, target=None, *, device=None, copy=None):
    """Report what from_dlpack(x, device=device, copy=copy) would do.

    With a target class, report what convert(x, target, copy=copy) would do; device must be None.

    This performs the exchange and drops its result. Raises TypeError for a DLPack capsule, which
    can be used only once.
    """
    if type(x).__name__ == "PyCapsule":
        raise TypeError("explain() would consume the capsule; explain the tensor that it came from")
    if isinstance(target, str):
        target = class_named(target)
    if target is None:
        traced = _core._trace_import(x, device, copy)
    elif device is not None:
        raise TypeError("convert() does not move tensors: give either target or device, not both")
    else:
        traced = _core._trace_convert(x, target, copy)
    report = Report(
        source=_class_name(type(x)),
        target=_class_name(target or _core.Tensor),
        door=traced["door"],
        version=traced["version"],
        flags=_flag_names(traced["flags"]),
    )
    if traced["tensor"] is not None:
        _describe(report, traced["tensor"])
    if traced["error"] is not None:
        report.refused = traced["error"]
        report.reason = str(report.refused)
        return report
    copied = ("producer_copied", "consumer_copied", "target_copied")
    report.aliases = not any(traced.get(who) for who in copied)
    report.reason = _reason(report, traced, device, copy)
    return report


def _describe(report, tensor):
    for name in ("dtype", "shape", "strides", "device", "readonly"):
        setattr(report, name, getattr(tensor, name))
    on_cpu = tensor.__dlpack_device__()[0] == 1
    report.stream = "none: the CPU has no streams" if on_cpu else "ordered by the producer's device"


def _flag_names(flags):
    return None if flags is None else [name for bit, name in _FLAGS.items() if flags & bit]


def _reason(report, traced, device, copy):
    if traced.get("misfit") is not None:
        return f"{report.target} can't share it: the tensor {traced['misfit']}"
    if traced["producer_copied"]:
        return "the producer made the copy" + (" that copy=True asks for" if copy else "")
    if traced["consumer_copied"]:
        what = "copy=True asks for it" if copy else f"the tensor is not on {device}"
        return f"{what}; the producer left the copy to the consumer"
    if traced.get("target_copied"):
        return f"the library of {report.target} made a copy, or does not show where its memory is"
    return "the source's memory is used as it is"


def _class_name(cls):
    if not isinstance(cls, type):
        return repr(cls)
    # (Both names of jax.Array are jaxlib._jax.Array, in the module jax.)
    name = cls.__name__.rpartition(".")[2]
    found = getattr(sys.modules.get(cls.__module__), name, None) is cls
    return f"{cls.__module__}.{name if found else cls.__qualname__}"
