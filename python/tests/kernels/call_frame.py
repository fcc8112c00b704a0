"""A call of XLA's foreign function interface, made as XLA makes it: for devices JAX lacks here.

The structs are those of xla/ffi/api/c_api.h, which xla_ffi_test.cc checks.
"""

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_void_p

F32, S64 = 11, 5  # XLA_FFI_DataType


class Error(RuntimeError):
    """What a handler returned: XLA's code, and the text."""


def _struct(name, **fields):
    head = [("size", c_size_t), ("extension", c_void_p)]
    return type(name, (ctypes.Structure,), {"_fields_": head + list(fields.items())})


Version = _struct("Version", major=c_int32, minor=c_int32)
ErrorArgs = _struct("ErrorArgs", message=c_char_p, code=c_int32)
StreamArgs = _struct("StreamArgs", context=c_void_p, stream=c_void_p)
OrdinalArgs = _struct("OrdinalArgs", context=c_void_p, ordinal=c_int32)
Buffer = _struct("Buffer", dtype=c_int32, data=c_void_p, rank=c_int64, dims=POINTER(c_int64))
Buffers = _struct("Buffers", count=c_int64, types=c_void_p, all=POINTER(POINTER(Buffer)))
Attributes = _struct("Attributes", count=c_int64, types=c_void_p, names=c_void_p, all=c_void_p)
ErrorCreate = ctypes.CFUNCTYPE(c_void_p, POINTER(ErrorArgs))
StreamGet = ctypes.CFUNCTYPE(c_void_p, POINTER(StreamArgs))
OrdinalGet = ctypes.CFUNCTYPE(c_void_p, POINTER(OrdinalArgs))
Api = _struct(
    "Api",
    version=Version,
    internal=c_void_p,
    error_create=ErrorCreate,
    error_others=c_void_p * 2,
    handler_register=c_void_p,
    stream_get=StreamGet,
    others=c_void_p * 12,
    ordinal_get=OrdinalGet,
)
Frame = _struct(
    "Frame",
    api=POINTER(Api),
    context=c_void_p,
    stage=c_int32,
    arguments=Buffers,
    results=Buffers,
    attributes=Attributes,
    future=c_void_p,
)


def _buffers(tensors):
    made = []
    for dtype, address, shape in tensors:
        dims = (c_int64 * len(shape))(*shape)
        made.append(Buffer(ctypes.sizeof(Buffer), None, dtype, address, len(shape), dims))
    pointers = (POINTER(Buffer) * len(made))(*map(ctypes.pointer, made))
    return Buffers(ctypes.sizeof(Buffers), None, len(made), None, pointers), (made, pointers)


def run(capsule, arguments, results, *, stream, ordinal):
    """Call the handler with (type, address, shape) of each tensor."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    handler = ctypes.CFUNCTYPE(c_void_p, POINTER(Frame))(
        pointer_of(capsule, b"xla._CUSTOM_CALL_TARGET")
    )
    errors = []

    def create(args):
        errors.append((args.contents.code, args.contents.message.decode()))
        return 1

    def get_stream(args):
        args.contents.stream = stream
        return None

    def get_ordinal(args):
        args.contents.ordinal = ordinal
        return None

    api = Api(
        ctypes.sizeof(Api),
        None,
        Version(ctypes.sizeof(Version), None, 0, 3),
        None,
        ErrorCreate(create),
        (c_void_p * 2)(),
        None,
        StreamGet(get_stream),
        (c_void_p * 12)(),
        OrdinalGet(get_ordinal),
    )
    given, kept = _buffers(arguments)
    written, kept_too = _buffers(results)
    none = Attributes(ctypes.sizeof(Attributes), None, 0, None, None, None)
    frame = Frame(
        ctypes.sizeof(Frame), None, ctypes.pointer(api), None, 3, given, written, none, None
    )
    failed = handler(ctypes.byref(frame))
    del kept, kept_too
    if failed:
        raise Error("{}: {}".format(*errors[0]))
