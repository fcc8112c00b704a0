"""How long does a C++ function take that gets tensors of Python libraries as arguments?

./bazelw run -c opt //benchmarks:arguments [-- DIRECTORY]

Prints a table of one run. The functions add contiguous float32 vectors of 16 elements in host
memory. Each is bound by nanobind with nb::ndarray, by pybind11 with array_t, by tvm-ffi with
TensorView, and with Dovetail's arguments by nanobind ("dovetail"), by pybind11 and in plain C; all
check the element type, the rank and that the memory is contiguous. cuda.core's StridedMemoryView is
made in Python, once for each argument, without a call of a function. Functions write their last
argument, except with JAX, whose arrays never change. "call" is what a function of nanobind takes
that passes its arguments on. Times are without the cost of an empty Python call. A library that a
binding refuses is left out of its row, and named below the table.

The rows below those compare forms of Dovetail's own arguments with simpler ones, loops over
arguments with loops over plain pointers, and the RMSNorm of examples/kernels with PyTorch's.

With a directory, also writes arguments.md and arguments.svg there.
"""

import importlib
import pathlib
import sys
import warnings

import jax.numpy as jnp
import measure
import numpy as np
import report
import torch
import tvm_ffi
from cuda.core.utils import StridedMemoryView

import dovetail as dt

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import paddle

torch.set_num_threads(1)
dt.set_num_threads(1)
paddle.set_device("cpu")

MAKERS = {
    "NumPy": lambda: np.ones(16, np.float32),
    "PyTorch": lambda: torch.ones(16),
    "JAX": lambda: jnp.ones(16, "float32"),
    "Paddle": lambda: paddle.ones([16]),
}
# For three arguments: the binding that the goal is set against, and the goal.
GOALS = {
    "NumPy": ("nb::ndarray", 0.40),
    "PyTorch": ("tvm-ffi", 0.50),
    "JAX": ("nb::ndarray", 0.50),
    "Paddle": ("nb::ndarray", 0.50),
}


def bindings():
    """The modules that export the functions, by binding."""
    folder = pathlib.Path(__file__).parent / "arguments_bindings"
    sys.path.insert(0, str(folder))
    return {
        "dovetail": importlib.import_module("dovetail_nanobind"),
        "dovetail, pybind11": importlib.import_module("dovetail_pybind11"),
        "dovetail, C": importlib.import_module("dovetail_c"),
        "nb::ndarray": importlib.import_module("nanobind_ndarray"),
        "pybind11 array_t": importlib.import_module("pybind11_array"),
        "tvm-ffi": tvm_ffi.load_module(str(folder / "tvm_ffi_views.so")),
    }


def caller(function, arguments):
    """A function without parameters that calls `function`, with the arguments as its locals."""
    names = ", ".join(f"x{i}" for i in range(len(arguments)))
    code = f"def make(f, {names}):\n    return lambda: f({names})"
    scope = {}
    exec(code, scope)
    return scope["make"](function, *arguments)


def views(arguments):
    """The StridedMemoryView of each argument."""
    make = StridedMemoryView.from_any_interface

    def call():
        for x in arguments:
            make(x, stream_ptr=-1)

    return call


def try_out(function):
    """Why the binding refuses the arguments; None if it does not."""
    try:
        function()
    except Exception as e:
        return f"{type(e).__name__}: {str(e).splitlines()[0]}"
    return None


def argument_row(modules, library, count, refusals):
    arguments = [MAKERS[library]() for _ in range(count)]
    name = f"{'r' if library == 'JAX' else 'f'}{count}"
    functions = {
        binding: caller(getattr(module, name), arguments) for binding, module in modules.items()
    }
    functions["StridedMemoryView"] = views(arguments)
    if count == 3:
        functions["call"] = caller(modules["nb::ndarray"].nothing3, arguments)
    taken = {}
    for binding, function in functions.items():
        refusal = try_out(function)
        if refusal is None:
            taken[binding] = function
        else:
            refusals.setdefault(f"{binding} with {library}", refusal)
    baseline, goal = GOALS[library]
    work = f"{count} x {library}"
    return measure.Row(work, taken, baseline, goal if count == 3 else None)


