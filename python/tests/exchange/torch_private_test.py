"""What Dovetail reads of the installed PyTorch's own, each row of the table by itself.

A failure names the row of python/exchange/torch/torch_private.h that this version breaks. Dovetail
goes on working without it, by what PyTorch publishes, which is slower.
"""

import pytest
import torch
from process import run_python

from dovetail import _core

ASSUMPTIONS = _core._torch_assumptions()


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_what_is_read_of_pytorch_is_as_assumed(assumption):
    assert ASSUMPTIONS[assumption], f"PyTorch {torch.__version__}: not so: {assumption}"


@pytest.mark.parametrize(
    "inside",
    [
        "torch.func.grad(lambda a: (dt.from_dlpack(x), a.sum())[1])(torch.ones(3))",
        "torch.func.functionalize(lambda a: (dt.from_dlpack(x), a)[1])(torch.ones(3))",
        "RefusesZeros().__enter__(); dt.from_dlpack(x); mode.__exit__(None, None, None)",
    ],
)
def test_a_check_that_a_transformation_or_a_mode_made_fail_is_made_again(inside):
    printed = run_python(f"""
        import torch
        import dovetail as dt
        from torch.utils._python_dispatch import TorchDispatchMode

        class RefusesZeros(TorchDispatchMode):
            def __enter__(self):
                global mode
                mode = self
                return super().__enter__()

            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                if "zeros" in str(function):
                    raise RuntimeError("no zeros")
                return function(*args, **(kwargs or {{}}))

        x = torch.arange(6.0)
        {inside}
        for _ in range(8):
            dt.from_dlpack(x)
        print(set(dt._core._torch_assumptions().values()))
    """)
    assert printed == "{True}\n"
