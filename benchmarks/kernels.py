"""What does a kernel library cost: a plain call, an operator of PyTorch, a compilation?

./bazelw run -c opt //benchmarks:kernels [-- DIRECTORY]

Prints two tables of one run: the times, and the ratios that are wanted. The kernel is
out = a * x + y over contiguous float32 vectors of 16 elements in host memory.
benchmarks/kernels_bindings has its sources; all check the element type, the rank, the sizes and
that the memory is contiguous. Each call's result is checked before any is measured. Functions
write their last argument, a NumPy array where the inputs are JAX's, which never change; "new
result" is a call without it, whose result is the library's own.

"dovetail" is the kernel library: its function, or torch.ops.<namespace>.scale_add.default.
"pybind11" takes at::Tensor, and "nb::ndarray" is nanobind's. Operators are those of TORCH_LIBRARY;
of STABLE_TORCH_LIBRARY with TORCH_BOX; of Library.define() and impl() in Python; of
torch.library.custom_op. The last two call pybind11's function. All are called by `.default`.

In the compiled graph the operator is called 50 times, by torch.compile(fullgraph=True). The time is
that of the whole call, divided by 50. dovetail's is called by the kernel library's function, which
torch.compile replaces by the operator.

Times are without the cost of an empty Python call. The compile times are those of g++ -O2 -c for
one file, by the clock: the kernel library's, and that of TORCH_LIBRARY and pybind11 with the
headers that it needs and with torch/extension.h.

The rows of examples/kernels are those of example_kernels.py, those of JAX's programs and of
tvm-ffi those of other_doors.py.

With a directory, also writes kernels.md and kernels.svg there.
"""

import pathlib
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings

import jax.numpy as jnp
import measure
import numpy as np
import report
import torch
import tvm_ffi
from torch.utils import cpp_extension

import dovetail as dt

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import paddle

FOLDER = pathlib.Path(__file__).parent / "kernels_bindings"
sys.path.insert(0, str(FOLDER))
import example_kernels  # noqa: E402
import nanobind_kernels  # noqa: E402
import other_doors  # noqa: E402
import torch_kernels  # noqa: E402

torch.set_num_threads(1)
dt.set_num_threads(1)
paddle.set_device("cpu")

A = 2.0
CHAIN = 50  # operators in a compiled graph
X = np.arange(16, dtype=np.float32)
Y = np.linspace(-1, 1, 16, dtype=np.float32)

MAKERS = {
    "PyTorch": lambda array: torch.from_numpy(array.copy()),
    "NumPy": np.copy,
    "Paddle": paddle.to_tensor,
    "JAX": jnp.asarray,
    "tvm-ffi": lambda array: tvm_ffi.from_dlpack(array.copy()),
}

PLAIN = "plain call, "
OPERATOR = "operator"
NEW = "new result, "
GRAPH = "operator in a compiled graph"
COMPILATION = "compilation of one kernel"
# The peers that goals are set against, and the goals.
WANTED = {
    PLAIN + "PyTorch": {"TORCH_LIBRARY": 0.16, "pybind11": 1.0},
    PLAIN + "NumPy": {"nb::ndarray": 0.35},
    PLAIN + "Paddle": {"nb::ndarray": 0.35},
    PLAIN + "JAX": {"nb::ndarray": 0.35},
    PLAIN + "tvm-ffi": {"nb::ndarray": None},
    OPERATOR: {"TORCH_LIBRARY": 1.15, "STABLE_TORCH_LIBRARY": 0.9},
    NEW + "PyTorch": {"pybind11": None},
    NEW + "NumPy": {"nb::ndarray": None},
    NEW + "JAX": {"nb::ndarray": 0.35},
    NEW + "operator": {"TORCH_LIBRARY": None},
    GRAPH: {"custom_op": 0.15},
    **other_doors.WANTED,
}
COMPILATION_SECONDS = 2.0


def check(name, result):
    values = dt.from_dlpack(result).numpy()
    if not np.array_equal(values, A * X + Y):
        raise AssertionError(f"{name}: {values}")


