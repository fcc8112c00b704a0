"""PyTorch. Its slices have no negative steps."""

from ..adapter import VIEWS, Adapter

ADAPTER = Adapter(
    name="torch",
    setup="import torch",
    version="torch.__version__",
    dtype="torch.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 "
    "float64 complex64 complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu",
    array="torch.tensor({values}, dtype={dtype})",
    ones="torch.ones({size}, dtype={dtype})",
    views={
        **{name: view for name, view in VIEWS.items() if name != "reversed"},
        "broadcast": "{x}[:1].expand(3, 4)",
    },
    arrays={
        "conjugate": "torch.tensor([1 + 2j, 3 - 4j]).conj()",
        "imaginary part of a conjugate": "torch.tensor([1 + 2j, 3 - 4j]).conj().imag",
    },
    unsupported={"sparse": "torch.eye(2).to_sparse()"},
    take="torch.from_dlpack({x})",
    here='"cpu"',
    read_only_request="read_only=True",
    take_buffer="torch.frombuffer({x}, dtype=torch.float32)",
    values="{y}.tolist()",
    write="{y}.fill_(7)",
    on_stream="torch.cuda.stream(torch.cuda.ExternalStream({stream}))",
    work="{y} + 0",
    devices={
        "cuda": {
            "array": "torch.tensor({values}, dtype={dtype}, device='cuda')",
            "ones": "torch.ones({size}, dtype={dtype}, device='cuda')",
            "arrays": {
                "conjugate": "torch.tensor([1 + 2j, 3 - 4j], device='cuda').conj()",
                "imaginary part of a conjugate": "torch.tensor([1 + 2j, 3 - 4j], device='cuda')"
                ".conj().imag",
            },
            "here": '"cuda"',
            "unsupported": {"sparse": "torch.eye(2, device='cuda').to_sparse()"},
        }
    },
)
