"""The work that is pending on a tensor's memory, for libraries that know no streams."""

from dovetail import _core


def synchronize(tensor):
    """Wait on the host for all work on the tensor's memory.

    If no backend serves the device, nothing here can wait for its streams, and this returns.
    """
    device = tensor.device
    if device.type == "cpu":
        return
    vendor = device.type.split("_")[0]
    if not isinstance(_core.backends().get(vendor), int):
        return
    if device.type not in ("cuda", "rocm"):
        # For a consumer that may read on the host, or has no queue, an export waits.
        tensor.__dlpack__(max_version=(1, 0))
        return
    stream = _core.current_stream(device)
    default = 1 if device.type == "cuda" else 0  # DLPack's numbers for the default stream
    # An export makes the consumer's stream wait for the others.
    tensor.__dlpack__(stream=stream.handle or default, max_version=(1, 0))
    stream.synchronize()
