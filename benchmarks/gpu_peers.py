"""What do allocations, copies, casts and exchanges on a GPU cost, compared with PyTorch and CuPy?

./bazelw run -c opt //benchmarks:gpu_peers        # needs PyTorch for CUDA, CuPy or both
python gpu_peers.py

Allocation with release and exchange are measured as host time. Copies, casts and fills are timed
between two synchronisations. Without a GPU it prints a message and exits with 0.
"""

import sys
import time

import measure
import report

import dovetail as dt

SHAPE = (8192, 8192)


def find_peers():
    """Return PyTorch and CuPy, by name, if they see a GPU, and why the others are left out."""
    peers, missing = {}, []
    for name in ("torch", "cupy"):
        try:
            library = __import__(name)
            library.cuda.current_device() if name == "torch" else library.cuda.Device().id
        except Exception as error:  # not installed, no driver or no device: report any of them
            missing.append(f"{name}: {error}")
        else:
            peers[name] = library
    return peers, missing


def allocation_rows(peers):
    device = dt.Device("cuda:0")
    rows = []
    for text, nbytes in (("1 KiB", 1 << 10), ("1 MiB", 1 << 20), ("64 MiB", 64 << 20)):
        functions = _allocations(peers, nbytes, device)
        rows.append(measure.Row(f"allocate {text}", functions, _baseline(functions), 1.0))
    return rows


def _allocations(peers, nbytes, device):
    functions = {"dovetail": lambda: dt.empty(nbytes, dtype="uint8", device=device)}
    if torch := peers.get("torch"):
        functions["torch"] = lambda: torch.empty(nbytes, dtype=torch.uint8, device="cuda")
    if cupy := peers.get("cupy"):
        functions["cupy"] = lambda: cupy.empty(nbytes, dtype=cupy.uint8)
    return functions


def exchange_rows(peers):
    """Exports a 4 x 4 tensor to another stream and to the default stream, and imports one."""
    rows = []
    ours = dt.zeros((4, 4), device="cuda:0")
    if "torch" in peers:
        torch = peers["torch"]
        theirs = torch.zeros(4, 4, device="cuda")
        other = torch.cuda.Stream()
        handle = other.cuda_stream
        rows += [
            measure.Row(
                "export to another stream",
                {
                    "dovetail": lambda: ours.__dlpack__(stream=handle, max_version=(1, 3)),
                    "torch": lambda: theirs.__dlpack__(stream=handle, max_version=(1, 3)),
                },
                "torch",
                0.5,
            ),
            measure.Row(
                "export to the default stream",
                {
                    "dovetail": lambda: ours.__dlpack__(max_version=(1, 3)),
                    "torch": lambda: theirs.__dlpack__(max_version=(1, 3)),
                },
                "torch",
                0.5,
            ),
        ]
        if "cupy" in peers:
            cupy = peers["cupy"]
            rows.append(
                measure.Row(
                    "torch tensor in",
                    {
                        "dovetail": lambda: dt.from_dlpack(theirs),
                        "cupy": lambda: cupy.from_dlpack(theirs),
                    },
                    "cupy",
                    1.0,
                )
            )
    return rows


def copy_rows(peers, program):
    """Dense copies of transposed matrices: time on the device."""
    if "torch" not in peers:
        return []
    torch = peers["torch"]
    rows = []
    for name in ("float32", "float16", "uint8", "float64"):
        source = torch.zeros(SHAPE, dtype=getattr(torch, name), device="cuda").t()
        functions = {
            "dovetail": dt.from_dlpack(source).contiguous,
            "torch": source.contiguous,
            "torch, a dense copy": source.t().clone,
        }
        rows += _device_row(torch, program, f"transpose {name} {_SIZE}", functions, "torch")
    return rows


CASTS = [
    ("float32", "bfloat16"),
    ("float32", "float16"),
    ("float32", "float8_e4m3fn"),
    ("float32", "float8_e5m2"),
    ("bfloat16", "float32"),
    ("float16", "float32"),
    ("float8_e4m3fn", "float32"),
    ("float8_e5m2", "bfloat16"),
    ("float64", "float32"),
    ("int64", "int32"),
    ("uint8", "float32"),
]


