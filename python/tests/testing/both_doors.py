"""What comes in by a fast door beside what comes in by __dlpack__ alone: they may not differ.

same_by_both(torch.zeros(3))       # rule 55
"""

import dovetail as dt


class OnlyDLPack:
    """An object of which nothing but the two methods of its class is left."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **asked):
        return type(self.x).__dlpack__(self.x, **asked)

    def __dlpack_device__(self):
        return type(self.x).__dlpack_device__(self.x)


def outcome(x, **asked):
    """All that can be seen of what from_dlpack gives, or of how it refuses."""
    try:
        t = dt.from_dlpack(x, **asked)
    except Exception as error:
        return type(error), str(error)
    # Who makes a copy chooses its place and the order of its elements.
    memory = t.tolist() if asked.get("copy") else (t.strides, t.data_ptr())
    return t.dtype, t.shape, t.readonly, t.device, memory


REQUESTS = ({}, {"copy": False}, {"copy": True}, {"device": "cpu"}, {"device": "hexagon"})


def same_by_both(x):
    for asked in REQUESTS:
        assert outcome(x, **asked) == outcome(OnlyDLPack(x), **asked), asked
