"""The rules of the C exchange API: the table of functions that a type offers.

The fields are those of rules.py.
"""

from .rule import HEADER
from .rule import rule as _rule

_FROM = HEADER + "DLPackManagedTensorFromPyObjectNoSync"
_TO = HEADER + "DLPackManagedTensorToPyObjectNoSync"
_BORROW = HEADER + "DLPackDLTensorFromPyObjectNoSync"
_ALLOCATOR = HEADER + "DLPackManagedTensorAllocator"
_STREAM = HEADER + "DLPackCurrentWorkStream"
_TABLE = HEADER + "DLPackExchangeAPI"

EXCHANGE_RULES = (
    _rule("exchange.capsule", "must", 51,
          """__dlpack_c_exchange_api__ of the type is a capsule named dlpack_exchange_api, and leads
          to the same table at each call.""",
          _TABLE),
    _rule("exchange.version", "must", 52,
          """The table says major version 1, and prev_api leads to tables of ever older versions, or
          is NULL.""",
          HEADER + "DLPackExchangeAPIHeader"),
    _rule("exchange.functions", "must", 53,
          "No function is NULL, except dltensor_from_py_object_no_sync.",
          _TABLE),
    _rule("exchange.managed", "must", 55,
          "An export has the data, type, shape, strides, device and flags of __dlpack__().",
          _FROM),
    _rule("exchange.borrowed", "must", 55,
          "A borrowed tensor has the data, type, shape, strides and device of __dlpack__().",
          _BORROW),
    _rule("exchange.elements", "must", 55,
          "The elements are those of the array, or the function fails.",
          HEADER + "DLTensor"),
    _rule("exchange.refuses", "should", 55,
          "What __dlpack__() refuses the functions refuse, with a BufferError.",
          _FROM),
    _rule("exchange.managed-version", "must", 4,
          "An export says the version of its layout: major version 1.",
          HEADER + "DLPackVersion"),
    _rule("exchange.deleter", "must", 7,
          "The deleter of an export frees the memory, with or without the GIL, on any thread.",
          _FROM),
    _rule("exchange.lifetime", "must", 27,
          "The memory of an export outlives the array until the deleter is called.",
          _FROM),
    _rule("exchange.references", "must", 30,
          "No function keeps a reference to the array after its deleter was called.",
          _BORROW),
    _rule("exchange.to-python", "must", 57,
          "A managed tensor becomes an array of the type, with its elements.",
          _TO),
    _rule("exchange.to-python-deletes", "must", 57,
          "The deleter of such a tensor is called once, after the array died.",
          _TO),
    _rule("exchange.to-python-refuses", "must", 57,
          """A tensor of major version 2 is refused: the result is −1 with an exception, and the
          deleter is not called twice.""",
          _TO),
    _rule("exchange.allocator", "must", 58,
          "The allocator makes a tensor of its own with the prototype's shape, type and device.",
          _ALLOCATOR),
    _rule("exchange.allocator-deleter", "must", 58,
          "The deleter of an allocated tensor frees it.",
          _ALLOCATOR),
    _rule("exchange.allocator-error", "must", 58,
          """A prototype that can't be made is −1, and SetError is called once with a kind and a
          text.""",
          _ALLOCATOR),
    _rule("exchange.cpu-stream", "must", 54,
          "The current work stream of the CPU is NULL.",
          _STREAM),
)  # fmt: skip

# Of arrays on CUDA devices.
EXCHANGE_STREAM_RULES = (
    _rule("exchange.stream", "must", 54,
          "The current work stream of the device is the stream that the library works on.",
          _STREAM),
    _rule("exchange.no-sync", "must", 54,
          "An export neither waits on the host nor makes the legacy default stream wait.",
          _FROM),
)  # fmt: skip
