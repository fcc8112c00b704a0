"""Tensors in Dask (distributed), which finds this module by itself where both are installed.

    client.submit(f, tensor)          # travels as its pickle: the frame is the tensor's memory
    dask.array.from_array(tensor)     # an array of Dask

A tensor needs no serialiser of its own: Dask pickles it by protocol 5, whose buffers are frames.
They are tensors' memory on the way out, and tensors lie in them on the way in. This module adds
what Dask can't know: how much memory a tensor takes, and, after register_cuda(), that UCX can send
a GPU's memory as it is. docs/distributed/dask.md says more. Importing this module imports no Dask.
"""

from dovetail import _core
from dovetail._pickle import fields_of, load_tensor
from dovetail._streams import synchronize


def register_sizeof(sizeof):
    """Tell dask.sizeof how many bytes a tensor takes. Dask calls this (entry point dask.sizeof)."""
    sizeof.register(_core.Tensor, _bytes_of)


def register_cuda():
    """Let Dask send tensors on NVIDIA's GPUs from GPU to GPU, where its protocol is UCX.

    Without it they travel by way of the host. Each process must call it, or be started by
    `dask worker --preload dovetail.dask`. Needs distributed.
    """
    from distributed.protocol.cuda import cuda_deserialize, cuda_serialize

    cuda_serialize.register(_core.Tensor, dump_cuda)
    cuda_deserialize.register(_core.Tensor, load_cuda)


def dask_setup(service):
    """What `--preload dovetail.dask` calls: register_cuda()."""
    register_cuda()


def dump_cuda(tensor):
    """Return a header for msgpack and the frame, a 1-D tensor of uint8 on the GPU.

    The work on the memory is done when this returns. Raises NotImplementedError, which makes Dask
    try its next serialiser, for a tensor that is not on one of NVIDIA's GPUs.
    """
    if tensor.device.type != "cuda":
        raise NotImplementedError(f"{tensor.device} has no CUDA frames")
    version, memory, *fields = fields_of(tensor)
    synchronize(tensor)  # UCX knows no streams
    return {"version": version, "fields": fields}, [memory]


def load_cuda(header, frames):
    """Return the tensor whose memory is the frame, an object with the CUDA array interface."""
    (frame,) = frames
    row = _core.from_cuda_array_interface(frame)
    return load_tensor(header["version"], row, *_tuples(header["fields"]))


def _tuples(fields):
    # msgpack makes lists of tuples if it is told so.
    return [tuple(field) if isinstance(field, list) else field for field in fields]


def _bytes_of(tensor):
    repeats = 1
    for size, stride in zip(tensor.shape, tensor.strides, strict=True):
        if stride == 0 and size > 1:
            repeats *= size
    return tensor.__sizeof__() + tensor.nbytes // repeats
