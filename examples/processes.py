"""Processes work on one tensor: each squares the rows that it is told to, where they lie, uncopied.

./bazelw run //examples:processes
"""

import multiprocessing

import numpy as np

import dovetail as dt


def square(handle):
    array = np.from_dlpack(dt.ipc.open(handle))
    array *= array


def main():
    table = dt.ipc.empty((4, 1_000_000), dtype=dt.float64)  # in memory that others can open
    np.from_dlpack(table)[...] = np.arange(4)[:, None]

    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        pool.map(square, [dt.ipc.share(row) for row in table])  # some hundred bytes each

    print("the first column, squared by others:", table[:, 0].tolist())
    try:
        dt.ipc.share(dt.zeros(3))
    except dt.ExchangeError as error:
        print("\nordinary memory is no one else's:", error)


if __name__ == "__main__":
    main()
