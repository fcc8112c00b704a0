"""The rules of arrays on CUDA devices: the device type, and what happens in which order on streams.

The fields are those of rules.py.
"""

from .rule import ARRAY_API, HEADER
from .rule import rule as _rule

_STREAM = ARRAY_API + "__dlpack__, stream"

STREAM_RULES = (
    _rule("producer.cuda-type", "must", 19,
          "An array on a CUDA device says device type 2, kDLCUDA.",
          HEADER + "DLDeviceType"),
    _rule("producer.alignment", "should", 9,
          "The data of a new array are aligned to 256 bytes.",
          HEADER + "DLTensor.data"),
    _rule("producer.stream-values", "should", 46,
          """stream may be None, 1 (the legacy default stream), 2 (the per-thread default stream), a
          stream's handle, or −1.""",
          _STREAM),
    _rule("producer.stream-zero", "must", 46,
          "stream=0 is refused, because it might mean either default stream.",
          _STREAM),
    _rule("producer.stream-order", "must", 49,
          """What the given stream does after __dlpack__() comes after the array's pending work; for
          stream=None this is the legacy default stream.""",
          _STREAM),
    _rule("producer.stream-none", "must", 46,
          "For stream=-1 nothing waits for the array's pending work.",
          _STREAM),
    _rule("producer.no-host-wait", "should", 49,
          "__dlpack__() does not wait on the host for the array's pending work.",
          _STREAM),
    _rule("producer.to-host", "must", 42,
          """For dl_device (1, 0) the memory is the CPU's and its elements are ready on return, or
          it is a BufferError.""",
          ARRAY_API + "__dlpack__, dl_device"),
    _rule("consumer.stream", "must", 49,
          "The stream that is passed to __dlpack__() is None, 1, 2, a handle or −1, and never 0.",
          _STREAM),
    _rule("consumer.stream-order", "must", 49,
          """What the consumer does with the tensor comes after the work that the producer ordered
          before the given stream.""",
          _STREAM),
    _rule("consumer.no-host-wait", "should", 49,
          "Taking a tensor in does not wait on the host for the producer's pending work.",
          _STREAM),
)  # fmt: skip
