"""Zero-copy exchange of tensors between frameworks and devices.

>>> import array
>>> import dovetail as dt
>>> a = array.array("i", [1, 2, 3])
>>> t = dt.frombuffer(a, dtype=dt.int32)
>>> t[0] = -1
>>> a
array('i', [-1, 2, 3])

from_dlpack() takes any framework's tensor and shares its memory. Any framework can take a Tensor
through the same protocol. This package imports no framework.
"""

try:
    from dovetail import _core
except ImportError as error:
    error.msg += f" (`python {__path__[0]}/doctor` looks for the cause)"
    raise
from dovetail import ipc, utils
from dovetail._core import *  # noqa: F403
from dovetail._core import __version__  # noqa: F401
from dovetail._creation import empty_like, full_like, ones, ones_like, zeros_like

__all__ = [name for name in dir(_core) if not name.startswith("_")] + [
    "Reshard",
    "convert_tree",
    "describe",
    "describe_pair",
    "empty_like",
    "explain",
    "full_like",
    "get_include",
    "ipc",
    "load_kernels",
    "no_copies",
    "ones",
    "ones_like",
    "pickle_device",
    "set_allocator",
    "show_config",
    "trace",
    "utils",
    "zeros_like",
]


def explain(x, target=None, *, device=None, copy=None):
    """Report how x would be imported, whether the result would share memory or copy, and why.

    With a target class, report what convert(x, target) would do. Print the report or read its
    fields: see dovetail._explain.Report.
    """
    from dovetail._explain import explain

    return explain(x, target, device=device, copy=copy)


def convert_tree(tree, target, *, copy=None):
    """Return the containers with every tensor in them converted to the class target.

    tree    nested dicts, lists, tuples (named ones, too) and dataclasses, such as a state dict or
            a batch. New containers of the same classes are returned, made as copy.copy() makes
            them, with their attributes; what is no tensor stays.
    target, copy  as in convert()

    >>> import numpy as np
    >>> dt.convert_tree({"x": [np.arange(2)], "n": 3}, dt.Tensor)
    {'x': [tensor([0, 1])], 'n': 3}
    """
    from dovetail._trees import convert_tree

    return convert_tree(tree, target, copy=copy)


def describe(x, *, writable=False):
    """Return where a tensor's memory is, in the words of NIXL, UCX, NCCL and MPI, without a copy.

    The Description has arrays of rows for these libraries: see dovetail.distributed.describe.

    >>> dt.describe(dt.zeros((4, 6))[:, :3]).strided[:, [1, 3, 4]]  # length, stride, count
    array([[12, 24,  4]], dtype=uint64)
    """
    from dovetail.distributed import describe

    return describe(x, writable=writable)


def describe_pair(a, b, *, granularity=None):
    """Return the Pair: the memory of two layouts of one tensor, a's and b's, row by row.

    Transfer each row of a_spans to the same row of b_spans. A Pair has the smallest number of rows.

    a, b         where the elements come from, and where they go. Whatever from_dlpack() accepts,
                 without a copy, or a Layout, such as that of a tensor of another process. Element
                 i of one, in row-major order, is element i of the other: pass views in the same
                 logical order. The shapes may differ, as those of (blocks, 16, n) and
                 (blocks / 2, 32, n) do. Dimensions are not matched by their sizes: where b has
                 another order of dimensions, pass a permuted view. explain() says so if the shapes
                 look like a forgotten permute.
    granularity  the most bytes of a row. Longer runs are cut at multiples of it. None: no limit.

    The Pair keeps tensors alive, and not the memory of Layouts. It finds the rows here, without the
    GIL if there are many: a regular correspondence takes microseconds and no memory until its
    arrays are asked for; an irregular one, such as blocks of 10 and of 6, lists its runs.

    Raises TypeError for different types, ValueError for different numbers of elements and a
    granularity below 1, and ExchangeError if b is read-only or has elements that share memory
    (broadcast ones), if a run of packed elements (int4, float4) does not begin and end with whole
    bytes, and for what describe() refuses.

    >>> dt.describe_pair(dt.zeros((4, 6)).T, dt.zeros((4, 6)).T).count
    1
    """
    from dovetail._pairs import describe_pair

    return describe_pair(a, b, granularity=granularity)


def Reshard(shape, dtype, *, source, target, hosts=None, partial=False):  # noqa: N802
    """Return the plan of moving a tensor from one layout on ranks to another.

    source and target are meshes with placements as PyTorch's DTensor has them, or boxes by hand.
    The plan's run() moves every byte once: see dovetail.reshard.Reshard.

    >>> from dovetail.reshard import Mesh, Shard
    >>> mesh = Mesh(2)
    >>> plan = dt.Reshard((4, 6), "int16", source=(mesh, [Shard(0)]), target=(mesh, [Shard(1)]))
    >>> plan.bytes(0, 1), plan.moved_bytes
    (12, 24)
    """
    from dovetail.reshard import Reshard

    return Reshard(shape, dtype, source=source, target=target, hosts=hosts, partial=partial)


