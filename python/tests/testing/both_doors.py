"""Compares imports that call no Python method with imports by __dlpack__: they must not differ.

same_by_both(torch.zeros(3))       # rule 55
"""

import dovetail as dt


class OnlyDLPack:
    """Wraps an object and has only its __dlpack__ and __dlpack_device__."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **asked):
        return type(self.x).__dlpack__(self.x, **asked)

    def __dlpack_device__(self):
        return type(self.x).__dlpack_device__(self.x)


def outcome(x, **asked):
    """Everything observable about from_dlpack's result, or about its error."""
    try:
        t = dt.from_dlpack(x, **asked)
    except Exception as error:
        return type(error), str(error)
    # Whoever makes a copy chooses its address and the order of its elements.
    memory = t.tolist() if asked.get("copy") else (t.strides, t.data_ptr())
    return t.dtype, t.shape, t.readonly, t.device, memory


REQUESTS = ({}, {"copy": False}, {"copy": True}, {"device": "cpu"}, {"device": "hexagon"})


def same_by_both(x):
    for asked in REQUESTS:
        assert outcome(x, **asked) == outcome(OnlyDLPack(x), **asked), asked
