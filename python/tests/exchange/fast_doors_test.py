"""Imports that call no Python method give the same result as __dlpack__, for every tensor."""

import numpy as np
import pytest
import torch
from both_doors import OnlyDLPack, outcome, same_by_both
from numpy.lib.stride_tricks import as_strided
from process import run_python
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import dovetail as dt

# NumPy

PLAIN = [np.dtype(code) for code in "?bBhHiIlLqQnNefdgFDGO"]
OTHER = [
    np.dtype(name) for name in ("S3", "U2", "V4", "M8[s]", "m8[ns]", "i4,f4", [("only", "i4")])
]
SWAPPED = [d.newbyteorder() for d in PLAIN + OTHER if d.kind in "iufcMmU" and d.itemsize > 1]


class Subclass(np.ndarray):
    pass


def locked(a):
    a = a[:]
    a.flags.writeable = False
    return a


def unaligned(a):
    return np.frombuffer(bytearray(a.nbytes + 1), np.uint8)[1:].view(a.dtype)


VIEWS = {
    "whole": lambda a: a,
    "number": lambda a: a[1, 2, ...],
    "row": lambda a: a[1],
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-2],
    "no rows": lambda a: a[:0],
    "no columns": lambda a: a[:, 5:],
    "one column": lambda a: a[:, :1],
    "one row": lambda a: a[1:2],
    "one row, transposed": lambda a: a[1:2].T,
    "one element": lambda a: a[::3, ::4],
    "new axes": lambda a: a[None, :, None],
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
    "read-only": locked,
    "subclass": lambda a: a.view(Subclass),
}
ANYWHERE = {
    "unaligned": unaligned,
    "gaps that are no whole elements": lambda a: as_strided(a, (2, 2), (5, a.itemsize)),
    "a stride that means nothing": lambda a: as_strided(a, (1, 2), (7, a.itemsize)),
    "one element with any stride": lambda a: as_strided(a, (1,), (7,)),
    "no element with any stride": lambda a: as_strided(a, (0, 2), (7, 3)),
}
VIEWS.update(ANYWHERE)


# Rules 15, 55.
@pytest.mark.parametrize("view", VIEWS)
def test_an_array_of_numpy_comes_in_as_by_its_dlpack(view):
    for dtype in (*PLAIN, *OTHER, *SWAPPED):
        if dtype.hasobject and view in ANYWHERE:
            continue  # NumPy can't hold such objects
        same_by_both(VIEWS[view](np.zeros((3, 4), dtype)))


# PyTorch

COMPLEX = torch.tensor([1 + 2j, 3 + 4j, 5j])


def fake():
    with FakeTensorMode():
        return torch.zeros(3)


def inference():
    with torch.inference_mode():
        return torch.zeros(3)


TENSORS = {
    "plain": lambda: torch.zeros(3),
    "number": lambda: torch.tensor(1.5),
    "no elements": lambda: torch.zeros(0, 3),
    "transposed": lambda: torch.zeros(2, 3).T,
    "broadcast": lambda: torch.zeros(3).expand(2, 3),
    "one of many": lambda: torch.zeros(16)[::3][:1],
    "conjugate": lambda: COMPLEX.conj(),
    "conjugate twice": lambda: COMPLEX.conj().conj(),
    "conjugate, resolved": lambda: COMPLEX.conj().resolve_conj(),
    "no conjugates": lambda: COMPLEX[:0].conj(),
    "imaginary part": lambda: COMPLEX.imag,
    "real part of a conjugate": lambda: COMPLEX.conj().real,
    "requires grad": lambda: torch.zeros(2, requires_grad=True),
    "view that requires grad": lambda: torch.zeros(2, requires_grad=True)[1:],
    "parameter": lambda: torch.nn.Parameter(torch.zeros(2)),
    "frozen parameter": lambda: torch.nn.Parameter(torch.zeros(2), requires_grad=False),
    "detached": lambda: torch.zeros(2, requires_grad=True).detach(),
    "inference": inference,
    "fake": fake,
    "without memory": lambda: torch.zeros(2, device="meta"),
    "only zeros": lambda: torch._efficientzerotensor(3),
    "sparse": lambda: torch.sparse_coo_tensor([[0]], [1.0], (2,)),
    "sparse rows": lambda: torch.eye(2).to_sparse_csr(),
    "mkldnn": lambda: torch.zeros(2, 2).to_mkldnn(),
    "nested": lambda: torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]),
    "quantized": lambda: torch.quantize_per_tensor(torch.zeros(2), 0.1, 10, torch.qint8),
}


# Rule 55.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", TENSORS)
def test_a_tensor_of_torch_comes_in_as_by_its_dlpack(kind):
    same_by_both(TENSORS[kind]())


