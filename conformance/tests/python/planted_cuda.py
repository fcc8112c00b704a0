"""The memory of planted.py on a CUDA device, by the driver alone, and what its streams do.

    library = planted.Library("producer.stream-order", planted_cuda.Memory("producer.stream-order"))

It works on the legacy default stream, or on that of on_stream().
"""

import contextlib
import ctypes

import planted

_LEGACY = 1  # the legacy default stream


def call(name, *arguments):
    wide = [ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments]
    status = getattr(ctypes.CDLL("libcuda.so.1"), name)(*wide)
    if status:
        raise RuntimeError(f"{name} returns {status}")


class Block:
    """Goes back to the pool with its last owner."""

    def __init__(self, pool, address):
        self.pool, self.address = pool, address

    def __del__(self):
        self.pool.append(self.address)


_pools: dict = {}  # addresses of free blocks, by their size


class Memory:
    device_type = 2

    def __init__(self, switches=""):
        self.offset = 64 if "producer.alignment" in (switches or "") else 0
        self.stream, self.context = _LEGACY, None

    def begin(self):
        """The driver, whose initialisation must not come before a fork."""
        if self.context is None:
            self.context = ctypes.c_void_p()
            call("cuInit", 0)
            call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        call("cuCtxSetCurrent", self.context)

    def allocate(self, data):
        block = self.block(max(1, len(data)))
        if data:
            self.write(block.address + self.offset, data)
        return block, block.address + self.offset

    def block(self, size):
        self.begin()
        pool = _pools.setdefault(size + self.offset, [])
        if not pool:
            address = ctypes.c_uint64()
            call("cuMemAlloc_v2", ctypes.byref(address), size + self.offset)
            pool.append(address.value)
        return Block(pool, pool.pop())

    def read(self, address, size):
        self.begin()
        data = ctypes.create_string_buffer(size)
        call("cuStreamSynchronize", self.stream)
        call("cuMemcpyDtoH_v2", data, address, size)
        return data.raw

    def write(self, address, data):
        self.begin()
        call("cuStreamSynchronize", self.stream)
        call("cuMemcpyHtoD_v2", address, data, len(data))

    def touch(self, array):
        """Make a first element 0 into −0, which is equal to it."""
        if array.dtype == "float32" and self.read(array.address, 4) == bytes(4):
            self.write(array.address + 3, b"\x80")

    def copy(self, array):
        """A copy of a plain array on the current stream."""
        size = array.itemsize * array.shape[0] * (array.shape[1] if array.shape[1:] else 1)
        block = self.block(size)
        address = block.address + self.offset
        call("cuMemcpyAsync", address, array.address, size, self.stream)
        return planted.Array(
            array.library, block, address, array.dtype, array.shape, planted.row_major(array.shape)
        )

    @contextlib.contextmanager
    def on_stream(self, handle):
        self.stream, before = handle, self.stream
        try:
            yield
        finally:
            self.stream = before

    def order(self, first, then):
        """What `then` does from now on comes after what `first` was given."""
        event = ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(event), 2)
        call("cuEventRecord", event, first)
        call("cuStreamWaitEvent", then, event, 0)
        call("cuEventDestroy_v2", event)

    def before_export(self, breaks, stream):
        self.begin()
        if stream == 0 and not breaks("producer.stream-zero"):
            raise ValueError("stream 0")
        if stream == 2 and breaks("producer.stream-values"):
            raise ValueError("stream 2")
        if breaks("producer.no-host-wait"):
            call("cuStreamSynchronize", self.stream)
        if stream == -1 and breaks("producer.stream-none"):
            self.order(self.stream, _LEGACY)
        elif stream != -1 and not breaks("producer.stream-order"):
            self.order(self.stream, stream or _LEGACY)

    def to_host(self, breaks, array):
        if not breaks("producer.to-host"):
            call("cuStreamSynchronize", self.stream)
        self.stream, before = _LEGACY, self.stream
        values, self.stream = array.tolist(), before
        return planted.Library("; ".join(array.library.switches)).array(values, array.dtype)

    def ask(self, breaks, x, **request):
        self.begin()
        stream = self.stream
        if breaks("consumer.stream-order"):
            stream = _LEGACY
        capsule = x.__dlpack__(stream=0 if breaks("consumer.stream") else stream, **request)
        if breaks("consumer.stream"):
            self.order(_LEGACY, self.stream)
        if breaks("consumer.no-host-wait"):
            call("cuStreamSynchronize", self.stream)
        return capsule
