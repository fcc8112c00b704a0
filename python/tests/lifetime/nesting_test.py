"""Chains of tensors over tensors, of any length, are freed without exhausting the C stack."""

import functools

import pytest
from process import run_python

LAYERS = {
    "frombuffer": "dt.frombuffer(x, dtype=dt.uint8)",
    "frombuffer of a memoryview": "dt.frombuffer(memoryview(x), dtype=dt.uint8)",
    "from_array_interface": "dt.from_array_interface(Interface(x))",
    "through NumPy": "dt.from_dlpack(x.numpy())",
    "through PyTorch": "dt.from_dlpack(torch.from_dlpack(x))",
    "through NumPy and PyTorch": "dt.from_dlpack(dt.convert(x.numpy(), torch.Tensor))",
    "a producer's own": "dt.from_dlpack(Producer(x.numpy()))",
}


@functools.cache
def freed(by_thread):
    """The layers whose chains were freed to the last owner; a crash shows those before it."""
    return run_python(f"""
        import threading, weakref
        import numpy as np
        import torch
        import dovetail as dt

        class Interface:
            def __init__(self, x):
                self.x = x.numpy()
                self.__array_interface__ = self.x.__array_interface__

        class Producer:
            def __init__(self, x):
                self.x = x
            def __dlpack_device__(self):
                return self.x.__dlpack_device__()
            def __dlpack__(self, **asked):
                return self.x.__dlpack__(**asked)

        class Array(np.ndarray):  # np.ndarray has no weak references
            pass

        for name, layer in {LAYERS!r}.items():
            first = np.zeros(8, np.uint8).view(Array)
            alive = weakref.ref(first)
            x = dt.frombuffer(first, dtype=dt.uint8)
            del first
            exec(f"for _ in range(100_000): x = {{layer}}")
            chain = [x]
            del x
            assert alive() is not None, name
            if {by_thread}:
                thread = threading.Thread(target=chain.clear)
                thread.start()
                thread.join()
            else:
                chain.clear()
            dt.empty(1)
            if alive() is None:
                print(name, flush=True)
    """).splitlines()


# Rule 30.
@pytest.mark.parametrize("by_thread", [False, True])
@pytest.mark.parametrize("layer", LAYERS)
def test_a_long_chain_of_owners_is_let_go_of_to_the_last(layer, by_thread):
    assert layer in freed(by_thread)