# Rule 55.
def test_a_tensor_is_asked_each_time_whether_it_requires_gradients():
    x, y = torch.zeros(2), torch.zeros(2)
    for tensor in (x, y):
        same_by_both(tensor)
        same_by_both(tensor.requires_grad_())
    torch.utils.swap_tensors(x, z := torch.ones(3))
    assert dt.from_dlpack(x).tolist() == [1, 1, 1]
    y.data = z.data  # y still requires gradients
    for tensor in (y, z):
        with pytest.raises(BufferError, match="grad"):
            dt.from_dlpack(tensor)
    assert dt.from_dlpack(y.requires_grad_(False)).tolist() == [0, 0]


# Rule 55.
@pytest.mark.parametrize("transform", ["vmap", "grad", "functionalize"])
def test_a_tensor_inside_a_transformation_comes_in_as_by_its_dlpack(transform):
    outcomes = []

    def look(x):
        outcomes.append((outcome(x), outcome(OnlyDLPack(x))))
        return x.sum()

    getattr(torch.func, transform)(look)(
        torch.zeros(2, 3).sum(0) if transform == "grad" else torch.zeros(2, 3)
    )
    ((fast, slow),) = outcomes
    assert fast == slow


class Refusing(TorchDispatchMode):
    def __torch_dispatch__(self, function, *_):
        raise NotImplementedError(f"no {function}")


class RefusingFunctions(TorchFunctionMode):
    def __torch_function__(self, function, *_):
        raise NotImplementedError("no")


MODES = [
    FakeTensorMode,
    Refusing,
    RefusingFunctions,
    lambda: FakeTensorMode(allow_non_fake_inputs=True),
    lambda: torch.device("meta"),
]


# Rule 55.
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_a_tensor_inside_a_mode_comes_in_as_by_its_dlpack(mode, dtype):
    x = torch.zeros(3, dtype=dtype)
    with mode():
        fast, slow = outcome(x), outcome(OnlyDLPack(x))
    assert fast == slow


# Rule 55.
@pytest.mark.parametrize("door", [dt.from_dlpack, dt.asarray, lambda x: dt.convert(x, np.ndarray)])
def test_a_lazy_negation_is_refused_as_a_parameter_and_inside_a_mode(door):
    x = (torch.arange(3) * (1 + 2j)).conj().imag
    with pytest.raises(dt.ExchangeError, match=r"resolve_neg\(\)"):
        door(torch.nn.Parameter(x, requires_grad=False))
    with torch.device("cpu"), pytest.raises(dt.ExchangeError, match=r"resolve_neg\(\)"):
        door(x)


# Rule 55. A negation may have any strides and any type.
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.complex64], ids=str)
@pytest.mark.parametrize("shape", [(4,), (2, 3), (1,), ()], ids=str)
def test_a_lazy_negation_of_any_layout_is_refused_until_resolved(shape, dtype):
    x = torch._neg_view(torch.ones(shape, dtype=dtype))
    for take in [dt.from_dlpack, lambda x: dt.convert(x, np.ndarray)]:
        with pytest.raises(dt.ExchangeError, match=r"resolve_neg\(\)"):
            take(x)
    assert dt.from_dlpack(x.resolve_neg()).tolist() == x.tolist()


# If a new PyTorch violates the assumptions of torch_private.h, Dovetail calls its methods instead.
def test_a_lazy_negation_is_refused_where_the_insides_of_torch_are_not_known():
    printed = run_python("""
        import torch
        import dovetail as dt
        x = torch._neg_view(torch.ones(4))
        torch._neg_view = lambda x: x  # the self-test then finds no negation
        try:
            dt.from_dlpack(x)
        except dt.ExchangeError as e:
            print("resolve_neg" in str(e), dt.from_dlpack(torch.ones(2)).tolist())
    """)
    assert printed == "True [1.0, 1.0]\n"


# Rule 55.
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_negated_imaginary_part_of_a_conjugate_is_refused_until_resolved(count):
    x = COMPLEX[:count].conj().imag
    with pytest.raises(dt.ExchangeError, match=r"resolve_neg\(\)"):
        dt.from_dlpack(x)
    assert dt.from_dlpack(x.resolve_neg()).tolist() == x.tolist()


# Rule 55.
def test_a_subclass_that_exports_itself_in_its_own_way_is_heard():
    class Shifted(torch.Tensor):
        def __dlpack__(self, **asked):
            return (self.as_subclass(torch.Tensor) + 1).__dlpack__(**asked)

    assert dt.from_dlpack(torch.zeros(2).as_subclass(Shifted)).tolist() == [1, 1]