def cast_rows(peers, program):
    """Casts of dense and of transposed matrices, beside a dense copy of as many bytes."""
    if "torch" not in peers:
        return []
    torch, cupy = peers["torch"], peers.get("cupy")
    rows = []
    for start, end in CASTS:
        source = torch.zeros(SHAPE, device="cuda").to(getattr(torch, start))
        to, dtype = getattr(torch, end), dt.dtype(end)
        moved = source.numel() * (source.element_size() + dtype.itemsize)
        block = torch.empty(moved // 2, dtype=torch.uint8, device="cuda")
        for layout, view in (("cast", source), ("cast transposed", source.t())):
            ours = dt.from_dlpack(view)
            functions = {
                "dovetail": lambda ours=ours, dtype=dtype: ours.astype(dtype, order="C"),
                "torch": lambda view=view, to=to: view.to(
                    to, memory_format=torch.contiguous_format
                ),
                "torch, a dense copy": block.clone,
            }
            if cupy is not None and "float8" not in start + end and "bfloat16" not in (start, end):
                array = cupy.from_dlpack(view)
                functions["cupy"] = lambda array=array, end=end: array.astype(end, order="C")
            rows += _device_row(torch, program, f"{layout} {start} to {end}", functions, "torch")
    return rows


def fill_rows(peers, program):
    """New tensors of 1 GiB, beside the driver's memset of as many bytes."""
    if "torch" not in peers:
        return []
    torch, count = peers["torch"], 1 << 28
    block = torch.empty(count, device="cuda")
    like = {"dtype": "float32", "device": "cuda:0"}
    memset = {"torch, memset": block.zero_}
    rows = []
    for work, ours, theirs in (
        ("zeros", lambda: dt.zeros(count, **like), lambda: torch.zeros(count, device="cuda")),
        ("full", lambda: dt.full(count, 1.5, **like), lambda: torch.full_like(block, 1.5)),
        (
            "arange",
            lambda: dt.arange(count, **like),
            lambda: torch.arange(count, dtype=torch.float32, device="cuda"),
        ),
    ):
        functions = {"dovetail": ours, "torch": theirs} | memset
        rows += _device_row(torch, program, f"{work} 1 GiB", functions, "torch, memset")
    return rows


_SIZE = f"{SHAPE[0]} x {SHAPE[1]}"


def _device_row(torch, program, work, functions, baseline):
    """Return a row of times on the device, in a list; an empty list if none is selected."""
    row = measure.Row(work, {}, baseline)
    for library, function in functions.items():
        if program.selects(f"{work}/{library}"):
            times = range(program.repetitions(5))
            row.times[library] = [_device_time(torch, function) for _ in times]
    return [row] if row.times else []


def _device_time(torch, work, calls=20):
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    start, busy = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(calls):
        work()
    torch.cuda.synchronize()
    took, busy = time.perf_counter_ns() - start, time.process_time_ns() - busy
    return measure.Time(took / calls, busy / calls, calls)


def _baseline(functions):
    """The first peer, or Dovetail itself if there is none."""
    return next((name for name in functions if name != "dovetail"), "dovetail")


NOTE = """Allocation with release and exchange: time of the host. All others: time on the device."""


def main():
    options = report.parser(__doc__).parse_args()
    devices = dt.backends().get("cuda", "this build has no CUDA backend")
    if not isinstance(devices, int) or devices == 0:
        print(f"No GPU here, nothing to measure: {devices}")
        return
    program = report.Program(options)
    peers, missing = find_peers()
    for line in missing:
        print(f"not measured: {line}")
    rows = program.measure(allocation_rows(peers) + exchange_rows(peers))
    device_rows = [
        row for make in (copy_rows, cast_rows, fill_rows) for row in make(peers, program)
    ]
    title = "Allocation, exchange and copies on a GPU in Python"
    program.publish("gpu_peers", title, NOTE, rows + device_rows)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
