"""Paddle's C exchange table compared with its __dlpack__.

The table checks less than __dlpack__ does. It ignores gradients, reads tensors that are not dense
as if they were, and crashes on a tensor without data. Its users must check stop_gradient and
is_dense first. For tensors that pass these checks, both give the same result.
"""

import ctypes

import pytest
from both_doors import same_by_both
from exchange_table import table_of
from managed import Versioned, call_deleter, read, shape_of, strides_of
from peers import PADDLE, paddle

if paddle is None:
    pytest.skip("Paddle is not installed", allow_module_level=True)
FROM_PYTHON = table_of(paddle.Tensor).managed_from


def may_be_asked(x):
    """True if the table can be used for x."""
    return type(x) is paddle.Tensor and x.stop_gradient is True and x.is_dense() is True


def facts(managed):
    t = managed.dl_tensor
    return (
        (managed.major, managed.minor, managed.flags),
        (t.data, t.byte_offset, t.device_type, t.device_id),
        (t.code, t.bits, t.lanes),
        (shape_of(managed), strides_of(managed)),
    )


def by_table(x):
    """The table's result, or None if it must not be used."""
    out = ctypes.c_void_p()
    try:
        if FROM_PYTHON(x, out) != 0:
            return None
    except RuntimeError:
        return None
    managed = Versioned.from_address(out.value)
    try:
        return facts(managed)
    finally:
        call_deleter(managed)


def by_dlpack(x):
    return facts(read(x.__dlpack__(max_version=(1, 3))))


def matrix():
    return paddle.arange(24, dtype="float32").reshape([4, 6])


def complex_numbers():
    return paddle.complex(paddle.ones([3]), paddle.arange(3, dtype="float32"))


def trained():
    x = paddle.zeros([2, 3])
    x.stop_gradient = False
    return x


def cleared():
    x = paddle.zeros([3])
    x._clear()
    return x


def without_memory():
    x = paddle.zeros([3])
    x._clear_data()
    return x


def gradient_of_few_rows():
    embedding = paddle.nn.Embedding(4, 2, sparse=True)
    embedding(paddle.to_tensor([1])).sum().backward()
    return embedding.weight.grad


SAME = {
    "whole": matrix,
    "number": lambda: paddle.to_tensor(1.5),
    "no elements": lambda: paddle.zeros([0, 3]),
    "no columns": lambda: paddle.zeros([3, 0]),
    "new": paddle.Tensor,
    "rows": lambda: matrix()[1:3],
    "row": lambda: matrix()[1],
    "columns": lambda: matrix()[:, ::2],
    "one column": lambda: matrix()[:, 1:2],
    "transposed": lambda: matrix().T,
    "reversed": lambda: matrix()[::-1],
    "with strides": lambda: paddle.as_strided(matrix(), [2, 2], [1, 7], 4),
    "overlapping": lambda: paddle.unfold(matrix(), 1, 3, 2),
    "broadcast": lambda: paddle.broadcast_to(paddle.zeros([3]), [2, 3]),
    "bits as another type": lambda: matrix().view("int32"),
    "complex": complex_numbers,
    "conjugate": lambda: complex_numbers().conj(),
    "real part": lambda: complex_numbers().real(),
    "imaginary part": lambda: complex_numbers().imag(),
    "nine dimensions": lambda: paddle.zeros([1] * 9),
    "detached": lambda: trained().detach(),
    "result without gradient": lambda: paddle.no_grad()(lambda: trained() * 2)(),
    **{f"{t}": lambda t=t: PADDLE.make(t, [1, 2, 4]) for t in PADDLE.dtypes},
    **{f"no {t}": lambda t=t: PADDLE.make(t, []) for t in PADDLE.dtypes},
    "float8_e4m3fn": lambda: paddle.zeros([3]).astype("float8_e4m3fn"),
    "float8_e5m2": lambda: paddle.zeros([3]).astype("float8_e5m2"),
}
OTHER = {
    "needs a gradient": trained,
    "view that needs a gradient": lambda: trained()[1:],
    "result that needs a gradient": lambda: trained() * 2,
    "parameter": lambda: paddle.create_parameter([2, 3], "float32"),
    "sparse": lambda: paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 2.0], [3]),
    "sparse rows": lambda: paddle.sparse.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], [2, 2]),
    "gradient of few rows": gradient_of_few_rows,
    "cleared": cleared,
    "without memory": without_memory,
}


# Rule 55.
@pytest.mark.parametrize("kind", SAME)
def test_the_table_says_what_dlpack_says_where_it_may_be_asked(kind):
    x = SAME[kind]()
    assert may_be_asked(x)
    assert by_table(x) == by_dlpack(x)


# Rule 55.
@pytest.mark.parametrize("kind", OTHER)
def test_what_dlpack_refuses_the_table_may_not_be_asked_or_refuses_too(kind):
    x = OTHER[kind]()
    with pytest.raises((BufferError, RuntimeError)):
        by_dlpack(x)
    assert not may_be_asked(x) or by_table(x) is None


# Rule 55.
@pytest.mark.parametrize("kind", [*SAME, *OTHER])
def test_a_tensor_of_paddle_comes_in_as_by_its_dlpack(kind):
    same_by_both((SAME | OTHER)[kind]())


# Rule 55.
@pytest.mark.parametrize("static", [False, True])
def test_the_mode_of_paddle_makes_no_difference_to_a_tensor(static):
    x = matrix()
    if static:
        paddle.enable_static()
    try:
        assert may_be_asked(x)
        assert by_table(x) == by_dlpack(x)
    finally:
        paddle.disable_static()
