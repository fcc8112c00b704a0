"""Kernels within JAX's programs: foreign function calls, whose results are what the kernel writes.

A call is checked when it is traced, by the code that checks a plain call, and again when it runs.
"""

import math
import operator

import jax
import numpy as np

from dovetail import _core
from dovetail._kernels.signature import Parameter

_TRACED = NotImplemented  # stands for a traced number in _core._trace_kernel()


_registered: set = set()  # targets


def _target(function):
    return f"dovetail.{function.__module__}.{function.__name__}"


def register_all(functions):
    """Tell XLA the kernels, once: exported programs may call them before any is traced."""
    if not hasattr(jax, "ffi"):
        return
    for function in functions:
        target = _target(function)
        if target in _registered:
            continue
        _registered.add(target)
        for platform, handler in _core._xla_handlers(function).items():
            jax.ffi.register_ffi_target(target, handler, platform=platform)


def make_call(function):
    """The function that takes a kernel's arguments, all by position, where JAX traces some."""
    described, returns_tensors = _core._describe_kernel(function)
    parameters = [Parameter(**one) for one in described]
    name, target = function.__name__, _target(function)
    if returns_tensors:
        return _refuse_all(name)
    if not hasattr(jax, "ffi"):
        raise TypeError(f"{name}() is traced by JAX {jax.__version__}: JAX 0.5 or later is needed")
    register_all([function])

    def call(*values):
        traced = _Call(name)
        for one, value in zip(parameters, values, strict=True):
            traced.add(one, value)
        results = _core._trace_kernel(function, tuple(traced.described))
        return traced.run(target, parameters, results)

    return call


def _refuse_all(name):
    def call(*values):
        raise TypeError(
            f"{name}() has results whose sizes depend on data, and can't be traced by JAX: call it "
            "outside of jit, vmap and grad, or by jax.pure_callback()"
        )

    return call


