"""Pickling of tensors and types. The first pickling imports this module.

    >>> import pickle
    >>> import dovetail as dt
    >>> pickle.loads(pickle.dumps(dt.arange(6).reshape(2, 3).T, protocol=5)).strides
    (1, 3)

Pickling preserves elements, shape, strides, dtype, readonly, requires_grad and the device. A pickle
has the memory of each tensor once: tensors that share memory share it again when they are loaded.
With protocol 5 a memory is one PickleBuffer, which buffer_callback= can pass on without a copy, and
a tensor loaded from buffers= lies in them. It is read-only if they are, as NumPy's arrays are.

Which memory a tensor is pickled with:

- All of what it shares with its views, if that has at most twice the bytes of its elements or 4096,
  or if the pickle has it already.
- Otherwise the part that its elements reach, if they fill it.
- Otherwise (a column of a large matrix, say) a copy of its elements, without the gaps.

A Pickler that is used again sends memory again if its thread wrote to a tensor since. What others
wrote it does not see, as with all objects that a Pickler knows; clear_memo() helps.

A tensor of a GPU is copied to the host, and loaded to the device of the same name, or to the one
that pickle_device() chose.
"""

import threading
from weakref import ref

from dovetail import _core

_FORMAT = 1  # of the arguments of load_tensor; a later format has another number


def _gone():
    """A weak reference to nothing."""


class _Memory:
    """Bytes that are pickled once, however many tensors of a pickle lie in them.

    Only the memos of picklers keep it alive.
    """

    __slots__ = ("__weakref__", "key", "part", "row", "writes")

    def __init__(self, row, key=None, writes=0):
        self.row = row
        self.key = key
        self.writes = writes  # what its thread had written when it was made
        self.part = _gone  # the _Part that asks whether a pickler has this

    def __reduce_ex__(self, protocol):
        part = self.part()
        if part is not None:
            part.is_alone = True
            _memories.known.pop(self.key, None)  # for this pickler it now means ()
            return tuple, ()
        device = str(self.row.device)
        row = self.row if device == "cpu" else _core.tensor(self.row, device="cpu")
        if protocol >= 5:
            return load_memory, (_core._pickle_buffer(row), row.nbytes, device)
        return load_bytes, (row.tobytes(), device)


class _Part:
    """A tensor in a small part of `memory`, which some pickler has: this one or another.

    An object is not told which pickler pickles it, but a pickler reduces only what it does not
    have: one that pickles `memory` and then this has told by then.
    """

    __slots__ = ("__weakref__", "is_alone", "memory", "needs", "tensor")

    def __init__(self, memory, tensor, needs):
        self.memory = memory
        self.tensor = tensor
        self.needs = needs
        self.is_alone = False
        memory.part = ref(self)

    def __reduce_ex__(self, protocol):
        self.memory.part = _gone
        if self.is_alone:
            return _reduce_alone(self.tensor, self.needs)
        return _reduce_in(self.memory, self.tensor, self.needs)


class _Memories(threading.local):
    """The memories of the pickles that this thread makes, and some that are gone."""

    known: dict[tuple[int, int, bool], ref[_Memory]]

    def __init__(self):
        self.known = {}


_memories = _Memories()
_MOST = 64  # how many there may be before those that are gone are removed


def reduce_tensor(tensor, protocol):
    """Return the value of Tensor.__reduce_ex__."""
    needs = _core._memory_of(tensor)
    whole, _, is_worth, writes, *_ = needs
    memory = _find(whole, writes, make=is_worth)
    if memory is None:
        return _reduce_alone(tensor, needs)
    if is_worth:
        return _reduce_in(memory, tensor, needs)
    return load_beside, (memory, _Part(memory, tensor, needs))


def fields_of(tensor):
    """Return the arguments of load_tensor() for one tensor, without regard to any pickle.

    The second, the memory, is a tensor of uint8 on the tensor's device.
    """
    needs = _core._memory_of(tensor)
    whole, _, is_worth, *_ = needs
    reduce = _reduce_in(_Memory(whole), tensor, needs) if is_worth else _reduce_alone(tensor, needs)
    _, (version, memory, *fields) = reduce
    return version, memory.row, *fields


