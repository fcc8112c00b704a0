"""A tensor's memory as contiguous runs of bytes, for MPI datatypes and lists of descriptors."""

import math

from dovetail import _core
from dovetail._core import ExchangeError


def runs(tensor):
    """Return (run, loops), which enumerate a tensor's memory in row-major order of its elements.

    run    the bytes of each contiguous run
    loops  (count, stride in bytes) of each loop over the runs, outermost first; () if the elements
           are one run

    A tensor without elements has no runs: do not pass one. Raises ExchangeError for packed
    elements (int4, float4) if a run does not begin and end with whole bytes. If packed elements are
    one run, it includes the unused bits of the last byte.
    """
    bits = _core._step_bits(tensor)
    run = bits
    loops = []
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.strides), strict=True):
        if size == 1:
            continue
        stride *= bits
        if not loops and stride == run:
            run *= size
        elif loops and stride == loops[0][0] * loops[0][1]:
            loops[0] = (loops[0][0] * size, loops[0][1])
        else:
            loops.insert(0, (size, stride))
    if not loops:
        return (run + 7) // 8, ()
    if run % 8 or any(stride % 8 for _, stride in loops):
        raise ExchangeError(
            f"The {tensor.dtype.name} elements share bytes, and with strides {tensor.strides} a "
            "run of them begins or ends inside a byte; copy the tensor first, as in t.copy()."
        )
    return run // 8, tuple((count, stride // 8) for count, stride in loops)


def extent(tensor):
    """Return (address, nbytes) from a tensor's lowest to its highest byte."""
    if not tensor.size:
        return tensor.data_ptr(), 0
    reach = [(size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True)]
    bits = _core._step_bits(tensor)
    below = sum(min(steps, 0) for steps in reach) * bits // 8
    return tensor.data_ptr() + below, (sum(map(abs, reach)) * bits + bits + 7) // 8


def import_numpy():
    """Return the module numpy. Raises ImportError that says what it is for."""
    try:
        import numpy
    except ImportError as error:
        raise ImportError(
            "Descriptors are NumPy arrays, and NumPy can't be imported; install it, as in "
            "`pip install numpy`.",
            name="numpy",
        ) from error
    return numpy


def iterations(loops):
    """Return how many iterations a nest of loops has, each a (count, ...)."""
    return math.prod(loop[0] for loop in loops)


def rows(address, loops, *constants):
    """Return a uint64 array with the row (address, *constants) for each iteration of the loops.

    loops  (count, stride in bytes) of each, outermost first

    Numbers below 0 are stored modulo 2**64.
    """
    numpy = import_numpy()
    out = numpy.empty((iterations(loops), 1 + len(constants)), numpy.uint64)
    _core._fill_rows(out, address, loops, constants)
    return out


def strided_rows(address, run, device, loops):
    """Return the rows (address, length, device, stride, count) of runs of `run` bytes.

    The innermost loop is in each row's stride and count. If its runs overlap, which NIXL refuses,
    each run has a row with a count of 1.
    """
    if loops and run:
        count, stride = loops[-1]
        if not 0 <= stride < run:
            return rows(address, loops[:-1], run, device, stride, count)
    return rows(address, loops, run, device, run, 1)
