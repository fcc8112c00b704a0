"""DLPack structs made by hand with ctypes: capsules as a producer makes them, valid and invalid.

    lent = Lent(shape=(2, 3))                  # float32, versioned, row-major, with its own data
    t = dovetail.from_dlpack(lent.capsule())
    del t
    assert lent.deletions == 1

    tensor = read(t.__dlpack__()).dl_tensor    # the struct in any library's unconsumed capsule

The structs are those of dlpack.h 1.3. Every Lent lives until the process ends, so that a late or
repeated call of its deleter is counted instead of crashing.
"""

import ctypes
import threading

import capsules
import numpy as np

CPU = (1, 0)
READ_ONLY, IS_COPIED, SUBBYTE_TYPE_PADDED = 1, 2, 4


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),  # in elements
        ("byte_offset", ctypes.c_uint64),
    ]


class Legacy(ctypes.Structure):
    """DLManagedTensor."""

    name, used_name = b"dltensor", b"used_dltensor"
    _fields_ = [
        ("dl_tensor", DLTensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    name, used_name = b"dltensor_versioned", b"used_dltensor_versioned"
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    ]


name_address = capsules.function("PyCapsule_GetName", ctypes.c_void_p, ctypes.py_object)

_lent = {}  # maps the address of a managed struct to its Lent


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _count_deletion(address):
    lent = _lent[address]
    lent.deletions += 1
    lent.threads.append(threading.get_ident())
    if lent.on_delete is not None:
        lent.on_delete()


_DELETER = ctypes.cast(_count_deletion, ctypes.c_void_p).value
# A capsule's destructor can run while an exception is set, when Python code can't run. So this
# borrows NumPy's destructor, which is C code.
_get_destructor = capsules.function("PyCapsule_GetDestructor", ctypes.c_void_p, ctypes.py_object)
_DESTRUCTORS = {
    Legacy.name: _get_destructor(np.zeros(1).__dlpack__()),
    Versioned.name: _get_destructor(np.zeros(1).__dlpack__(max_version=(1, 0))),
}


class Lent:
    """A managed tensor that counts calls of its deleter. Every field can have a wrong value."""

    def __init__(
        self,
        shape=(3,),
        strides="contiguous",  # None: NULL
        *,
        code=2,
        bits=32,
        lanes=1,
        version=(1, 3),  # None: a DLManagedTensor
        flags=0,
        device=CPU,
        data="own",  # None: NULL; or an address
        byte_offset=0,
        ndim=None,
        null_shape=False,
        null_deleter=False,
        on_delete=None,
    ):
        self.deletions, self.threads, self.on_delete = 0, [], on_delete
        self.memory = ctypes.create_string_buffer(4096)
        if strides == "contiguous":
            strides, step = [], 1
            for size in reversed(shape):
                strides.insert(0, step)
                step *= size
        self._shape, self._strides = _int64s(shape), _int64s(strides)
        kind = Legacy if version is None else Versioned
        self.managed = kind(deleter=None if null_deleter else _DELETER)
        if version is not None:
            self.managed.major, self.managed.minor = version
            self.managed.flags = flags
        t = self.managed.dl_tensor
        t.data = ctypes.addressof(self.memory) if data == "own" else data
        t.device_type, t.device_id = device
        t.ndim = len(shape) if ndim is None else ndim
        t.code, t.bits, t.lanes = code, bits, lanes
        if not null_shape:
            t.shape = ctypes.cast(self._shape, ctypes.POINTER(ctypes.c_int64))
        if strides is not None:
            t.strides = ctypes.cast(self._strides, ctypes.POINTER(ctypes.c_int64))
        t.byte_offset = byte_offset
        _lent[ctypes.addressof(self.managed)] = self

    @property
    def address(self):
        """The address of the memory that `data="own"` points to."""
        return ctypes.addressof(self.memory)

    def fill(self, values, ctype=ctypes.c_float, at=0):
        (ctype * len(values)).from_buffer(self.memory, at)[:] = values
        return self

    def capsule(self, name=None):
        """A new capsule around the struct. It frees the struct unless consumed (or misnamed)."""
        self._name = name or self.managed.name  # PyCapsule_New keeps the pointer
        return capsules.new(
            ctypes.addressof(self.managed), self._name, _DESTRUCTORS.get(self._name)
        )


class Producer:
    """An object with __dlpack__ and __dlpack_device__ that records the requests it gets."""

    def __init__(self, capsule, device=CPU):
        self._capsule, self._device, self.calls = capsule, device, []

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, **kwargs):
        self.calls.append(kwargs)
        return self._capsule(**kwargs)


def _int64s(values):
    return (ctypes.c_int64 * max(1, len(values or ())))(*(values or ()))


def kind_of(capsule):
    """Legacy or Versioned, by the name of an unconsumed capsule."""
    return {kind.name: kind for kind in (Legacy, Versioned)}[capsules.name(capsule)]


def read(capsule):
    """The struct in an unconsumed capsule, valid until it is consumed. Keeps the capsule."""
    kind = kind_of(capsule)
    managed = kind.from_address(capsules.pointer(capsule, kind.name))
    managed.capsule = capsule
    return managed


def shape_of(managed):
    return tuple(managed.dl_tensor.shape[i] for i in range(managed.dl_tensor.ndim))


def strides_of(managed):
    return tuple(managed.dl_tensor.strides[i] for i in range(managed.dl_tensor.ndim))


def call_deleter(managed, hold_gil=True):
    """Call the deleter as a consumer would, on this thread, with or without the GIL."""
    if managed.deleter:
        prototype = ctypes.PYFUNCTYPE if hold_gil else ctypes.CFUNCTYPE
        prototype(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))


def take_over(capsule):
    """Consume a capsule as a C consumer does: rename it as used, and return its struct."""
    managed = read(capsule)
    capsules.function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
        capsule, managed.used_name
    )
    del managed.capsule
    return managed
