"""Kernels as operators of PyTorch: their schemas, fake results, and functions for compilers.

An operator has two overloads. The default one writes to the caller's tensors; `functional` returns
what the kernel writes, in new tensors, and is what gradients, vmap and compilers work with.
"""

import sys

import torch

from dovetail import _core
from dovetail._kernels.results import make_results
from dovetail._kernels.signature import Parameter, call_source, schemas

_calls: dict = {}  # what stands for a function within PyTorch
_substituted: set = set()  # the functions of which torch.compile was told


def register(function):
    """Define the operator of a kernel, and have the kernel call it where it has to."""
    described, returns_tensors = _core._describe_kernel(function)
    if returns_tensors:  # their sizes depend on data: plain calls only
        return
    parameters = [Parameter(**one) for one in described]
    namespace, name = function.__module__, function.__name__
    if hasattr(getattr(torch.ops, namespace), name):
        raise RuntimeError(f"PyTorch has an operator {namespace}::{name} already")
    texts = schemas(name, parameters)
    _core._register_torch_kernel(function, namespace, texts, torch.version.hip is not None)
    operator = getattr(getattr(torch.ops, namespace), name)
    if any(one.is_written for one in parameters):
        _add_functional(f"{namespace}::{name}.functional", parameters)
    torch.library.register_fake(f"{namespace}::{name}", lambda *args, **kwargs: None)
    call = _make_call(name, parameters, operator)
    _calls[function] = call
    _core._set_torch_kernel(function, call)
    if "torch._dynamo" in sys.modules:
        substitute(function)


def substitute(function):
    """Tell torch.compile what stands for a kernel's function, once."""
    if function in _calls and function not in _substituted:
        _substituted.add(function)
        torch.compiler.substitute_in_graph(function, skip_signature_check=True)(_calls[function])


def _add_functional(qualified, parameters):
    inputs = [one for one in parameters if not one.is_out]

    def fake(*args, **kwargs):
        values = _by_name(inputs, args, kwargs)
        made = make_results(parameters, values)
        return made[0] if len(made) == 1 else tuple(made)

    def vmap(info, in_dims, *args):
        operator = torch._library.utils.lookup_op(qualified)
        rows = [
            operator(*(_row(arg, dim, i) for arg, dim in zip(args, in_dims, strict=True)))
            for i in range(info.batch_size)
        ]
        if isinstance(rows[0], tuple):
            return tuple(map(torch.stack, zip(*rows, strict=True))), (0,) * len(rows[0])
        return torch.stack(rows), 0

    torch.library.register_fake(qualified, fake)
    torch.library.register_vmap(qualified, vmap)


def _by_name(parameters, args, kwargs):
    values = {one.name: one.default for one in parameters}
    values.update(zip((one.name for one in parameters), args, strict=False), **kwargs)
    return values


def _row(value, dim, i):
    """One element of a batch: of a tensor, or of each tensor of a list."""
    if isinstance(value, (list, tuple)) and isinstance(dim, (list, tuple)):
        return [_row(one, at, i) for one, at in zip(value, dim, strict=True)]
    return value if dim is None else value.select(dim, i)


def _make_call(name, parameters, operator):
    """The function as compilers trace it, and as it is called for tensors that are no memory."""

    def missing(**values):
        return make_results(parameters, values)

    def refuse(what):
        raise RuntimeError(
            f"{name}(): argument '{what}' requires gradients, and the function would write into "
            "given tensors, which has none. Leave them out, or pass x.detach()."
        )

    scope = {
        "operator": operator.default,
        "functional": getattr(operator, "functional", None),
        "missing": missing,
        "refuse": refuse,
        "records": torch.is_grad_enabled,
        "defaults": {one.name: one.default for one in parameters},
    }
    exec(compile(call_source(name, parameters), f"<{name} within PyTorch>", "exec"), scope)
    return scope[name]
