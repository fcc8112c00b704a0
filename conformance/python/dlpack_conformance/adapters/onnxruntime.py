"""ONNX Runtime's OrtValue: no views, no access to elements but by NumPy."""

from ..adapter import Adapter

ADAPTER = Adapter(
    name="onnxruntime",
    setup="import numpy as np, onnxruntime; from onnxruntime import OrtValue",
    version="onnxruntime.__version__",
    dtype="np.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64",
    array="OrtValue.ortvalue_from_numpy(np.array({values}, dtype={dtype}))",
    ones="OrtValue.ortvalue_from_numpy(np.ones({size}, dtype={dtype}))",
    views={},
    take="OrtValue.from_dlpack({x})",
    values="{y}.numpy().tolist()",
    view=None,
    write="{y}.update_inplace(np.full({y}.shape(), 7, np.float32))",
)
