"""The kernels of examples/kernels beside PyTorch's own operations, for kernels.py.

256 rows of 1,024 float32 elements, or as many in pages and heads; one thread each. "dovetail" is
the plain call, "operator" the functional overload of torch.ops, "torch" what one writes without a
kernel. Each result is compared with PyTorch's before it is measured.
"""

import pathlib

import measure
import torch
import torch.nn.functional as F

import dovetail as dt

LIBRARY = pathlib.Path(__file__).parent.parent.parent / "examples/kernels/library.so"
ROWS, WIDTH = 256, 1024


def rotated(x, cosine, sine):
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


def dequantized(packed, scale):
    numbers = torch.stack([packed & 15, packed >> 4], -1).reshape(len(packed), -1).float()
    return (numbers - 8) * scale[:, None]


def cases():
    """For each kernel: its arguments, and the same by PyTorch's operations."""
    x, weight = torch.randn(ROWS, WIDTH), torch.randn(WIDTH)
    heads, turns = torch.randn(1, 16, 256, 64), torch.randn(256, 32)
    pages, table = torch.randn(64, 16, 256), torch.randint(64, (4, 16))
    packed, scale = torch.randint(256, (ROWS, WIDTH // 2), dtype=torch.uint8), torch.randn(ROWS)
    return {
        "scale": ((x.reshape(-1), 3.0), torch.mul),
        "rms_norm": ((x, weight), lambda x, w: F.rms_norm(x, (WIDTH,), w, 1e-6)),
        "rotate": ((heads, turns.cos(), turns.sin()), rotated),
        "gather_pages": ((pages, table), lambda pages, table: pages[table]),
        "max_of_rows": ((x,), lambda x: tuple(x.max(-1))),
        "dequantize_int4": ((packed, scale), dequantized),
    }


def rows():
    kernels = dt.load_kernels(LIBRARY, namespace="dovetail_examples")
    for name, (arguments, peer) in cases().items():
        operator = getattr(torch.ops.dovetail_examples, name).functional
        torch.testing.assert_close(operator(*arguments), peer(*arguments), rtol=1e-5, atol=1e-5)
        functions = {
            # (The plain call of rotate() writes to its argument.)
            "dovetail": getattr(kernels, name),
            "operator": operator,
            "torch": peer,
        }
        calls = {
            column: lambda f=f, arguments=arguments: f(*arguments)
            for column, f in functions.items()
        }
        yield measure.Row(f"{name} of examples/kernels", calls, "torch")
