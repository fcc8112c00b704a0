"""The work that is pending on a tensor's memory, for libraries that know no streams."""

from dovetail import _core


def gather_work(tensor):
    """Make the current stream of the tensor's GPU wait for all work on its memory. Return it.

    Return None if no backend serves the device: nothing here can wait for its streams then.
    """
    device = tensor.device
    if device.type not in ("cuda", "rocm") or not isinstance(_core.backends()[device.type], int):
        return None
    stream = _core.current_stream(device)
    default = 1 if device.type == "cuda" else 0  # DLPack's numbers for the default stream
    tensor.__dlpack__(stream=stream.handle or default, max_version=(1, 0))
    return stream


def synchronize(tensor):
    """Wait on the host for all work on the tensor's memory."""
    stream = gather_work(tensor)
    if stream is not None:
        stream.synchronize()
