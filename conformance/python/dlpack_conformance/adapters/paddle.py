"""Paddle on the CPU. Its slices have no negative steps."""

from ..adapter import VIEWS, Adapter

ADAPTER = Adapter(
    name="paddle",
    setup='import paddle; paddle.set_device("cpu")',
    version="paddle.__version__",
    dtype='"{name}"',
    dtypes="bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 "
    "complex128",
    array="paddle.to_tensor({values}, dtype={dtype})",
    ones="paddle.ones([{size}], dtype={dtype})",
    views={
        **{name: view for name, view in VIEWS.items() if name != "reversed"},
        "broadcast": "{x}[:1].expand([3, 4])",
    },
    take="paddle.from_dlpack({x})",
    here='"cpu"',
    values="({y}.astype('float32') if {y}.dtype == paddle.bfloat16 else {y}).tolist()",
    write="{y}.fill_(7)",
)