class _Call:
    """One call: its operands and attributes, and what _core._trace_kernel() is told of it."""

    def __init__(self, name):
        self.name = name
        self.described = []
        self.operands = []
        self.counts = []  # the operands of each parameter; -1 for None
        self.attributes = {}
        self.aliases = {}
        self.written = 0

    def add(self, one, value):
        """Add the argument of a parameter."""
        if one.kind != "tensor":
            self._add_value(one, value)
        elif one.is_out:
            self._add_out(one, value)
        elif value is None or (one.is_list and not isinstance(value, (list, tuple))):
            self.described.append(value)
            self.counts.append(-1)
        elif one.is_list:
            arrays = [self._array(one, item, f", element {i + 1}") for i, item in enumerate(value)]
            self.described.append([self._describe(one, array) for array in arrays])
            self._add_operands(arrays)
        else:
            array = self._array(one, value)
            if one.is_inout:
                self.aliases[len(self.operands)] = self.written
                self.written += 1
            self.described.append(self._describe(one, array))
            self._add_operands([array])

    def _describe(self, one, array):
        if not all(isinstance(size, int) for size in array.shape):
            self._refuse(one, f"has shape {array.shape}, and kernels take sizes that are numbers")
        return array.dtype.name, tuple(array.shape)

    def _add_operands(self, arrays):
        self.operands += arrays
        self.counts.append(len(arrays))

    def _add_out(self, one, value):
        if value is not None:
            self._refuse(one, "must be left out: JAX's arrays never change, and results are new")
        self.written += 1
        self.described.append(None)
        self.counts.append(0)

    def _array(self, one, value, element=""):
        if isinstance(value, jax.Array):
            return value
        if not hasattr(value, "dtype") or not hasattr(value, "shape"):
            kind = type(value).__name__
            self._refuse(one, f"({kind}) must be an array of JAX or NumPy", element)
        array = jax.numpy.asarray(value)
        was = str(value.dtype).removeprefix("torch.")
        if array.dtype.name != was:
            self._refuse(
                one,
                f"is {was}, which JAX makes {array.dtype.name} of. Pass {array.dtype.name}, or set "
                "jax_enable_x64",
                element,
            )
        return array

    def _add_value(self, one, value):
        if isinstance(value, jax.core.Tracer):
            self.described.append(_TRACED)
            self._add_operands([self._number(one, value)])
            return
        self.described.append(value)
        if value is None:
            self.counts.append(-1)
            return
        self.counts.append(0)
        self.attributes[one.name] = value

    def _number(self, one, value):
        """A number that JAX traces, as one of the types that the kernel's side reads."""
        if one.size_name is not None:
            self._refuse(one, "is a size of results, and must be an int that JAX does not trace")
        if one.is_list or one.kind == "str":
            self._refuse(one, "must be a value that JAX does not trace")
        kinds, wide, narrow = _NUMBERS[one.kind]
        if value.shape != () or not any(jax.numpy.issubdtype(value.dtype, kind) for kind in kinds):
            kind = "an int" if one.kind == "int" else f"a {one.kind}"
            self._refuse(one, f"must be {kind}, and is {value.dtype.name}{list(value.shape)}")
        if one.kind == "int" and jax.numpy.issubdtype(value.dtype, np.unsignedinteger):
            wide, narrow = np.uint64, np.uint32
        return value.astype(wide if jax.config.jax_enable_x64 else narrow)

    def _refuse(self, one, what, element=""):
        raise TypeError(f"{self.name}(): argument '{one.name}'{element} {what}")

    def run(self, target, parameters, results):
        """Make the call. `results` are those of _core._trace_kernel()."""
        attributes = {
            one.name: _attribute(one, self.attributes[one.name])
            for one in parameters
            if one.name in self.attributes
        }
        if self.counts != [one.kind == "tensor" and not one.is_out for one in parameters]:
            attributes["@operands"] = np.array(self.counts, np.int64)
        axes = frozenset().union(*map(_axes, self.operands))
        made = jax.ffi.ffi_call(
            target,
            [jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for dtype, shape in results],
            vmap_method="sequential",
            input_output_aliases=self.aliases,
            has_side_effect=not results,  # else XLA would leave the call out
        )(*_spread(self.operands, axes), **attributes)
        if not results:
            return None
        made = _spread(made, axes)  # JAX takes results for the same on all devices
        return made[0] if len(made) == 1 else tuple(made)


# By the kind of a parameter: the types that it takes, and what they become with and without
# jax_enable_x64.
_NUMBERS = {
    "float": ((np.floating, np.integer, np.bool_), np.float64, np.float32),
    "int": ((np.integer, np.bool_), np.int64, np.int32),
    "bool": ((np.bool_,), np.bool_, np.bool_),
}


def _axes(array):
    """The axes of shard_map along which the devices' arrays differ."""
    kind = jax.typeof(array)
    if hasattr(kind, "manual_axis_type"):
        return kind.manual_axis_type.varying
    return getattr(kind, "vma", frozenset())  # before JAX 0.10


def _spread(arrays, axes):
    """The arrays as such that differ along all of the axes."""
    missing = [tuple(axes - _axes(one)) for one in arrays]
    return [
        jax.lax.pcast(one, those, to="varying") if those else one
        for one, those in zip(arrays, missing, strict=True)
    ]


def _attribute(one, value):
    """A value that the kernel took, as XLA has it."""
    if one.kind == "str":
        return str.__str__(value)  # a subclass may say something else of itself
    dtype = _NUMBERS[one.kind][1]
    if one.is_list:
        return np.array([_plain(one, item) for item in value], dtype)
    if one.kind == "float" and value == 0 and math.copysign(1, value) < 0:
        return np.array([-0.0])  # which JAX does not take for 0.0
    return dtype(_plain(one, value))


def _plain(one, value):
    return operator.index(value) if one.kind == "int" else value
