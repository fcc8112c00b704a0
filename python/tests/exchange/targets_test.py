"""convert() to each library, from read-only and from writable memory.

The tests say which library shares the memory, which gets a copy, and which copy=False refuses.
"""

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import paddle
import pyarrow as pa
import pytest
import torch
import tvm_ffi
from peers import EXPORTERS, JAX

import dovetail as dt

TARGETS = {
    "numpy": np.ndarray,
    "torch": torch.Tensor,
    "jax": jax.Array,
    "paddle": paddle.Tensor,
    "tvm_ffi": tvm_ffi.Tensor,
    "pyarrow": pa.Array,
    "onnxruntime": onnxruntime.OrtValue,
}
SHARED, COPIED, REFUSED = "shared", "copied", "refused"
# Maps (read-only, target) to the outcomes under copy=None and copy=False.
MATRIX = {
    (False, "numpy"): (SHARED, SHARED),
    (False, "torch"): (SHARED, SHARED),
    (False, "jax"): (SHARED, SHARED),
    (False, "paddle"): (SHARED, SHARED),
    (False, "tvm_ffi"): (SHARED, SHARED),
    (False, "pyarrow"): (SHARED, SHARED),
    (False, "onnxruntime"): (SHARED, SHARED),
    (True, "numpy"): (SHARED, SHARED),
    (True, "torch"): (COPIED, REFUSED),
    (True, "jax"): (SHARED, SHARED),
    (True, "paddle"): (COPIED, REFUSED),
    (True, "tvm_ffi"): (COPIED, REFUSED),
    (True, "pyarrow"): (SHARED, SHARED),
    (True, "onnxruntime"): (COPIED, REFUSED),
}
SOURCES = {
    True: lambda: dt.from_dlpack(jnp.arange(16, dtype="float32")),  # JAX's arrays are immutable
    False: lambda: dt.arange(16, dtype=dt.float32),
}
PEERS = {peer.name: peer for peer in EXPORTERS}


def outcome(tensor, name, copy):
    """Whether convert() shared, copied or refused, by the addresses of both sides."""
    try:
        made = dt.convert(tensor, TARGETS[name], copy=copy)
    except dt.ExchangeError:
        return REFUSED
    assert isinstance(made, TARGETS[name])
    assert PEERS[name].values(made) == list(range(16))
    return SHARED if PEERS[name].pointer(made) == tensor.data_ptr() else COPIED


def explained(tensor, name, copy):
    return {True: SHARED, False: COPIED, None: REFUSED}[
        dt.explain(tensor, TARGETS[name], copy=copy).aliases
    ]


@pytest.mark.parametrize(("readonly", "name"), MATRIX)
def test_each_library_shares_copies_or_is_refused(readonly, name):
    tensor = SOURCES[readonly]()
    assert tensor.readonly is readonly
    if_need_be, never = MATRIX[readonly, name]
    assert outcome(tensor, name, None) == if_need_be
    assert outcome(tensor, name, False) == never
    assert outcome(tensor, name, True) == COPIED
    assert explained(tensor, name, None) == if_need_be
    assert explained(tensor, name, False) == never


@pytest.mark.parametrize("peer", EXPORTERS, ids=repr)
def test_a_tensor_of_each_library_goes_back_to_it_without_a_copy(peer):
    x = peer.make("float32", [1, 2, 4])
    t = dt.from_dlpack(x)
    back = dt.convert(t, TARGETS[peer.name], copy=False)
    assert peer.pointer(back) == peer.pointer(x)
    assert peer.values(back) == [1, 2, 4]


def test_jax_writes_nothing_to_shared_memory_that_is_donated():
    x = jnp.arange(1 << 16, dtype="float32")
    t = dt.from_dlpack(x)
    y = dt.convert(t, jax.Array, copy=False)
    add = jax.jit(lambda a: a + 1, donate_argnums=0)
    assert add(y)[3] == 4
    assert t[3].item() == 3 and x[3] == 3


def test_the_error_of_a_legacy_consumer_names_convert():
    t = dt.from_dlpack(JAX.make("float32", [1, 2, 4]))
    if jax.__version_info__ < (0, 12):  # later ones ask for versioned capsules
        with pytest.raises(dt.ExchangeError, match=r"dovetail\.convert\("):
            jnp.from_dlpack(t)
    with pytest.raises(dt.ExchangeError, match=r"dovetail\.convert\("):
        t.__dlpack__()
