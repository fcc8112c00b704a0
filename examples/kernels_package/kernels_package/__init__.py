"""Kernels over float32 tensors of every library."""

import pathlib

import dovetail as dt

_kernels = dt.load_kernels(
    pathlib.Path(__file__).with_name("kernels.so"), namespace="kernels_package"
)

add = _kernels.add
normalize = _kernels.normalize
