"""What Dovetail reads of other libraries that they do not publish is as the table says.

A failure names the row of python/exchange/peers/private_reads.inc that a new version breaks.
Without a row of PyTorch, Dovetail goes on by what PyTorch publishes, which is slower.
"""

import warnings

import numpy
import pytest
from process import run_python

from dovetail import _core

pytest.importorskip("torch")  # the table's checks in C++ are PyTorch's

READS = _core._private_reads()
OF_CPP = _core._check_private_reads()


def holds(library, check):
    if check in OF_CPP:
        return OF_CPP[check]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(check, {library: pytest.importorskip(library), "numpy": numpy})


@pytest.mark.parametrize(
    ("library", "what", "check"),
    [(library, what, check) for library, what, _, _, check in READS if check],
    ids=[f"{library}: {what}" for library, what, _, _, check in READS if check],
)
def test_what_is_read_of_a_library_is_as_the_table_says(library, what, check):
    assert holds(library, check), f"not so: {what}"


def test_the_table_has_a_row_for_each_check_in_cpp():
    assert set(OF_CPP) < {check for *_, check in READS}


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
        print(set(dt._core._check_private_reads().values()))
    """)
    assert printed == "{True}\n"
