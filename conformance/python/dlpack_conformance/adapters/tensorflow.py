"""TensorFlow: tensors never change, and the function that takes them in wants a capsule."""

from ..adapter import Adapter

ADAPTER = Adapter(
    name="tensorflow",
    setup="import tensorflow as tf",
    version="tf.__version__",
    dtype="tf.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 "
    "float64 complex64 complex128",
    array="tf.constant({values}, dtype={dtype})",
    ones="tf.ones([{size}], dtype={dtype})",
    views={"transposed": "tf.transpose({x})", "stepped": "{x}[:, ::2]", "sliced": "{x}[1:, 1:3]"},
    unsupported={"text": "tf.constant(['a'])"},
    take="tf.experimental.dlpack.from_dlpack({x}.__dlpack__())",
    values="{y}.numpy().tolist()",
)