def one_by_one(function, tensors):
    def call():
        for x in tensors:
            function(x)

    return call


def form_rows():
    """Forms of arguments beside simpler ones, and loops beside those over plain pointers."""
    forms = importlib.import_module("dovetail_forms")
    rows = []
    for library in ("NumPy", "PyTorch"):
        x, y, z = (MAKERS[library]() for _ in range(3))
        tensors = [MAKERS[library]() for _ in range(50)]
        rows += [
            measure.Row(
                f"3 x {library}, one of 3 types",
                {
                    "dovetail": caller(forms.one_of3, [x, y, z]),
                    "one type": caller(forms.typed3, [x, y, z]),
                },
                "one type",
                1.05,
            ),
            measure.Row(
                f"a {library} result that is made",
                {"dovetail": caller(forms.copy, [x]), "out= given": caller(forms.copy, [x, y])},
                "out= given",
            ),
            measure.Row(
                f"a list of 50 x {library}",
                {
                    "dovetail": caller(forms.list, [tensors]),
                    "one by one": one_by_one(forms.one, tensors),
                },
                "one by one",
            ),
        ]
    for dtype in ("uint8", "int64", "float32"):
        x, y = np.ones((2, 1000, 1000), dtype)
        for form, raw in (("dense", "raw"), ("by_index", "raw_2d")):
            index = "x[i]" if form == "dense" else "x(i, j)"
            functions = {
                "dovetail": caller(getattr(forms, f"{form}_{dtype}"), [x, y]),
                "plain pointers": caller(getattr(forms, f"{raw}_{dtype}"), [x, y]),
            }
            work = f"a loop over {index}, 10^6 x {dtype}"
            rows.append(measure.Row(work, functions, "plain pointers", 1.05))
    return rows


def rms_norm_rows():
    """examples/kernels, compiled for any x86-64, beside PyTorch; one thread each."""
    kernels = importlib.import_module("kernels")
    norm, rows = torch.nn.functional.rms_norm, []
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        x, weight = torch.ones(256, 1024, dtype=dtype), torch.ones(1024, dtype=dtype)
        functions = {
            "dovetail": caller(kernels.rms_norm, [x, weight]),
            "torch": lambda x=x, weight=weight: norm(x, (1024,), weight, 1e-6),
        }
        rows.append(measure.Row(f"rms_norm, 256 x 1024 x {dtype}", functions, "torch", 1.2))
    return rows


def result_row(modules):
    tensor, array = torch.ones(16), np.ones(16, np.float32)
    return measure.Row(
        "a new PyTorch tensor as the result",
        {
            "dovetail": caller(modules["dovetail"].make, [tensor]),
            "torch.from_numpy": lambda: torch.from_numpy(array),
        },
        "torch.from_numpy",
        1.2,
    )


NOTE = """Functions of 1, 3 and 8 contiguous float32 vectors of 16 elements, called from Python;
times without the cost of an empty call. "dovetail" is bound by nanobind. benchmarks/arguments.py
says what each column is."""


def main():
    program = report.Program(report.parser(__doc__).parse_args())
    modules, refusals = bindings(), {}
    rows = [
        argument_row(modules, library, count, refusals) for library in MAKERS for count in (1, 3, 8)
    ]
    rows = [*rows, result_row(modules), *form_rows(), *rms_norm_rows()]
    rows = program.measure(rows)
    nanobind = [
        f"- 3 x {row.work[4:]}: "
        f"{row.nanoseconds['dovetail'] / row.nanoseconds['nb::ndarray']:.3f} x nb::ndarray"
        for row in rows
        if row.work.startswith("3 x") and {"dovetail", "nb::ndarray"} <= row.times.keys()
    ]
    refused = [f"- {who}: {why}" for who, why in refusals.items()]
    more = "\n".join(
        ["Dovetail beside nb::ndarray, by nanobind both:", "", *nanobind]
        + (["", "Refused:", "", *refused] if refused else [])
    )
    program.publish("arguments", "Tensors as arguments of C++ functions", NOTE, rows, more)


if __name__ == "__main__":
    main()
