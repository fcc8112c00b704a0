"""Kernels as operators of PyTorch: their schemas, fake results, and functions for compilers.

An operator has two overloads. The default one writes to the caller's tensors; `functional` returns
what the kernel writes, in new tensors, and is what gradients, vmap and compilers work with.
"""

import sys
import warnings

import torch

from dovetail import _core
from dovetail._kernels.gradients import has_formula
from dovetail._kernels.results import make_results
from dovetail._kernels.signature import Parameter, call_source, schemas

_calls: dict = {}  # what stands for a function within PyTorch
_substituted: set = set()  # the functions of which torch.compile was told


def register_all(functions):
    """Define the operators of kernels. Those that PyTorch does not take have plain calls alone."""
    faults = []
    for function in functions:
        try:
            _register(function)
        except Exception as error:
            faults.append(f"{function.__module__}::{function.__name__}: {error}")
    if faults:
        text = "these kernels are no operators of PyTorch, and have plain calls alone: "
        warnings.warn(text + "; ".join(faults), stacklevel=2)


def _register(function):
    """Define the operator of a kernel, and have the kernel call it where it has to."""
    described, returns_tensors = _core._describe_kernel(function)
    parameters = [Parameter(**one) for one in described]
    # Sizes that depend on data, or no tensor that says the device: plain calls only.
    if returns_tensors or not any(p.kind == "tensor" and not p.is_out for p in parameters):
        return
    namespace, name = function.__module__, function.__name__
    if hasattr(getattr(torch.ops, namespace), name):
        raise RuntimeError("PyTorch has the name already")
    texts = schemas(name, parameters)
    _core._register_torch_kernel(function, namespace, texts, torch.version.hip is not None)
    operator = getattr(getattr(torch.ops, namespace), name)
    if any(one.is_written for one in parameters):
        _add_functional(name, f"{namespace}::{name}.functional", parameters)
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


def _add_functional(kernel, qualified, parameters):
    inputs = [one for one in parameters if not one.is_out]

    def fake(*args, **kwargs):
        values = _by_name(inputs, args, kwargs)
        made = make_results(kernel, parameters, values)
        return made[0] if len(made) == 1 else tuple(made)

    def vmap(info, in_dims, *args, **kwargs):
        if info.batch_size == 0:
            raise RuntimeError(f"{kernel}(): vmap over no elements says nothing of the results")
        operator = getattr(getattr(torch.ops, qualified.split("::")[0]), kernel).functional
        rows = [
            operator(*(_row(arg, dim, i) for arg, dim in zip(args, in_dims, strict=True)), **kwargs)
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

    functional = getattr(operator, "functional", None)
    qualified = functional.name() if functional is not None else ""
    written = " or ".join(f"'{one.name}'" for one in parameters if one.is_written)
    is_in_place = any(one.is_inout for one in parameters)

    def missing(**values):
        return make_results(name, parameters, values)

    def refuse_write(what):
        remedy = (
            f"Call torch.ops.{qualified.replace('::', '.')}(), which returns a changed copy"
            if is_in_place
            else f"Leave {written} out"
        )
        raise RuntimeError(
            f"{name}(): argument '{what}' requires gradients, and a call that writes to {written} "
            f"records none. {remedy}, or pass {what}.detach()."
        )

    def refuse_gradients(what):
        raise RuntimeError(
            f"{name}(): argument '{what}' requires gradients, and the kernel has no formula for "
            f'them. Register one by torch.library.register_autograd("{qualified}", …), '
            f"pass {what}.detach(), or call it under torch.no_grad()."
        )

    @torch.compiler.assume_constant_result
    def is_differentiable():
        return has_formula(functional)

    scope = {
        "dovetail_operator": operator.default,
        "dovetail_functional": functional,
        "dovetail_missing": missing,
        "dovetail_refuse_write": refuse_write,
        "dovetail_refuse_gradients": refuse_gradients,
        "dovetail_records": torch.is_grad_enabled,
        "dovetail_is_differentiable": is_differentiable,
        "dovetail_defaults": {one.name: one.default for one in parameters},
    }
    source = call_source(parameters)
    exec(compile(source, f"<{name} within PyTorch>", "exec"), scope)
    return scope["dovetail_call"]
