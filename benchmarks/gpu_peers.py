"""What do allocations, copies and exchanges on a GPU cost, compared with PyTorch and CuPy?

./bazelw run -c opt //benchmarks:gpu_peers        # needs PyTorch for CUDA, CuPy or both
python gpu_peers.py

Allocation with release and exchange are measured as host time. Dense copies of strided tensors are
timed between two synchronisations. Without a GPU it prints a message and exits with 0.
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
        row = measure.Row(f"transpose {name} {SHAPE[0]} x {SHAPE[1]}", {}, "torch")
        functions = {
            "dovetail": dt.from_dlpack(source).contiguous,
            "torch": source.contiguous,
            "torch, a dense copy": source.t().clone,
        }
        for library, work in functions.items():
            if program.selects(f"{row.work}/{library}"):
                times = range(program.repetitions(5))
                row.times[library] = [_device_time(torch, work) for _ in times]
        if row.times:
            rows.append(row)
    return rows


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


NOTE = """Allocation with release and exchange: time of the host. Transposes: time on the device."""


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
    title = "Allocation, exchange and copies on a GPU in Python"
    program.publish("gpu_peers", title, NOTE, rows + copy_rows(peers, program))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
