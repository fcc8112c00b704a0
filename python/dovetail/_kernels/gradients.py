"""Whether a kernel's operator has a formula for gradients."""

import torch


def has_formula(operator):
    """Whether torch.library.register_autograd() was told of one for the overload.

    PyTorch remembers from the first compiled call on that there was none: that is forgotten.
    """
    name = operator.name()
    if not torch._C._dispatch_has_kernel_for_dispatch_key(name, "Autograd"):
        return False
    cache = operator._dispatch_cache
    for key in [key for key in cache if str(key).startswith("DispatchKey.Autograd")]:
        del cache[key]
    return True
