"""The lines of scripts for CUDA devices, which use the driver by ctypes alone.

How an order of work is seen: hold(stream) makes a stream wait until a number in memory is set. What
was ordered behind that stream has not happened then, and what was not ordered is seen to happen.
"""

import ctypes
import re

# The driver's functions on the first device. A deleter may be called on any thread, so that load()
# and put() make the context current themselves.
_DRIVER = """\
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    wide = [ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments]
    status = getattr(cuda, name)(*wide)
    assert status == 0, f"{name} returns {status}"
context, ordinal = ctypes.c_void_p(), ctypes.c_int()
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(ordinal), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ordinal)
call("cuCtxSetCurrent", context)
def load(kind, address):
    value = kind()
    call("cuCtxSetCurrent", context)
    call("cuCtxSynchronize")
    call("cuMemcpyDtoH_v2", ctypes.byref(value), address, ctypes.sizeof(value))
    return value
def put(value, address=None, offset=0):
    call("cuCtxSetCurrent", context)
    made = ctypes.c_uint64(address or 0)
    if address is None: call("cuMemAlloc_v2", ctypes.byref(made), 4096 + ctypes.sizeof(value))
    call("cuMemcpyHtoD_v2", made.value + offset, ctypes.byref(value), ctypes.sizeof(value))
    return made.value"""

# The watchdog opens the gate after some seconds, because the library may wait on the host for what
# the gate holds up. It is a process, which needs no GIL, and is forked before the driver is
# initialised.
_WATCHDOG = """\
gate, parent = mmap.mmap(-1, 4096), os.getpid()
# gate[0]: whether it is open, [4]: seconds until the watchdog opens it, [8]: whether that did
if os.fork() == 0:
    while not gate[4] and os.getppid() == parent: time.sleep(0.01)
    end = time.monotonic() + gate[4]
    while not gate[0] and time.monotonic() < end and os.getppid() == parent: time.sleep(0.01)
    if not gate[0]: gate[8] = gate[0] = 1
    os._exit(0)"""

_STREAMS = """\
host_gate, device_gate = ctypes.addressof(ctypes.c_char.from_buffer(gate)), ctypes.c_uint64()
call("cuMemHostRegister_v2", host_gate, 4096, 3)
call("cuMemHostGetDevicePointer_v2", ctypes.byref(device_gate), host_gate, 0)
def new_stream():
    stream = ctypes.c_void_p()
    call("cuStreamCreate", ctypes.byref(stream), 1)  # the default stream does not wait for it
    return stream.value
def hold(stream, seconds=3):
    call("cuStreamWaitValue32_v2", stream, device_gate, 1, 0)
    gate[4] = seconds
def settle(stream):
    end = time.monotonic() + 0.3
    while cuda.cuStreamQuery(ctypes.c_uint64(stream)) == 600 and time.monotonic() < end:
        time.sleep(0.01)
    return cuda.cuStreamQuery(ctypes.c_uint64(stream)) == 0
def open_gate():
    gate[0] = 1
    call("cuCtxSynchronize")"""

_NEEDS_STREAMS = re.compile(r"\b(gate|host_gate|new_stream|hold|settle|open_gate)\b")
_NEEDS_DRIVER = re.compile(r"\b(cuda\.cu\w*|call|load|put)\(")


def preamble(lines=None):
    """The lines that `lines` need before the library is imported; None: all."""
    text = "\n".join(lines or ())
    if lines is None or _NEEDS_STREAMS.search(text):
        return [_WATCHDOG, _DRIVER, _STREAMS]
    return [_DRIVER] if _NEEDS_DRIVER.search(text) else []


def problem():
    """Why there is no CUDA device; None if there is one. Asked in a process of its own, which may
    initialise the driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"the driver can't be loaded: {error}"
    status = driver.cuInit(0)
    if status:
        name = ctypes.c_char_p()
        driver.cuGetErrorName(status, ctypes.byref(name))
        return f"cuInit() returns {(name.value or b'%d' % status).decode()}"
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    return None if count.value else "the driver has none"
