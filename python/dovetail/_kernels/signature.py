"""What PyTorch is told of a kernel's parameters: schemas, and the source of a function."""

import math
from dataclasses import dataclass, field, replace

_TYPES = {"tensor": "Tensor", "float": "float", "int": "SymInt", "bool": "bool", "str": "str"}
_REQUIRED = object()


@dataclass(frozen=True)
class Parameter:
    """A parameter as _core._describe_kernel() tells of it."""

    name: str
    kind: str
    is_optional: bool
    is_list: bool
    is_out: bool
    is_inout: bool
    keyword_only: bool
    size_name: int | None
    default: object = _REQUIRED
    types: list[str] = field(default_factory=list)
    type_name: int = 0
    is_host: bool = True
    lead: int | None = 0
    shape: list[object] | None = None

    @property
    def is_written(self):
        """Whether the kernel writes the tensor."""
        return self.is_out or self.is_inout

    @property
    def is_required(self):
        """Whether callers must give it."""
        return self.default is _REQUIRED


def schemas(name, parameters):
    """The schemas of the operator that writes, and, if it writes, of the one that returns."""
    writes = f"{name}({_arguments(parameters, writes=True)}) -> ()"
    count = sum(one.is_written for one in parameters)
    if count == 0:
        return [writes]
    returns = "Tensor" if count == 1 else "(" + ", ".join(["Tensor"] * count) + ")"
    inputs = [one for one in parameters if not one.is_out]
    return [writes, f"{name}.functional({_arguments(inputs, writes=False)}) -> {returns}"]


def _arguments(parameters, *, writes):
    """As in "Tensor x, float eps=1e-06, *, Tensor(a2!) out"."""
    if any(one.keyword_only and one.kind == "tensor" and not one.is_out for one in parameters):
        # PyTorch's gradients and vmap take no tensors by name alone.
        parameters = [replace(one, keyword_only=False) for one in parameters]
    positional = [one for one in parameters if not one.keyword_only]
    # (PyTorch has no required parameter behind one with a default.)
    first_default = len(positional)
    while first_default > 0 and _default_text(positional[first_default - 1]) is not None:
        first_default -= 1
    texts = []
    for i, one in enumerate(parameters):
        if one.keyword_only and "*" not in texts:
            texts.append("*")
        text = _type(one, f"a{i}!" if writes and one.is_written else "") + " " + one.name
        default = _default_text(one)
        if default is not None and (one.keyword_only or i >= first_default):
            text += "=" + default
        texts.append(text)
    return ", ".join(texts)


def _type(one, alias):
    text = _TYPES[one.kind] + (f"({alias})" if alias else "")
    return text + ("[]" if one.is_list else "") + ("?" if one.is_optional else "")


def _default_text(one):
    """The default as schemas write it; None if there is none, and for what they can't write."""
    if one.is_required or one.is_written:
        return None
    if isinstance(one.default, str):
        return f'"{one.default}"' if one.default.isprintable() and '"' not in one.default else None
    if isinstance(one.default, float) and not math.isfinite(one.default):
        return None
    return repr(one.default)


def call_source(parameters):
    """The source of dovetail_call(), the kernel's function over its two operators."""
    inputs = [one for one in parameters if not one.is_out]
    outs = [one for one in parameters if one.is_out]
    written = [one for one in parameters if one.is_written]
    absent = [f"{one.name} is None" for one in outs]
    lines = [f"def dovetail_call({_python_parameters(parameters)}):"]
    if outs and not any(one.is_inout for one in parameters):
        lines.append(f"    if {' and '.join(absent)}:")
        lines += _gradients_refused(inputs, "dovetail_refuse_gradients", 8, differentiable=True)
        lines.append(f"        return dovetail_functional({_passed(inputs)})")
    if written:
        lines += _gradients_refused(parameters, "dovetail_refuse_write", 4)
    if outs:
        given = ", ".join(f"{one.name}={one.name}" for one in parameters)
        lines += [
            f"    if {' or '.join(absent)}:",
            f"        dovetail_made = dovetail_missing({given})",
        ]
        for i, one in enumerate(written):
            if one.is_out:
                made = f"dovetail_made[{i}] if {one.name} is None else {one.name}"
                lines.append(f"        {one.name} = {made}")
    lines.append(f"    dovetail_operator({_passed(parameters)})")
    result = ", ".join(one.name for one in written)
    lines.append(f"    return {result or None}")
    return "\n".join(lines) + "\n"


def _gradients_refused(parameters, refuse, indent, *, differentiable=False):
    """Lines that refuse arguments that require gradients, while PyTorch records them."""
    lines = []
    for one in parameters:
        if one.kind != "tensor":
            continue
        needs = f"{one.name} is not None and {one.name}.requires_grad"
        if one.is_list:
            needs = f"any([each.requires_grad for each in {one.name} or ()])"
        unless = " and not dovetail_is_differentiable()" if differentiable else ""
        lines += [
            " " * indent + f"if {needs} and dovetail_records(){unless}:",
            " " * indent + f"    {refuse}({one.name!r})",
        ]
    return lines


def _passed(parameters):
    return ", ".join(
        f"{one.name}={one.name}" if one.keyword_only else one.name for one in parameters
    )


def _python_parameters(parameters):
    texts = []
    for one in parameters:
        if one.keyword_only and "*" not in texts:
            texts.append("*")
        default = "" if one.is_required else f"=dovetail_defaults[{one.name!r}]"
        texts.append(one.name + default)
    return ", ".join(texts)
