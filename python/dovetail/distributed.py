"""Where a tensor's memory is, in the words of NIXL, UCX and NCCL. None of them is imported.

    >>> import dovetail.distributed
    >>> d = dovetail.distributed.describe(t)
    >>> agent.register_memory(d.nixl_registration(), d.nixl_memory)      # NIXL
    >>> descriptors = agent.get_xfer_descs(d.nixl_transfer(), d.nixl_memory)
    >>> await endpoint.send(d.buffer())                                  # UCXX
    >>> pointer, count, datatype = d.nccl()                              # NCCL

describe_pair() does so for two layouts of one tensor, in the smallest number of runs.

The memory is the tensor's own: what arrives there is in the tensor. These libraries transmit no
type and no shape. They ignore access rights: UCXX receives into read-only memory, so use
describe(t, writable=True) for what receives. On GPUs they order nothing, unless they are given a
stream: call d.synchronize() before each transfer.
"""

from dovetail import _core, describe_pair
from dovetail._costs import NIXL_COSTS, Costs, Plan, measure_costs
from dovetail._pairs import NIXL_MEMORY as _NIXL_MEMORY
from dovetail._pairs import Layout, Pair, check_device, check_writable
from dovetail._runs import extent, rows, runs, strided_rows
from dovetail._streams import synchronize

__all__ = [
    "NIXL_COSTS",
    "Costs",
    "Description",
    "Layout",
    "Pair",
    "Plan",
    "describe",
    "describe_pair",
    "measure_costs",
]

# ncclDataType_t. RCCL has the same numbers.
_NCCL_TYPES = {
    "int8": 0,
    "uint8": 1,
    "int32": 2,
    "uint32": 3,
    "int64": 4,
    "uint64": 5,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "bfloat16": 9,
    "float8_e4m3fn": 10,
    "float8_e5m2": 11,
}


def describe(x, *, writable=False):
    """Return the Description of a tensor's memory.

    x         whatever from_dlpack() accepts, without a copy
    writable  True: to receive into. Raises ExchangeError if the tensor is read-only.

    Raises ExchangeError for a tensor that requires gradients, for devices other than the CPU
    (pinned memory included), CUDA and ROCm, and for packed elements (int4, float4) whose contiguous
    runs do not begin and end with whole bytes.
    """
    tensor = _core.from_dlpack(x)
    check_writable(writable and tensor.readonly)
    return Description(tensor)


