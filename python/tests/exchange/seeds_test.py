"""The examples in PyTorch's and Paddle's manuals for DLPack and frombuffer, rewritten for Dovetail.
Each is a docstring that runs as a doctest.
"""

import doctest
import sys

import pytest
from peers import paddle  # noqa: F401  quietly, and on the CPU


def three_tensors_share_memory():
    """
    >>> import dovetail as dt
    >>> t = dt.arange(4)
    >>> t2 = dt.from_dlpack(t)
    >>> t2[:2] = -1
    >>> t2
    tensor([-1, -1,  2,  3])
    >>> t
    tensor([-1, -1,  2,  3])
    >>> capsule = dt.utils.dlpack.to_dlpack(t)
    >>> capsule
    <capsule object "dltensor" at 0x...>
    >>> t3 = dt.from_dlpack(capsule)
    >>> t3
    tensor([-1, -1,  2,  3])
    >>> t3[0] = -9
    >>> t3
    tensor([-9, -1,  2,  3])
    >>> t2
    tensor([-9, -1,  2,  3])
    >>> t
    tensor([-9, -1,  2,  3])
    """


def the_first_of_the_three_may_be_torchs():
    """
    >>> import dovetail as dt, torch
    >>> t = torch.arange(4)
    >>> t2 = dt.from_dlpack(t)
    >>> t2[:2] = -1
    >>> t
    tensor([-1, -1,  2,  3])
    >>> capsule = torch.utils.dlpack.to_dlpack(t)
    >>> t3 = dt.utils.dlpack.from_dlpack(capsule)
    >>> t3[0] = -9
    >>> t, t2
    (tensor([-9, -1,  2,  3]), tensor([-9, -1,  2,  3]))
    """


def a_capsule_is_used_once():
    """
    >>> import dovetail as dt
    >>> import dovetail.utils.dlpack
    >>> x = dt.to_tensor([[0.2, 0.3, 0.5, 0.9], [0.1, 0.2, 0.6, 0.7]], place="cpu")
    >>> dlpack = dovetail.utils.dlpack.to_dlpack(x)
    >>> y = dovetail.utils.dlpack.from_dlpack(dlpack)
    >>> print(dlpack)
    <capsule object "used_dltensor" at 0x...>
    >>> dt.from_dlpack(dlpack)
    Traceback (most recent call last):
        ...
    dovetail.ExchangeError: This DLPack capsule was consumed already; ... only once. ...
    >>> y
    tensor([[0.2000, 0.3000, 0.5000, 0.9000],
            [0.1000, 0.2000, 0.6000, 0.7000]])
    >>> y[0, 0] = 10.0
    >>> print(x)
    tensor([[10.0000,  0.3000,  0.5000,  0.9000],
            [ 0.1000,  0.2000,  0.6000,  0.7000]])
    """


def a_tensor_of_paddle_is_shared():
    """
    >>> import dovetail as dt, paddle
    >>> x = paddle.to_tensor([[0.2, 0.3, 0.5, 0.9], [0.1, 0.2, 0.6, 0.7]], place="cpu")
    >>> y = dt.from_dlpack(paddle.utils.dlpack.to_dlpack(x))
    >>> y[0, 0] = 10.0
    >>> print(x)
    Tensor(shape=[2, 4], dtype=float32, place=Place(cpu), stop_gradient=True,
           [[10.       , 0.30000001, 0.50000000, 0.89999998],
            [0.10000000, 0.20000000, 0.60000002, 0.69999999]])
    >>> z = paddle.utils.dlpack.from_dlpack(dt.utils.dlpack.to_dlpack(y))
    >>> z[1, 1] = 20.0
    >>> y[1, 1].item()
    20.0
    """


def an_array_of_numpy_is_shared():
    """
    >>> import dovetail as dt, numpy as np
    >>> x = np.array([[0.2, 0.3, 0.5, 0.9], [0.1, 0.2, 0.6, 0.7]])
    >>> y = dt.utils.dlpack.from_dlpack(x)
    >>> y[0, 0] = 10.0
    >>> print(x)
    [[10.   0.3  0.5  0.9]
     [ 0.1  0.2  0.6  0.7]]
    """


def a_tensor_lies_in_the_memory_of_an_array():
    """
    >>> import array
    >>> import dovetail as dt
    >>> a = array.array("i", [1, 2, 3])
    >>> t = dt.frombuffer(a, dtype=dt.int32)
    >>> t
    tensor([1, 2, 3], dtype=dovetail.int32)
    >>> t[0] = -1
    >>> a
    array('i', [-1, 2, 3])
    """


def four_signed_bytes_make_one_32_bit_integer():
    """
    >>> import array
    >>> import dovetail as dt
    >>> a = array.array("b", [-1, 0, 0, 0])
    >>> dt.frombuffer(a, dtype=dt.int32)
    tensor([255], dtype=dovetail.int32)
    """


_MODULE = sys.modules[__name__]
_EXAMPLES = [test for test in doctest.DocTestFinder().find(_MODULE) if test.examples]


def test_every_example_is_found():
    assert len(_EXAMPLES) == 7


@pytest.mark.parametrize("example", _EXAMPLES, ids=lambda test: test.name.rpartition(".")[2])
def test_the_example_prints_what_it_shows(example):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    printed = []
    assert runner.run(example, out=printed.append).failed == 0, "".join(printed)
