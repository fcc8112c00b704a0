"""PyTorch tensors that have elements and no memory for them.

    x = WITHOUT_MEMORY["freed"]()
    dovetail.from_dlpack(x)                    # is refused

FSDP and functorch make such tensors. Their sizes are those of tensors with memory.
"""

import torch


def _resized(make, nbytes):
    x = make()
    x.untyped_storage().resize_(nbytes)
    return x


WITHOUT_MEMORY = {
    "freed": lambda: _resized(lambda: torch.arange(4.0), 0),
    "shrunk": lambda: _resized(lambda: torch.arange(4.0), 15),
    "a view of freed memory": lambda: _resized(lambda: torch.arange(8.0)[4:], 0),
    "a view beyond shrunk memory": lambda: _resized(lambda: torch.arange(8.0)[::2][:4], 24),
    "a freed tensor of inference mode": lambda: _resized(_of_inference_mode, 0),
    "a parameter over freed memory": lambda: torch.nn.Parameter(
        _resized(lambda: torch.arange(8.0)[4:], 0), requires_grad=False
    ),
    "a shrunk parameter of inference mode": lambda: _resized(_parameter_of_inference_mode, 8),
    "a subclass over freed memory": lambda: _resized(lambda: _subclass(torch.arange(8.0)[4:]), 0),
    "functional": lambda: torch._to_functional_tensor(torch.arange(4.0)),
    "zero": lambda: torch._efficientzerotensor(4),
    "zero, complex": lambda: torch._efficientzerotensor(4, dtype=torch.complex64),
}


def _of_inference_mode():
    with torch.inference_mode():
        return torch.arange(4.0)


def _parameter_of_inference_mode():
    with torch.inference_mode():
        return torch.nn.Parameter(torch.arange(8.0)[4:], requires_grad=False)


class _Subclass(torch.Tensor):
    pass


def _subclass(x):
    return x.as_subclass(_Subclass)