def writing(functions, library):
    """A call of each function that writes its last argument. Checks what it writes."""
    x, y = MAKERS[library](X), MAKERS[library](Y)
    # (JAX's arrays never change.)
    make_out = MAKERS["NumPy" if library == "JAX" else library]

    def call(name, f):
        out = make_out(np.zeros_like(X))
        f(x, y, A, out)
        check(f"{name} with {library}", out)
        return lambda: f(x, y, A, out)

    return {name: call(name, f) for name, f in functions.items()}


def returning(functions, library):
    """A call of each function that returns its result. Checks it, and its type."""
    x, y = MAKERS[library](X), MAKERS[library](Y)

    def call(name, f):
        result = f(x, y, A)
        check(f"{name} with {library}", result)
        if type(result) is not type(x):
            raise AssertionError(f"{name} with {library} returns a {type(result)}")
        return lambda: f(x, y, A)

    return {name: call(name, f) for name, f in functions.items()}


def compiled(operators):
    """A call of a compiled graph with a chain of each operator. Checks what the graph writes."""

    def call(name, f):
        def chain(x, y, out):
            for _ in range(CHAIN // 2):
                f(x, y, 0.5, out)
                f(out, y, 0.5, x)

        graph = torch.compile(chain, fullgraph=True)
        given, wanted = ([MAKERS["PyTorch"](a) for a in (X, Y, X)] for _ in range(2))
        graph(*given)
        chain(*wanted)
        for a, b in zip(given, wanted, strict=True):
            torch.testing.assert_close(a, b)
        x, y, out = given
        return lambda: graph(x, y, out)

    return {name: call(name, f) for name, f in operators.items()}


# The operator that torch.library.Library makes of pybind11's function.
in_python = torch.library.Library("dovetail_python_peer", "DEF")
in_python.define("scale_add(Tensor x, Tensor y, float a, Tensor(a!) out) -> ()")
in_python.impl("scale_add", torch_kernels.scale_add, "CPU")
torch.library.register_fake("dovetail_python_peer::scale_add", lambda x, y, a, out: None)


@torch.library.custom_op("dovetail_custom_peer::scale_add", mutates_args=("out",))
def custom_op(x: torch.Tensor, y: torch.Tensor, a: float, out: torch.Tensor) -> None:
    """The operator that torch.library.custom_op makes of pybind11's function."""
    torch_kernels.scale_add(x, y, a, out)


def row(work, functions):
    baseline, goal = next(iter(WANTED[work].items()))
    return measure.Row(work, functions, baseline, goal)


def plain_rows(function):
    operator = torch.ops.dovetail_peer.scale_add.default
    peer = nanobind_kernels.scale_add
    functions = {
        "dovetail": function,
        "pybind11": torch_kernels.scale_add,
        "TORCH_LIBRARY": operator,
        "nb::ndarray": peer,
        "torch.add(out=)": lambda x, y, a, out: torch.add(y, x, alpha=a, out=out),
    }
    rows = [row(PLAIN + "PyTorch", writing(functions, "PyTorch"))]
    for library in ("NumPy", "Paddle", "JAX", "tvm-ffi"):
        functions = {"dovetail": function, "nb::ndarray": peer}
        rows.append(row(PLAIN + library, writing(functions, library)))
    return rows


def new_rows(function, operator):
    functions = {
        "PyTorch": {
            "dovetail": function,
            "pybind11": torch_kernels.new_torch,
            "torch.add": lambda x, y, a: torch.add(y, x, alpha=a),
        },
        "NumPy": {"dovetail": function, "nb::ndarray": nanobind_kernels.new_numpy},
        "JAX": {"dovetail": function, "nb::ndarray": nanobind_kernels.new_jax},
    }
    rows = [row(NEW + name, returning(those, name)) for name, those in functions.items()]
    operators = {
        "dovetail": operator.functional,
        "TORCH_LIBRARY": torch.ops.dovetail_peer.scale_add.functional,
    }
    return [*rows, row(NEW + "operator", returning(operators, "PyTorch"))]


def compile_seconds(flags, source, repetitions):
    """How long g++ takes for the source, by the clock and in CPU time, each time."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        command = ["g++", "-std=c++20", "-O2", "-fPIC", "-w", "-c", str(source), "-o"]
        for _ in range(repetitions):
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run([*command, f"{folder}/kernel.o", *flags], check=True)
            real = time.perf_counter() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            times.append(measure.Time(real * 1e9, cpu * 1e9))
    return times


def compilation_row(program):
    """The row of compile times. Only those that --filter selects; the peers' once."""
    found = measure.Row(COMPILATION, {}, "torch/extension.h")
    with tempfile.TemporaryDirectory() as headers:
        # The peer's own header has the prefix of this repository.
        prefix = pathlib.Path(headers, "dovetail/benchmarks")
        prefix.mkdir(parents=True)
        (prefix / "kernels_bindings").symlink_to(FOLDER)
        python = [f"-I{sysconfig.get_path('include')}", "-DTORCH_EXTENSION_NAME=torch_kernels"]
        peer = [*(f"-I{path}" for path in [*cpp_extension.include_paths(), headers]), *python]
        for name, flags, source, repetitions in [
            ("dovetail", [f"-I{dt.get_include()}"], "kernels.cc", 3),
            ("TORCH_LIBRARY", peer, "torch_kernels.cc", 1),
            ("torch/extension.h", [*peer, "-include", "torch/extension.h"], "torch_kernels.cc", 1),
        ]:
            if program.selects(f"{COMPILATION}/{name}"):
                found.times[name] = compile_seconds(flags, FOLDER / source, repetitions)
    return found


def wanted_table(rows, compilation):
    """Return a Markdown table of the ratios that are wanted, and of the compile times."""
    lines = ["| work | peer | Dovetail's time / peer's | wanted |", "|---|---|---:|---:|"]
    for one in rows:
        least = one.nanoseconds
        for peer, goal in WANTED.get(one.work, {"torch": None}).items():
            if {"dovetail", peer} <= least.keys():
                ratio = f"{least['dovetail'] / least[peer]:.2f}"
                wanted = "" if goal is None else f"<= {goal:.2f}"
                lines.append(f"| {one.work} | {peer} | {ratio} | {wanted} |")
    seconds = [f"{name} {least / 1e9:.1f} s" for name, least in compilation.nanoseconds.items()]
    if seconds:
        lines += [
            "",
            f"The {COMPILATION}: {', '.join(seconds)}; wanted: <= {COMPILATION_SECONDS:.0f} s.",
        ]
    return "\n".join(lines)


NOTE = """A kernel over three contiguous float32 vectors of 16 elements and a float, called from
Python; times without the cost of an empty call. "dovetail" is a kernel library.
benchmarks/kernels.py says what each column is."""


def main():
    program = report.Program(report.parser(__doc__).parse_args())
    function = dt.load_kernels(FOLDER / "kernels.so", namespace="dovetail_kernels").scale_add
    operator = torch.ops.dovetail_kernels.scale_add
    torch.ops.load_library(FOLDER / "torch_stable_kernels.so")
    # What an operator costs, by what made it.
    operators = {
        "dovetail": operator.default,
        "TORCH_LIBRARY": torch.ops.dovetail_peer.scale_add.default,
        "STABLE_TORCH_LIBRARY": torch.ops.dovetail_stable_peer.scale_add.default,
        "Library.define": torch.ops.dovetail_python_peer.scale_add.default,
        "custom_op": torch.ops.dovetail_custom_peer.scale_add.default,
    }
    rows = [
        *plain_rows(function),
        row(OPERATOR, writing(operators, "PyTorch")),
        *new_rows(function, operator),
        *example_kernels.rows(),
        *other_doors.rows(function),
    ]
    del operators["STABLE_TORCH_LIBRARY"]  # it has no function for fake tensors
    operators["dovetail"] = function
    # (Compiling takes long.)
    selected = {name: f for name, f in operators.items() if program.selects(f"{GRAPH}/{name}")}
    rows.append(row(GRAPH, compiled(selected)))
    rows = program.measure(rows)
    chains = {GRAPH: CHAIN, other_doors.HANDLER: other_doors.CHAIN}
    for one in rows:
        if count := chains.get(one.work):
            one.times = {
                name: [measure.Time(t.real / count, t.cpu / count, t.calls) for t in times]
                for name, times in one.times.items()
            }
    compilation = compilation_row(program)
    more = wanted_table(rows, compilation)
    others = [compilation] if compilation.times else []
    program.publish("kernels", "Kernel libraries", NOTE, rows, more, others)


if __name__ == "__main__":
    main()
