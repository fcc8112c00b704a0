"""Several processes work on one tensor: each squares some of its rows in place, without a copy.

./bazelw run //examples:processes
"""

import multiprocessing

import numpy as np

import dovetail as dt


def square(handle):
    array = np.from_dlpack(dt.ipc.open(handle))
    array *= array


def main():
    table = dt.ipc.empty((4, 1_000_000), dtype=dt.float64)  # in shareable memory
    np.from_dlpack(table)[...] = np.arange(4)[:, None]

    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        pool.map(square, [dt.ipc.share(row) for row in table])  # a handle is some hundred bytes

    print("the first column, squared by the other processes:", table[:, 0].tolist())
    try:
        dt.ipc.share(dt.zeros(3))
    except dt.ExchangeError as error:
        print("\nordinary memory can't be shared:", error)


if __name__ == "__main__":
    main()
