"""The C exchange table of planted.py.

    planted_exchange.offer(library)      # its arrays' class gets the table

A process has one such library.
"""

import ctypes

import capsules
import planted
import planted_export
import planted_import
import planted_trampolines

from dlpack_conformance.structs import READ_ONLY, DLManagedTensorVersioned, DLTensor

_NAMES = b"dlpack_exchange_api", b"dlpack_exchange_table"
_SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class _Other(planted.Array):
    """A class that is not the one of the table."""


def offer(library):
    table = Table(library)
    name = _NAMES[library.breaks("exchange.capsule")]
    capsule = capsules.new(ctypes.addressof(table.header), name, None)
    for cls in (planted.Array, planted_export.Unsupported):
        cls.__dlpack_c_exchange_api__ = capsule
    library.table = table


class Table:
    def __init__(self, library):
        self.library, self.breaks, self.kept, self.borrowed = library, library.breaks, [], None
        planted_trampolines.set(
            self.allocate, self.managed_from, self.managed_to, self.borrow, self.current_stream
        )
        functions = list(planted_trampolines.addresses())
        if self.breaks("exchange.functions"):
            functions[4] = 0
        version = 1 + self.breaks("exchange.version")
        self.header = (ctypes.c_uint64 * 7)(version | 3 << 32, 0, *functions)

    def managed_from(self, x, out):
        ctypes.c_void_p.from_address(out).value = ctypes.addressof(self._managed(x))
        return 0

    def _managed(self, x):
        array = self._array(x)
        if self.breaks("exchange.no-sync"):
            self.library.memory.before_export(self.breaks, None)
        managed = planted_export.managed(
            array, DLManagedTensorVersioned, READ_ONLY * array.read_only, self.breaks
        )
        if self.breaks("exchange.managed"):
            managed.dl_tensor.device_id = 1
        if self.breaks("exchange.managed-version"):
            managed.major = 2
        if self.breaks("exchange.lifetime"):
            planted_export.forget_owner(managed)
        if self.breaks("exchange.leak"):
            planted_export.leave(managed)
        if self.breaks("exchange.deleter"):
            planted_export.never_delete(managed)
        return managed

    def _array(self, x):
        if not isinstance(x, planted.Array):
            raise (TypeError if self.breaks("exchange.refuses") else BufferError)("unsupported")
        if x.swapped:
            raise BufferError("the other byte order")
        return x.resolved() if x.negated and not self.breaks("exchange.elements") else x

    def borrow(self, x, out):
        array = self._array(x)
        if self.breaks("exchange.references"):
            self.kept.append(x)
        managed = planted_export.managed(array, DLManagedTensorVersioned, 0, self.breaks)
        if self.borrowed:
            planted_export.free(self.borrowed[0])
        self.borrowed = managed, array
        if self.breaks("exchange.borrowed"):
            managed.dl_tensor.device_id = 1
        ctypes.memmove(out, ctypes.byref(managed.dl_tensor), ctypes.sizeof(DLTensor))
        return 0

    def managed_to(self, address, out):
        managed = DLManagedTensorVersioned.from_address(address)
        array = planted_import.adopt(self.library, managed)
        if self.breaks("exchange.to-python"):
            array.__class__ = _Other
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
        ctypes.c_void_p.from_address(out).value = id(array)
        return 0

    def allocate(self, prototype, out, context, set_error):
        tensor = DLTensor.from_address(prototype)
        dtype = planted_import.DTYPES.get((tensor.code, tensor.bits))
        if dtype is None or tensor.device_type != self.library.device_type:
            if not self.breaks("exchange.allocator-error"):
                _SetError(set_error)(context, b"BufferError", b"it can't be made")
            return -1
        shape = tensor.shape[: tensor.ndim]
        if self.breaks("exchange.allocator"):
            shape.reverse()
        array = self.library.zeros(shape, dtype)
        managed = planted_export.managed(array, DLManagedTensorVersioned, 0, self.breaks)
        if self.breaks("exchange.allocator-deleter"):
            planted_export.never_delete(managed)
        ctypes.c_void_p.from_address(out).value = ctypes.addressof(managed)
        return 0

    def current_stream(self, device_type, device_id, out):
        if device_type != 1:
            stream = 1 if self.breaks("exchange.stream") else self.library.memory.stream
            ctypes.c_void_p.from_address(out).value = stream
        elif not self.breaks("exchange.cpu-stream"):
            stream = 7 if self.breaks("exchange.cpu-stream 7") else None
            ctypes.c_void_p.from_address(out).value = stream
        return 0