class Description:
    """The memory of a tensor, which it keeps alive. describe() makes it. Immutable, thread-safe.

    tensor       the tensor
    address      of its first element
    nbytes       of all elements
    device_type, device_id
                 such as "cuda" and 1
    dtype, shape, strides, readonly
                 the tensor's; strides are in elements
    spans        N x 3: address, length in bytes, device id of its contiguous runs of memory, in
                 row-major order of the elements. A strided tensor can have as many as elements.
    strided      N x 5: address, length, device id, stride, count. Each row has the runs of the
                 innermost loop, which begin `stride` bytes apart. In the order of the spans.
                 NIXL's prep_xfer_dlist() takes it from version 1.5 on.
    iovec        N x 2: address, length in bytes, which is an array of struct iovec
    contiguous   whether it has at most one span, so that the elements are in row-major order
    extent       (address, nbytes): from its lowest to its highest byte

    The arrays are NumPy's, of uint64, C-contiguous, and new ones at each access; ImportError
    without NumPy. Negative strides are stored modulo 2**64, as NIXL adds them.
    """

    __slots__ = ("_loops", "_run", "tensor")

    def __init__(self, tensor):
        check_device(tensor)
        self.tensor = tensor
        self._run, self._loops = runs(tensor) if tensor.size else (0, ())

    address = property(lambda self: self.tensor.data_ptr())
    nbytes = property(lambda self: self.tensor.nbytes)
    device_type = property(lambda self: self.tensor.device.type)
    device_id = property(lambda self: self.tensor.device.index)
    dtype = property(lambda self: self.tensor.dtype)
    shape = property(lambda self: self.tensor.shape)
    strides = property(lambda self: self.tensor.strides)
    readonly = property(lambda self: self.tensor.readonly)
    contiguous = property(lambda self: not self._loops)
    extent = property(lambda self: extent(self.tensor))

    @property
    def spans(self):
        return rows(self.address, self._all_loops(), self._run, self.device_id)

    @property
    def strided(self):
        return strided_rows(self.address, self._run, self.device_id, self._all_loops())

    @property
    def iovec(self):
        return rows(self.address, self._all_loops(), self._run)

    def synchronize(self):
        """Wait on the host for the work that is pending on memory of a GPU."""
        synchronize(self.tensor)

    @property
    def nixl_memory(self):
        """NIXL's memory type: "DRAM" or "VRAM"."""
        return _NIXL_MEMORY[self.device_type]

    def nixl_registration(self):
        """Return the list for nixl_agent.register_memory() and get_reg_descs(), of one region.

        The region is the extent, so that it has all spans: NIXL registers pages with the network
        card. Deregister it before the last reference to this object goes.
        """
        return [(*self.extent, self.device_id, "")]

    def nixl_transfer(self, *, strided=False):
        """Return the array for nixl_agent.get_xfer_descs() and prep_xfer_dlist(): the spans.

        strided  True: the N x 5 array, for prep_xfer_dlist() alone. Descriptors are numbered as
                 spans all the same.

        The two sides of a transfer need as many spans of the same sizes: see describe_pair().
        """
        return self.strided if strided else self.spans

    def buffer(self):
        """Return the memory as a one-dimensional uint8 tensor, for libraries such as UCXX.

        It has the buffer protocol on the CPU and the CUDA Array Interface on GPUs, also for types
        that these lack (bfloat16, float8, int4). Raises ExchangeError for several spans; ValueError
        on a GPU for packed elements that do not fill their last byte.
        """
        self._check_contiguous("A buffer of bytes is")
        if not self._run:
            return _core.empty(0, dtype=_core.uint8, device=self.tensor.device)
        if self.nixl_memory == "DRAM":
            return _core.frombuffer(self.tensor, dtype=_core.uint8)
        return self.tensor.reshape(-1).view(_core.uint8)

    def nccl(self, *, as_bytes=False):
        """Return (pointer, count, ncclDataType_t) for NCCL's and RCCL's functions.

        as_bytes  True: as uint8, for functions that only move data (Send, Broadcast, AllGather) and
                  types that NCCL lacks. False: raise TypeError for these.

        Raises ExchangeError for memory that is not a GPU's, and for a tensor of several spans.
        """
        if self.nixl_memory != "VRAM":
            raise _core.ExchangeError(
                f"NCCL needs memory of a GPU, not of {self.tensor.device}; copy the tensor, as in "
                't.to("cuda:0").'
            )
        self._check_contiguous("NCCL's buffers are")
        if as_bytes:
            return self.address, self._run, _NCCL_TYPES["uint8"]
        if self.dtype.name not in _NCCL_TYPES:
            raise TypeError(
                f"NCCL has no type {self.dtype.name}; to move the data unchanged, use "
                "nccl(as_bytes=True)"
            )
        return self.address, self.tensor.size, _NCCL_TYPES[self.dtype.name]

    def _all_loops(self):
        return self._loops if self._run else ((0, 0),)

    def _check_contiguous(self, what):
        if self._loops:
            raise _core.ExchangeError(
                f"{what} contiguous, and this tensor with strides {self.strides} is not; copy it "
                "first, as in t.copy(), or transfer its spans one by one."
            )

    def __repr__(self):
        spans = "contiguous" if self.contiguous else f"runs of {self._run} bytes"
        return (
            f"Description({self.nbytes} bytes at {self.address:#x} on {self.tensor.device}, "
            f"{spans}, {self.dtype.name} {self.shape})"
        )
