"""Libraries whose functions insist on NumPy's arrays, and IPython: the rows of docs/libraries.md.

Each refusal stands here, too: a release that takes tensors fails its test, and its row changes.
"""

import cv2
import numba
import numpy as np
import onnxruntime
import pytest
import safetensors
import safetensors.numpy
import zarr
from IPython.core.formatters import DisplayFormatter
from IPython.lib.pretty import pretty
from onnx_models import DOUBLE_MODEL

import dovetail as dt


@pytest.fixture
def t():
    return dt.arange(12, dtype=dt.float32).reshape(3, 4)


@pytest.fixture
def image():
    return dt.from_dlpack(np.random.default_rng(0).integers(0, 256, (8, 6, 3), np.uint8))


def test_opencv_refuses_tensors_and_takes_their_arrays(image):
    with pytest.raises(cv2.error, match="not a numpy array"):
        cv2.blur(image, (3, 3))
    assert cv2.blur(image.numpy(), (3, 3)).shape == (8, 6, 3)


def test_opencv_writes_into_a_tensor_over_its_array(image):
    out = dt.zeros_like(image)
    result = cv2.flip(image.numpy(), 0, dst=out.numpy())
    assert result.ctypes.data == out.data_ptr()
    assert out.tolist() == image[::-1].tolist()


def test_what_opencv_makes_comes_in_shared(image):
    png = cv2.imencode(".png", image.numpy())[1]
    decoded = cv2.imdecode(dt.from_dlpack(png).numpy(), cv2.IMREAD_COLOR)
    t = dt.from_dlpack(decoded)
    assert t.data_ptr() == decoded.ctypes.data and t.tolist() == image.tolist()


def test_zarr_refuses_tensors_and_stores_their_arrays(t):
    store = zarr.create_array(zarr.storage.MemoryStore(), shape=(3, 4), dtype="f4")
    with pytest.raises(AttributeError, match="DType"):
        store[:] = t
    store[:] = t.numpy()
    store[0] = t[1].numpy()
    assert dt.from_dlpack(store[:]).tolist() == [[4, 5, 6, 7], *t[1:].tolist()]


def test_zarr_s_arrays_come_in_as_copies_and_parts_of_them_shared():
    store = zarr.array(np.arange(12.0).reshape(3, 4))
    with pytest.raises(AttributeError, match="no attribute '__dlpack__'"):
        dt.from_dlpack(store)
    for take in (dt.tensor, dt.asarray):
        assert take(store).tolist() == store[:].tolist()
    t = dt.zeros((3, 4))
    dt.copyto(t, store)
    assert t.tolist() == store[:].tolist()
    part = store[1:]
    assert dt.from_dlpack(part).data_ptr() == part.ctypes.data


def test_safetensors_refuses_tensors_and_saves_a_tree_of_their_arrays(t, tmp_path):
    state = {"a": t, "b": t.T.contiguous(), "c": dt.arange(3)}
    with pytest.raises(AttributeError, match="DType"):
        safetensors.numpy.save(state)
    file = tmp_path / "state.safetensors"
    safetensors.numpy.save_file(dt.convert_tree(state, "numpy"), file)
    loaded = dt.convert_tree(safetensors.numpy.load_file(file), dt.Tensor)
    assert {name: one.tolist() for name, one in loaded.items()} == {
        name: one.tolist() for name, one in state.items()
    }
    with safetensors.safe_open(file, "numpy") as opened:
        assert dt.from_dlpack(opened.get_tensor("b")).tolist() == t.T.tolist()


def test_safetensors_takes_strided_arrays_for_dense_ones(t):
    (saved,) = safetensors.numpy.load(safetensors.numpy.save({"x": t.T.numpy()})).values()
    assert saved.shape == (4, 3) and saved.reshape(-1).tolist() == t.reshape(-1).tolist()


def test_safetensors_saves_bfloat16_and_its_bytes_come_in(t):
    data = safetensors.numpy.save({"x": t.to(dt.bfloat16).numpy()})
    ((name, found),) = safetensors.deserialize(data)
    assert (name, found["dtype"]) == ("x", "BF16")
    x = dt.frombuffer(found["data"], dtype=dt.bfloat16).reshape(found["shape"])
    assert x.tolist() == t.tolist()


@numba.njit
def move(x):
    x[1, 2] = x[2, 3]
    return len(x)


@numba.njit
def double(x):
    x *= 2
    return x.sum()


def test_numba_takes_a_tensor_as_a_buffer_and_its_array_as_an_array(t):
    assert isinstance(numba.typeof(t), numba.types.Buffer)
    assert move(t) == 3 and t[1, 2].item() == 11
    with pytest.raises(numba.TypingError):  # a buffer has elements, no shape and no arithmetic
        double(t)
    assert double(t.numpy()) == 142 and t[0, 1].item() == 2
    assert numba.typeof(dt.frombuffer(b"abcd", dtype=dt.uint8).numpy()).mutable is False


def test_what_a_function_of_numba_returns_comes_in_shared(t):
    copied = numba.njit(lambda x: x + 1)(t.numpy())
    assert dt.from_dlpack(copied).data_ptr() == copied.ctypes.data


@pytest.fixture
def session():
    return onnxruntime.InferenceSession(DOUBLE_MODEL, providers=["CPUExecutionProvider"])


def test_onnxruntime_refuses_tensors_and_takes_values_and_arrays(t, session):
    with pytest.raises(RuntimeError, match="numpy array"):
        session.run(None, {"x": t})
    for x in (t.numpy(), dt.convert(t, "onnxruntime")):
        (y,) = session.run(None, {"x": x})
        assert y.tolist() == (t.numpy() * 2).tolist()


def test_onnxruntime_writes_into_a_tensor_by_an_io_binding(t, session):
    y = dt.zeros_like(t)
    binding = session.io_binding()
    for bind, x, name in ((binding.bind_input, t, "x"), (binding.bind_output, y, "y")):
        bind(name, "cpu", 0, x.dtype.type, x.shape, x.data_ptr())
    session.run_with_iobinding(binding)
    assert y.tolist() == (t.numpy() * 2).tolist()


def test_ipython_shows_a_picture_where_there_is_one(image):
    shown, _ = DisplayFormatter().format(image)
    assert shown["text/html"].startswith('<div><img src="data:image/png;base64,')
    assert shown["text/plain"] == repr(image)
    assert "text/html" not in DisplayFormatter().format(dt.zeros(3))[0]


def test_ipython_sets_lines_below_the_first():
    lines = pretty({"weight": dt.tensor([[1, 2], [3, 4]])}).splitlines()
    assert lines == ["{'weight': tensor([[1, 2],", "                   [3, 4]])}"]
    lines = pretty([dt.zeros((2, 2))] * 2).splitlines()
    assert lines == [
        "[tensor([[0., 0.],",
        "         [0., 0.]]),",
        " tensor([[0., 0.],",
        "         [0., 0.]])]",
    ]