def trace(*, limit=1_000_000):
    """Record every exchange, copy, cast, allocation and wait of the process while a block runs.

    limit   the number of events that are kept; log.left_out counts the others

    The context manager gives a dovetail._trace.Trace: iterate over its events, print it for a
    table, ask for copies(), exchanges() or waits(), or write it with to_json_lines() and
    to_perfetto(). It hears all threads. Without a trace, nothing is slower for it.

    DOVETAIL_TRACE=1 in the environment traces the whole process, and prints the table to stderr at
    its end; a name that ends in .json or .jsonl makes it a file for Perfetto, or of JSON lines.

    >>> import numpy as np
    >>> with dt.trace() as log:
    ...     t = dt.from_dlpack(np.arange(3))
    >>> log.events[0].way, log.copies()
    ('NumPy array', [])
    """
    from dovetail._trace import Trace

    return Trace(limit)


def no_copies():
    """Refuse copies of tensors on this thread while a block runs: they raise ExchangeError.

    Exchanges behave as with copy=False. Refused as well: copies that a method makes, such as
    reshape(), contiguous(), to() and copy(); numpy.array(x) and memoryview(x), which can't be told
    apart; and pickles before protocol 5. Allowed: writing into existing tensors, such as x[0] = y.

    >>> t = dt.arange(4).reshape(2, 2).T
    >>> with dt.no_copies():
    ...     t.contiguous()
    Traceback (most recent call last):
    dovetail.ExchangeError: This takes a copy of the tensor, which no_copies forbids here.
    """
    from dovetail._trace import NoCopies

    return NoCopies()


def load_kernels(path, *, namespace=None):
    """Load the functions of a kernel library, C++ functions over every framework's tensors.

    path       the shared object, made with dovetail/kernels.h. Loading it runs its code
    namespace  the name of PyTorch's operators: torch.ops.<namespace>.<function>. Default: the
               file's name up to its first dot

    Returns an object with the functions as attributes. ImportError for a file that is no kernel
    library, or one of a newer interface; ValueError where the namespace has such a function
    already. A library that was loaded before is returned again. PyTorch is not imported: the
    operators are there once it is.

        kernels = dt.load_kernels("kernels.so", namespace="mylib")
        z = kernels.scale_add(x, y, 2.0)
    """
    from dovetail._kernels import load_kernels

    return load_kernels(path, namespace=namespace)


def get_include():
    """Return the directory of the headers for extension modules in C and C++.

    With -I and this directory, "dovetail/python/capi.h" and "dlpack/dlpack.h" are found. CMake and
    pkg-config find it themselves: see `python -m dovetail --help`.
    """
    import os

    return os.path.join(os.path.dirname(__file__), "include")


def pickle_device(device):
    """Choose where tensors that were pickled on a GPU are loaded: on `device`, such as "cpu".

    None: on the device that they were pickled on, which is an error if there is none. Holds in the
    whole process, from this call on; as a context manager, until its end. Tensors that were pickled
    on the CPU are not affected.

    >>> import pickle
    >>> data = pickle.dumps(dt.arange(3))
    >>> with dt.pickle_device("cpu"):
    ...     pickle.loads(data)
    tensor([0, 1, 2])
    """
    from dovetail._pickle import PickleDevice

    return PickleDevice(device)


def set_allocator(device, allocator, kind="device"):
    """Choose where new memory of the device comes from, from this call on, in the whole process.

    allocator  a name of allocators(device), one of Dovetail's own; None: the default one. Or your
               own memory, aligned to 256 bytes:
               the module torch.cuda: PyTorch's caching allocator;
               an RMM memory resource, or any object with allocate(nbytes, stream), which returns an
               address, and deallocate(pointer, nbytes, stream); the stream is a Stream;
               a CuPy memory pool, or any object whose malloc(nbytes) returns one with .ptr;
               a pair of C functions with the signatures of torch.cuda's CUDAPluggableAllocator,
               void *alloc(ssize_t, int, void *) and void free(void *, ssize_t, int, void *), as
               ctypes function pointers or addresses;
               a capsule "dovetail_allocator" of dovetail/core/abi/allocator_abi.h, once each
    kind       of memory: "device", "pinned", "managed" or "shared" (with other processes)

    Memory that exists goes back to where it came from, and keeps its allocator alive. An exception
    in allocate() is the __cause__ of the allocation's error. docs/devices/own_memory.md says what
    holds of streams, threads, statistics and captures. Your functions must not make tensors.
    ValueError for an unknown name, TypeError for what is no allocator.

    >>> dt.set_allocator("cpu", None)
    """
    if allocator is None or isinstance(allocator, str):
        _core._set_allocator(device, allocator, kind)
    else:
        from dovetail._allocators import set_allocator

        set_allocator(device, allocator, kind)


def show_config(mode="stdout"):
    """Print what this installation was built with, and what it found: for reports of problems.

    mode  "stdout": print, and return None; "dicts": return a dict of dicts, one for each heading

    >>> dt.show_config(mode="dicts")["simd"]["compiled"]
    ['sse2', 'ssse3', 'avx2', 'avx512', 'avx512_vbmi']
    """
    from dovetail._config import show_config

    return show_config(mode)


if _core._trace_setting:
    from dovetail._trace import start_from_environment

    start_from_environment(_core._trace_setting)
    del start_from_environment
