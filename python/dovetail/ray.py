"""A tensor transport for Ray: actors of one node share tensors instead of copying them.

    import dovetail.ray
    dovetail.ray.register()

    @ray.remote(enable_tensor_transport=True)
    class Producer:
        @ray.method(tensor_transport="dovetail")
        def make(self):
            weights = dt.ipc.empty((1024, 1024), dtype="bfloat16")  # in memory that can be shared
            ...
            return {"weights": weights, "step": 1}

    ray.get(consumer.use.remote(producer.make.remote()))  # the consumer has the same memory

`ray.put(t, _tensor_transport="dovetail")` shares a tensor of the caller. Tensors of Dovetail in the
value travel by the transport, and everything else in Ray's own way.

Memory that dovetail.ipc can share is not copied: type, shape, strides and access are kept, and all
sides read and write the same elements. Other memory of the CPU is copied once, into shared memory.

Ray's object store needs none of this: see docs/distributed/ray.md. This module imports Ray, and
`import dovetail` does not import this module.
"""

import pickle
from dataclasses import dataclass

import ray
from ray import cloudpickle
from ray.experimental import (
    CommunicatorMetadata,
    TensorTransportManager,
    TensorTransportMetadata,
    register_tensor_transport,
)
from ray.experimental.rdt.util import transport_manager_info

from dovetail import _core, ipc

__all__ = ["register"]


def register():
    """Register the transport with Ray, under the name "dovetail". A second call does nothing.

    Call it before the first ray.method() that names the transport. Ray registers it with actors
    that this process makes afterwards. Raises ValueError if Ray knows another transport of this
    name.
    """
    _core._ipc_unlink_left_behind()  # from now on also when this process ends
    known = transport_manager_info.get("DOVETAIL")
    if known is None or known.transport_manager_class is not Transport:
        register_tensor_transport("dovetail", ["cpu"], Transport, _core.Tensor)


@dataclass
class Metadata(TensorTransportMetadata):
    """Describes the tensors of one object to the processes that receive it.

    node     the sender's node, as Ray names it
    content  a pickled list: for each tensor of the object, itself or its Handle, and its
             requires_grad
    buffers  Handles of the pickle's buffers
    """

    node: str = ""
    content: bytes = b""
    buffers: tuple[ipc.Handle, ...] = ()


class Transport(TensorTransportManager):
    """Sends tensors as handles of shared memory. Ray makes one in each process, and calls it."""

    def __init__(self):
        self._kept = {}  # the handles of each object, which keep its memory until Ray frees it

    def tensor_transport_backend(self):
        return "DOVETAIL"

    @staticmethod
    def is_one_sided():
        return True

    @staticmethod
    def can_abort_transport():
        return True  # or Ray would kill the surviving actor of a transfer that failed

    def actor_has_tensor_transport(self, actor):
        return True

    def extract_tensor_transport_metadata(self, obj_id, rdt_object):
        """Share the tensors, and return what receivers need to open them.

        Raises ExchangeError for a tensor that is not on the CPU.
        """
        for tensor in rdt_object:
            if str(tensor.device) != "cpu":
                raise _core.ExchangeError(
                    f"This transport shares memory of the CPU, and a tensor is on {tensor.device};"
                    " pass tensor.to('cpu'), or pass the tensor through Ray's object store."
                )
        _pickle_other_tensors_as_before()
        _core._ipc_unlink_left_behind()
        parts = [(_handle_or_tensor(t.detach()), t.requires_grad) for t in rdt_object]
        pickled = []
        content = pickle.dumps(parts, protocol=5, buffer_callback=pickled.append)
        buffers = tuple(
            ipc.share(_core.frombuffer(b.raw(), dtype=_core.uint8), copy=True) for b in pickled
        )
        self._kept[obj_id] = parts, buffers
        return Metadata(
            tensor_meta=[(tensor.shape, tensor.dtype) for tensor in rdt_object],
            tensor_device="cpu",
            node=ray.get_runtime_context().get_node_id(),
            content=content,
            buffers=buffers,
        )

    def get_communicator_metadata(self, src_actor, dst_actor, backend=None):
        return CommunicatorMetadata()

    def recv_multiple_tensors(
        self, obj_id, tensor_transport_metadata, communicator_metadata, target_buffers=None
    ):
        """Open the tensors. Copy them into `target_buffers`, if the receiver has set any."""
        try:
            tensors = _open(tensor_transport_metadata)
        except _core.ExchangeError as error:
            _core._ipc_unlink_left_behind()  # the sender may have been killed
            here, there = ray.get_runtime_context().get_node_id(), tensor_transport_metadata.node
            if here != there:
                raise _core.ExchangeError(
                    f"The tensors are on node {there} and this process is on node {here}. The"
                    " transport shares memory within one node; between nodes, pass tensors through"
                    " Ray's object store."
                ) from error
            raise
        for target, tensor in zip(target_buffers or (), tensors, strict=False):
            _core.copyto(target, tensor)
        return target_buffers or tensors

    def send_multiple_tensors(self, tensors, tensor_transport_metadata, communicator_metadata):
        raise NotImplementedError("receivers open the tensors themselves")

    def garbage_collect(self, obj_id, tensor_transport_meta, tensors):
        """Let go of the memory. Receivers that have opened it keep it."""
        self._kept.pop(obj_id, None)

    def abort_transport(self, obj_id, communicator_metadata):
        """Receivers open tensors or fail at once, so that there is nothing to stop."""
        _core._ipc_unlink_left_behind()


def _handle_or_tensor(tensor):
    """Return a Handle if the tensor's own memory can be shared, otherwise the tensor."""
    try:
        return ipc.share(tensor)
    except _core.ExchangeError:
        return tensor


def _open(metadata):
    buffers = [ipc.open(handle) for handle in metadata.buffers]
    tensors = []
    for part, requires_grad in pickle.loads(metadata.content, buffers=buffers):
        tensor = ipc.open(part) if isinstance(part, ipc.Handle) else part
        tensors.append(tensor.requires_grad_() if requires_grad else tensor)
    return tensors


def _pickle_other_tensors_as_before():
    """Make Ray pickle tensors with out-of-band buffers, but for those that the transport sends.

    When a process first uses a transport for a class, Ray installs a serializer for this class. For
    objects that do not use the transport, that one would write the tensor's bytes into the pickle:
    ray.put(t) would copy several times, and ray.get() would copy again.
    """
    serializers = cloudpickle.CloudPickler.dispatch
    rays = serializers.get(_core.Tensor)
    if rays is None or isinstance(rays, _Serializer):
        return
    context = ray._private.worker.global_worker.get_serialization_context()
    serializers[_core.Tensor] = _Serializer(rays, context._thread_local)


class _Serializer:
    def __init__(self, with_transport, state):
        self._with_transport = with_transport
        self._state = state

    def __call__(self, tensor):
        if getattr(self._state, "use_external_transport", False):
            return self._with_transport(tensor)
        return tensor.__reduce_ex__(5)
