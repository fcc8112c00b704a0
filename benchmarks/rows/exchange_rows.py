"""The exchanges that are measured in Python: tensors of 16 elements.

rows = exchange_rows(torch, tvm_ffi)     # (work, {library: function}, baseline, goal)

//benchmarks:exchange_peers and `python -m dovetail bench` measure them. A library that is None has
no functions, and an exchange with its tensors is left out. "goal" is the highest acceptable ratio
of Dovetail's time to the baseline's.
"""

import numpy as np

import dovetail as dt


def exchange_rows(torch=None, tvm_ffi=None):
    rows = [*_numpy_rows(torch, tvm_ffi), *(_torch_rows(torch, tvm_ffi) if torch else [])]
    return [(work, _without_none(functions), *rest) for work, functions, *rest in rows]


def _without_none(functions):
    return {library: function for library, function in functions.items() if function}


def _torch_rows(torch, tvm_ffi):
    array = np.arange(16, dtype=np.float32)
    tensor = torch.arange(16.0)
    ours = dt.from_dlpack(array)
    theirs = tvm_ffi and tvm_ffi.from_dlpack(array)
    to_torch, to_numpy = torch.Tensor, np.ndarray
    return [
        (
            "from_dlpack(torch tensor)",
            {
                "dovetail": lambda: dt.from_dlpack(tensor),
                "tvm-ffi": tvm_ffi and (lambda: tvm_ffi.from_dlpack(tensor)),
                "numpy": lambda: np.from_dlpack(tensor),
            },
            "tvm-ffi",
            0.5,
        ),
        (
            "numpy array to torch tensor",
            {
                "dovetail": lambda: dt.convert(array, to_torch),
                "torch": lambda: torch.from_numpy(array),
            },
            "torch",
            0.8,
        ),
        (
            "torch tensor to numpy array",
            {"dovetail": lambda: dt.convert(tensor, to_numpy), "torch": lambda: tensor.numpy()},
            "torch",
            0.4,
        ),
        (
            "t.numpy()",
            {"dovetail": lambda: ours.numpy(), "torch": lambda: tensor.numpy()},
            "torch",
            0.25,
        ),
        (
            "torch.from_dlpack(t)",
            {
                "dovetail": lambda: torch.from_dlpack(ours),
                "tvm-ffi": tvm_ffi and (lambda: torch.from_dlpack(theirs)),
            },
            "tvm-ffi",
            None,
        ),
    ]


def _numpy_rows(torch, tvm_ffi):
    array = np.arange(16, dtype=np.float32)
    tensor = torch and torch.arange(16.0)
    ours = dt.from_dlpack(array)
    theirs = tvm_ffi and tvm_ffi.from_dlpack(array)
    key = slice(2, 5)
    return [
        (
            "from_dlpack(numpy array)",
            {
                "dovetail": lambda: dt.from_dlpack(array),
                "tvm-ffi": tvm_ffi and (lambda: tvm_ffi.from_dlpack(array)),
                "torch": torch and (lambda: torch.from_dlpack(array)),
            },
            "tvm-ffi",
            0.4,
        ),
        (
            "np.from_dlpack(t)",
            {
                "dovetail": lambda: np.from_dlpack(ours),
                "tvm-ffi": tvm_ffi and (lambda: np.from_dlpack(theirs)),
            },
            "tvm-ffi",
            0.8,
        ),
        (
            "frombuffer(array)",
            {
                "dovetail": lambda: dt.frombuffer(array, dtype=dt.float32),
                "numpy": lambda: np.frombuffer(array, dtype=np.float32),
                "torch": torch and (lambda: torch.frombuffer(array, dtype=torch.float32)),
            },
            "numpy",
            0.3,
        ),
        (
            "t[2:5]",
            {
                "dovetail": lambda: ours[key],
                "numpy": lambda: array[key],
                "torch": torch and (lambda: tensor[key]),
            },
            "numpy",
            1.0,
        ),
        (
            "empty(16)",
            {
                "dovetail": lambda: dt.empty(16, dtype=dt.float32),
                "numpy": lambda: np.empty(16, dtype=np.float32),
                "torch": torch and (lambda: torch.empty(16, dtype=torch.float32)),
            },
            "numpy",
            0.4,
        ),
    ]
