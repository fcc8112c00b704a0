"""A tensor's memory as contiguous runs of bytes, for MPI datatypes and lists of descriptors."""

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
    bits = tensor.dtype.bits * tensor.dtype.lanes
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
