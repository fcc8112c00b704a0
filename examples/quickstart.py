"""A NumPy array goes through Dovetail to PyTorch and back without a copy.

./bazelw run //examples:quickstart
"""

import timeit

import numpy as np

import dovetail as dt


def main():
    print(f"Dovetail {dt.__version__}, DLPack {dt.dlpack_version[0]}.{dt.dlpack_version[1]}")

    step("Import a NumPy array")
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = dt.from_dlpack(array)
    show("array", array, array.ctypes.data, array.dtype, array.device)
    show("tensor", tensor, tensor.data_ptr(), tensor.dtype, tensor.device)
    check("same address", array.ctypes.data == tensor.data_ptr())

    step("Memory is shared both ways")
    tensor[0, 0] = 10
    check("tensor[0, 0] = 10 shows in the array", array[0, 0] == 10)
    array[1, 2] = -1
    check("array[1, 2] = -1 shows in the tensor", tensor[1, 2].item() == -1)

    step("Pass it on to a second consumer, transposed and still without a copy")
    consumer, taken, address = hand_on(tensor.T)
    show(consumer, taken, address, taken.dtype, taken.device)
    check("same address", address == tensor.data_ptr())
    taken[2, 0] = 7
    check(f"a write by {consumer} shows in NumPy", array[0, 2] == 7)

    step("Errors say why something can't be shared")
    frozen = dt.from_dlpack(np.broadcast_to(np.float32(1), (2, 3)))
    try:
        frozen[0, 0] = 2
    except ValueError as error:
        print(f"  {type(error).__name__}: {error}")
    print("  " + repr(dt.explain(frozen.numpy(), type(taken))).replace("\n", "\n  "))

    step("What it costs")
    time("dt.from_dlpack(array)", lambda: dt.from_dlpack(array))
    time(f"dt.convert(array, {consumer})", lambda: dt.convert(array, type(taken)))
    time("tensor.numpy()", tensor.numpy)
    big = np.zeros((1024, 1024), np.float32)
    time("dt.from_dlpack(4 MiB array)", lambda: dt.from_dlpack(big))
    time("4 MiB array.copy(), for comparison", big.copy, number=50)


def hand_on(tensor):
    """Converts the tensor for another library: PyTorch if it is installed, else NumPy."""
    try:
        import torch
    except ModuleNotFoundError:
        array = np.from_dlpack(tensor)
        return "numpy.ndarray", array, array.ctypes.data
    taken = torch.from_dlpack(tensor)
    return "torch.Tensor", taken, taken.data_ptr()


def step(title):
    print(f"\n{title}")


def show(name, values, address, dtype, device):
    print(f"  {name:<14}at {address:#x}  {dtype}  {tuple(values.shape)}  on {device}")
    print("      " + str(values).replace("\n", "\n      "))


def check(what, holds):
    if not holds:
        raise SystemExit(f"  FAILED: {what}")
    print(f"  {what}: yes")


def time(what, function, number=20_000):
    best = min(timeit.repeat(function, number=number, repeat=5)) / number
    print(f"  {what:<36}{best * 1e9:>12,.0f} ns")


if __name__ == "__main__":
    main()
