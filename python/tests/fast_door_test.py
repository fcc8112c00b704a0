"""Types whose memory is read directly (NumPy's arrays, torch's tensors) are taken as their own
__dlpack__ would have them: the same tensor, or the same kind of refusal.
"""

import ml_dtypes
import numpy as np
import pytest
import torch
from peers import STANDARD, array

import dovetail as dt


class ByMethods:
    """Nothing of x but its __dlpack__ and __dlpack_device__."""

    def __init__(self, x):
        self._x = x

    def __dlpack__(self, **asked):
        return self._x.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self._x.__dlpack_device__()


def read_only(x):
    x.flags.writeable = False
    return x


BASE = np.arange(48, dtype=np.float32).reshape(4, 6, 2)
ODD_BYTES = np.zeros(41, dtype=np.uint8)
ARRAYS = {
    **{f"type {name}": array(name, [[1, 2], [4, 1]]) for name in STANDARD},
    "0-D": np.array(2.5),
    "empty": np.zeros((3, 0, 2)),
    "empty view": BASE[4:, ::2],
    "transposed": BASE.T,
    "Fortran order": np.asfortranarray(BASE),
    "negative strides": BASE[::-1, ::-2],
    "broadcast": np.broadcast_to(BASE[0, 0], (5, 2)),
    "new axes": BASE[:, None, ::3, None],
    "one element": BASE[1:2, 2:3, :1],
    "window": np.lib.stride_tricks.sliding_window_view(np.arange(9), 4),
    "diagonal": np.arange(25).reshape(5, 5).diagonal(),
    "read-only": read_only(np.arange(3)),
    "unaligned": ODD_BYTES[1:].view(np.float64),
    "64 dimensions": np.zeros((1,) * 64),
    "field of a record": np.zeros(3, dtype=[("a", np.int32), ("b", np.int32)])["b"],
    "odd stride": np.zeros(3, dtype=[("a", np.int32), ("b", np.int8)])["a"],
    "record": np.zeros(3, dtype=[("a", np.int32)]),
    "other byte order": np.arange(3, dtype=">i8"),
    "one byte in the other byte order": np.arange(3, dtype=">i1"),
    "long double": np.zeros(3, dtype=np.longdouble),
    "complex long double": np.zeros(3, dtype=np.clongdouble),
    "dates": np.zeros(3, dtype="M8[s]"),
    "durations": np.zeros(3, dtype="m8[s]"),
    "text": np.array(["a", "bc"]),
    "bytes": np.array([b"a", b"bc"]),
    "void": np.zeros(2, dtype="V4"),
    "objects": np.array([1, None], dtype=object),
    "C types": np.zeros(3, dtype=np.longlong),
    "C unsigned types": np.zeros(3, dtype=np.ulonglong),
    "bfloat16": np.zeros(3, dtype=ml_dtypes.bfloat16),
    "int4": np.zeros(3, dtype=ml_dtypes.int4),
    "from memory of ours": dt.arange(6).reshape(2, 3).numpy(),
}

COMPLEX = torch.arange(6, dtype=torch.float32).reshape(2, 3).to(torch.complex64) * (1 - 2j)
REAL = torch.arange(24.0).reshape(2, 3, 4)
TENSORS = {
    "plain": REAL,
    "0-D": REAL[1, 1, 1],
    "empty": REAL[2:],
    "transposed": REAL.permute(2, 0, 1),
    "expanded": REAL[:1].expand(5, 3, 4),
    "every third": REAL[:, ::3, ::2],
    "one element of many": REAL.reshape(-1)[::3][:1],
    "float4": torch.zeros(3, dtype=torch.uint8).view(torch.float4_e2m1fn_x2),
    "int4": torch.empty(3, dtype=torch.int4),
    "complex": COMPLEX,
    "its real part": COMPLEX.real,
    "its imaginary part": COMPLEX.imag,
    "conjugate": COMPLEX.conj(),
    "conjugate, resolved": COMPLEX.conj().resolve_conj(),
    "real part of the conjugate": COMPLEX.conj().real,
    "requires grad": torch.zeros(3, requires_grad=True),
    "computed with grad": torch.zeros(3, requires_grad=True) * 2,
    "detached": torch.zeros(3, requires_grad=True).detach(),
    "parameter": torch.nn.Parameter(torch.zeros(3)),
    "frozen parameter": torch.nn.Parameter(torch.zeros(3), requires_grad=False),
    "meta": torch.zeros(3, device="meta"),
    "sparse": torch.eye(3).to_sparse(),
    "compressed": torch.eye(3).to_sparse_csr(),
    "zero tensor": torch._efficientzerotensor((3,)),
}


def outcome(x):
    try:
        t = dt.from_dlpack(x)
    except Exception as error:
        return type(error)
    address = t.data_ptr() if t.size else None
    return t.dtype, t.shape, t.strides, t.readonly, t.device, address


@pytest.mark.parametrize("kind", ARRAYS)
def test_an_array_of_numpy_comes_in_as_by_its_method(kind):
    x = ARRAYS[kind]
    assert type(x) is np.ndarray
    assert outcome(x) == outcome(ByMethods(x))


@pytest.mark.parametrize("kind", TENSORS)
def test_a_tensor_of_torch_comes_in_as_by_its_method(kind):
    x = TENSORS[kind]
    assert outcome(x) == outcome(ByMethods(x))


def test_the_negation_that_torch_itself_exports_wrongly_is_refused():
    x = COMPLEX.conj().imag
    assert x.is_neg()
    assert np.from_dlpack(x).tolist() != x.resolve_neg().tolist()
    with pytest.raises(dt.ExchangeError, match=r"resolve_neg\(\)"):
        dt.from_dlpack(x)
    assert dt.from_dlpack(x.resolve_neg()).tolist() == x.resolve_neg().tolist()


def test_a_subclass_is_asked_by_its_own_method():
    asked = []

    class Array(np.ndarray):
        def __dlpack__(self, **kwargs):
            asked.append("array")
            return super().__dlpack__(**kwargs)

    class Tensor(torch.Tensor):
        def __dlpack__(self, **kwargs):
            asked.append("tensor")
            return super().__dlpack__(**kwargs)

    dt.from_dlpack(np.zeros(3).view(Array))
    dt.from_dlpack(torch.zeros(3).as_subclass(Tensor))
    assert asked == ["array", "tensor"]
