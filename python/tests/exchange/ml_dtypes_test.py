"""NumPy arrays of ml_dtypes' types come in by every door, shared, and go back."""

import sys

import ml_dtypes
import numpy as np
import pytest
import torch
from peers import JAX_FLOAT8, TORCH_FLOAT8
from process import run_python

import dovetail as dt

WHOLE = ["bfloat16", *JAX_FLOAT8]
PADDED = ["int2", "int4", "uint2", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"]

DOORS = {
    "from_dlpack": dt.from_dlpack,
    "asarray": dt.asarray,
    "convert": lambda a: dt.convert(a, dt.Tensor),
    "convert_tree": lambda a: dt.convert_tree([a], dt.Tensor)[0],
    "an object with __array__": lambda a: dt.asarray(WithArrayMethod(a)),
}


class WithArrayMethod:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def make(name, values=(1, 0, 1, 0, 1, 1)):
    other = 0.5 if name == "float8_e8m0fnu" else 0  # which has no 0
    return np.array([x or other for x in values]).astype(getattr(ml_dtypes, name))


def address(array):
    return array.__array_interface__["data"][0]


def as_bytes(array):
    return np.ascontiguousarray(array).view(f"u{array.itemsize}").tolist()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", WHOLE + PADDED)
def test_an_array_comes_in_shared_with_its_type_and_values(name, door):
    a = make(name)
    t = DOORS[door](a)
    assert t.dtype is getattr(dt, name)
    assert t.data_ptr() == address(a)
    assert not t.readonly
    assert t.tolist() == a.astype("float64").tolist()


@pytest.mark.parametrize("name", ["complex32", "bcomplex32"])
def test_complex_numbers_of_two_narrow_parts_go_both_ways(name):
    a = np.array([1 + 2j, -0.5j], dtype=getattr(ml_dtypes, name))
    t = dt.from_dlpack(a)
    assert t.dtype is getattr(dt, name) and t.data_ptr() == address(a)
    assert t.tolist() == [1 + 2j, -0.5j]
    out = dt.from_dlpack(t.__dlpack__(max_version=(1, 3))).numpy()
    assert out.dtype == a.dtype and address(out) == address(a)


@pytest.mark.parametrize("name", WHOLE + PADDED)
def test_a_scalar_is_a_tensor_without_dimensions(name):
    one = getattr(ml_dtypes, name)(1)
    for door in (dt.asarray, dt.tensor):
        t = door(one)
        assert (t.dtype, t.shape, t.item()) == (getattr(dt, name), (), 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of _clear_type_cache, from 3.13
@pytest.mark.parametrize("name", WHOLE + PADDED)
def test_a_scalar_comes_in_though_the_cache_of_attributes_is_empty(name):
    one = getattr(ml_dtypes, name)(1)
    sys._clear_type_cache()
    assert dt.asarray(one).item() == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_an_arrays_own_method_raises_is_passed_on(error):
    class Raising(np.ndarray):
        def __dlpack_device__(self):
            raise error

    with pytest.raises(error):
        dt.asarray(make("bfloat16").view(Raising))


def test_strides_that_lead_to_no_element_need_not_be_whole_elements():
    pairs = np.zeros(1, [("byte", "u1"), ("number", ml_dtypes.bfloat16)])
    assert dt.asarray(pairs["number"]).tolist() == [0.0]
    assert dt.asarray(pairs[:0]["number"]).shape == (0,)
    assert dt.asarray(np.zeros(1, [("byte", "u1"), ("number", "f2")])["number"]).tolist() == [0.0]


@pytest.mark.parametrize("name", ["int4", "float4_e2m1fn", "float8_e3m4"])
def test_what_pytorch_lacks_is_refused_by_an_error_of_the_exchange(name):
    with pytest.raises(dt.ExchangeError, match="torch does not take the tensor"):
        dt.convert(make(name), torch.Tensor)


# Rule 63.
@pytest.mark.parametrize("name", WHOLE + PADDED)
def test_what_dovetail_handed_out_comes_back_the_same(name):
    a = make(name).reshape(2, 3)
    t = dt.from_dlpack(a)
    out = t.numpy()
    assert (out.dtype, out.shape, address(out)) == (a.dtype, a.shape, address(a))
    again = dt.from_dlpack(dt.convert(out, np.ndarray))
    assert (again.dtype, again.shape, again.data_ptr()) == (t.dtype, t.shape, address(a))
    out[0, 0] = out[0, 1]
    assert again.tolist()[0][0] == out[0, 1]


@pytest.mark.parametrize("name", WHOLE + PADDED)
def test_views_keep_their_strides_and_their_access(name):
    a = make(name, range(2)).repeat(6).reshape(3, 4)
    locked = a[:]
    locked.flags.writeable = False
    for view in (a.T, a[::-1, ::-2], a[:0], a[1:2], np.broadcast_to(a[:1], a.shape), locked):
        t = dt.from_dlpack(view)
        assert t.readonly is not view.flags.writeable
        assert t.shape == view.shape
        if view.size:
            assert t.data_ptr() == address(view)
            assert t.tolist() == view.astype("float64").tolist()
            assert as_bytes(t.numpy()) == as_bytes(view)


@pytest.mark.parametrize("name", WHOLE + PADDED)
def test_an_array_is_kept_alive(name):
    class Witness(np.ndarray):
        pass

    t = dt.from_dlpack(make(name).view(Witness))
    copies = [make(name, [0] * 6) for _ in range(100)]
    assert t.tolist() == make(name).astype("float64").tolist()
    assert len(copies) == 100


@pytest.mark.parametrize("name", WHOLE + PADDED)
def test_a_tensor_is_written_from_an_array(name):
    a = make(name)
    t = dt.zeros(6, dtype=name)
    dt.copyto(t, a)
    assert t.tolist() == a.astype("float64").tolist()
    t = dt.zeros(6, dtype=name)
    t[:] = a
    assert t.tolist() == a.astype("float64").tolist()
    assert dt.tensor(a).tolist() == a.astype("float64").tolist()
    assert dt.asarray(a, dtype=dt.float32).tolist() == a.astype("float64").tolist()


@pytest.mark.parametrize("name", WHOLE + PADDED)
def test_the_bytes_of_an_array_are_a_buffer(name):
    a = make(name)
    t = dt.frombuffer(a, dtype=dt.uint8)
    assert t.data_ptr() == address(a)
    assert t.nbytes == a.nbytes


def test_a_subclass_comes_in_too_and_a_file_is_shared(tmp_path):
    a = np.memmap(tmp_path / "weights", ml_dtypes.bfloat16, "w+", shape=(2, 3))
    a[:] = 1.5
    for door in (dt.from_dlpack, dt.asarray):
        t = door(a)
        assert t.data_ptr() == address(a)
        assert t.tolist() == [[1.5] * 3] * 2
    read = dt.from_dlpack(np.memmap(tmp_path / "weights", ml_dtypes.bfloat16, "r", shape=(2, 3)))
    assert read.readonly


def test_a_subclass_whose_dlpack_refuses_is_refused():
    class Private(np.ndarray):
        def __dlpack__(self, **asked):
            raise BufferError("not for you")

    with pytest.raises(dt.ExchangeError, match="not for you"):
        dt.from_dlpack(make("bfloat16").view(Private))


def test_masked_elements_are_refused():
    masked = np.ma.masked_array(make("bfloat16"), mask=[1, 0, 0, 0, 0, 0])
    with pytest.raises(dt.ExchangeError, match="masked"):
        dt.from_dlpack(masked)


def test_other_types_that_numpy_does_not_pass_on_are_refused():
    for a in (np.zeros(2, "V2"), make("int4").astype("O"), np.array(["a"])):
        with pytest.raises(dt.ExchangeError):
            dt.from_dlpack(a)
    if hasattr(ml_dtypes, "int1"):
        with pytest.raises(dt.ExchangeError):  # no type of DLPack has one bit
            dt.from_dlpack(make("int1", [0, 0]))


@pytest.mark.parametrize("name", ["bfloat16", *TORCH_FLOAT8])
def test_a_state_dict_goes_to_numpy_and_back_without_a_copy(name):
    state = {"weight": torch.ones(2, 3).to(getattr(torch, name)), "step": torch.tensor(3)}
    arrays = dt.convert_tree(state, np.ndarray)
    assert arrays["weight"].dtype.name == name
    back = dt.convert_tree(arrays, torch.Tensor)
    for key, x in state.items():
        assert back[key].dtype == x.dtype
        assert back[key].data_ptr() == x.data_ptr()


def test_jax_takes_an_array_by_way_of_dovetail():
    jax = pytest.importorskip("jax")
    x = dt.convert(make("bfloat16"), jax.Array)
    assert x.dtype == ml_dtypes.bfloat16
    assert x.tolist() == [1, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("request_", [{"copy": True}, {"copy": False}, {"device": "cpu"}])
@pytest.mark.parametrize("subclass", [np.ndarray, np.memmap], ids=["an array", "a subclass"])
def test_requests_are_heeded(subclass, request_):
    a = make("bfloat16").view(subclass)
    t = dt.from_dlpack(a, **request_)
    assert (t.data_ptr() == address(a)) is not request_.get("copy", False)
    assert t.tolist() == [1, 0, 1, 0, 1, 1]


def test_explain_names_the_way():
    assert "NumPy array" in str(dt.explain(make("bfloat16")))


def test_ml_dtypes_is_not_imported_for_an_array():
    printed = run_python("""
        import sys
        import numpy as np
        import dovetail as dt
        a = dt.zeros(3, dtype="bfloat16").numpy()      # imports ml_dtypes
        modules = {name: sys.modules.pop(name) for name in list(sys.modules) if "ml_dtypes" in name}
        t = dt.from_dlpack(a)
        print(t.dtype, any("ml_dtypes" in name for name in sys.modules))
    """)
    assert printed == "dovetail.bfloat16 False\n"
