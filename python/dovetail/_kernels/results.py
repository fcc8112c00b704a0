"""The results of a kernel, from the named sizes and types of its arguments."""

import torch


def make_results(kernel, parameters, values):
    """New tensors for all that the kernel writes, in order, as empty as a fake result may be."""
    names = _Names()
    first = None
    for one in parameters:
        value = values.get(one.name)
        if value is None:
            if one.kind == "tensor" and not one.is_optional and not one.is_out:
                raise TypeError(f"{kernel}(): argument '{one.name}' must be a tensor, and is None")
            continue
        if one.size_name is not None:
            names.add_size(one.size_name, value)
        for tensor in value if one.is_list else [value] if one.kind == "tensor" else []:
            first = tensor if first is None else first
            names.add_tensor(one, tensor)
    return [_make(kernel, one, values, names, first) for one in parameters if one.is_written]


class _Names:
    """What the arguments of a call have by name."""

    def __init__(self):
        self.sizes = {}
        self.leads = {}
        self.types = {}

    def add_size(self, name, size):
        self.sizes.setdefault(name, size)

    def add_tensor(self, one, tensor):
        # (One of another type is cast by the kernel, or refused.)
        if one.type_name and str(tensor.dtype).removeprefix("torch.") in one.types:
            self.types.setdefault(one.type_name, tensor.dtype)
        if one.shape is None:
            return
        count = len(tensor.shape) - len(one.shape)
        if count < 0 or (count > 0 and one.lead == 0):
            least = "at least " if one.lead != 0 else ""
            raise ValueError(
                f"argument '{one.name}' must have {least}{len(one.shape)} dimensions, and has "
                f"shape {tuple(tensor.shape)}"
            )
        if one.lead:
            self.leads.setdefault(one.lead, tensor.shape[:count])
        for entry, size in zip(one.shape, tensor.shape[count:], strict=True):
            if isinstance(entry, tuple):
                name, multiple = entry
                self.sizes.setdefault(name, size if multiple == 1 else size // multiple)


def _make(kernel, one, values, names, first):
    given = values.get(one.name)
    if one.is_inout:
        return torch.empty_like(given)
    if given is not None:
        return given
    dtype = names.types.get(one.type_name) if one.type_name else None
    if dtype is None:
        dtype = getattr(torch, one.types[0])
    sizes = list(names.leads.get(one.lead, ())) if one.lead else []
    for entry in one.shape:
        if isinstance(entry, tuple) and entry[0] not in names.sizes:
            raise ValueError(
                f"{kernel}(): argument '{one.name}' can't be made: no argument has its size. Pass "
                "one for the function to write to."
            )
        sizes.append(entry if isinstance(entry, int) else names.sizes[entry[0]] * entry[1])
    device = "cpu" if first is None else first.device
    if one.is_host and torch.device(device).type != "meta":
        device = "cpu"
    return torch.empty(sizes, dtype=dtype, device=device)