def _reduce_in(memory, tensor, needs):
    """Return what reduces a tensor that lies in `memory`."""
    memory.part = _gone  # one that was not pickled after all
    *_, address, fields = needs
    offset = address - memory.row.data_ptr() if tensor.size else 0
    return load_tensor, (_FORMAT, memory, offset, *fields)


def _reduce_alone(tensor, needs):
    """Return what reduces a tensor in a part of its memory, or in a copy without the gaps."""
    _, part, _, writes, *_ = needs
    if part is not None:
        return _reduce_in(_find(part, writes, make=True), tensor, needs)
    row, *_, (dtype, shape, strides, _, padded, _) = _core._memory_of(tensor.detach().copy("K"))
    fields = dtype, shape, strides, tensor.readonly, padded, tensor.requires_grad
    return load_tensor, (_FORMAT, _Memory(row), 0, *fields)


def _find(row, writes, *, make):
    """Return the _Memory of these bytes that a pickler of this thread has; else a new one or None.

    One that was pickled before the thread's last write is not it.
    """
    known = _memories.known
    key = row.data_ptr(), row.nbytes, row.readonly
    found = known.get(key)
    memory = None if found is None else found()
    if memory is not None and memory.writes == writes:
        return memory
    if not make:
        return None
    if len(known) >= _MOST:
        for old, gone in list(known.items()):
            if gone() is None:
                known.pop(old, None)
    memory = _Memory(row, key, writes)
    known[key] = ref(memory)
    return memory


def load_tensor(format, memory, *fields):
    """Return the tensor that reduce_tensor pickled. `memory` is load_memory's value."""
    if format != _FORMAT or len(fields) != 7:
        raise ValueError(
            f"this tensor was pickled by another version of Dovetail: its format is {format!r:.20},"
            f" and version {_core.__version__} reads {_FORMAT}"
        )
    return _core._tensor_in(memory, fields)


def load_beside(_, tensor):
    """Return `tensor`. Its pickle has the other argument first, for _Part."""
    return tensor


def load_memory(data, nbytes, device):
    """Return `data`, which supports the buffer protocol, as a tensor of uint8 on `device`."""
    if not isinstance(device, str):
        raise TypeError(f"a pickled tensor's device must be a name, not {device!r:.100}")
    with memoryview(data) as view:
        if view.nbytes != nbytes:
            raise ValueError(
                f"the memory of a pickled tensor had {nbytes!r:.40} bytes, and this buffer has "
                f"{view.nbytes}: it is cut or belongs to another pickle"
            )
    if nbytes == 0:  # there is no empty buffer to read
        row = _core.empty(0, dtype=_core.uint8)
    else:
        row = _core.frombuffer(data, dtype=_core.uint8)
    return row if device == "cpu" else _to_device(row, device)


def load_bytes(data, device):
    """Return a copy of the bytes of a pickle before protocol 5, where they can't be written."""
    row = load_memory(data, len(data), device)
    return row.copy() if row.readonly else row  # on a GPU it is a copy already


def _to_device(row, device):
    try:
        return _core.tensor(row, device=_device or device)
    except (RuntimeError, ValueError, BufferError) as error:
        place = device if _device is None else f"{device}, to be loaded on {_device},"
        raise RuntimeError(
            f"a tensor was pickled on {place} which this process can't use: {error}. "
            'After dovetail.pickle_device("cpu") such tensors are loaded on the CPU'
        ) from error


_device = None  # where tensors that were pickled on a GPU are loaded; None: where they were


class PickleDevice:
    """dovetail.pickle_device, which documents it."""

    def __init__(self, device):
        global _device
        chosen = None if device is None else str(_core.Device(device))
        self._previous, _device = _device, chosen

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        global _device
        _device = self._previous


def restore_dtype(name):
    """dovetail.dtype, as a Python function: pickle can't find a C++ function by name."""
    return _core.dtype(name)
