"""What do copies and exchanges on a oneAPI device cost, compared with SYCL's memcpy and dpctl?

./bazelw run -c opt //benchmarks:oneapi [-- DIRECTORY]

dpctl and the device of the CPU come from the environment that tests/other_libraries/run.sh oneapi
makes. Without them it prints a message and exits with 0. Copies are timed from a call to the end of
the work: "queue" is SYCL's memcpy on a queue that is in order, "dpctl" a copy by dpctl.tensor.
Exchanges are time of the host; dpctl's own is between two of its arrays.
"""

import os
import pathlib
import sys
import warnings

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
ENVIRONMENT = pathlib.Path(
    os.environ.get("DOVETAIL_ENVIRONMENTS") or CACHE / "dovetail" / "environments", "oneapi"
)
os.environ.setdefault("OCL_ICD_FILENAMES", str(ENVIRONMENT / "lib" / "libintelocl.so"))
sys.path.extend(map(str, ENVIRONMENT.glob("lib/python*/site-packages")))
warnings.filterwarnings("ignore", message="dpctl.tensor is deprecated", category=DeprecationWarning)

import measure  # noqa: E402
import report  # noqa: E402

import dovetail as dt  # noqa: E402

SIZES = {"4 KiB": 1 << 12, "1 MiB": 1 << 20, "64 MiB": 1 << 26}


STRIDED = [
    *(("transpose", name, (2048, 2048), lambda x: x.T) for name in ("uint8", "int16", "float32")),
    *(("transpose", name, (2048, 2048), lambda x: x.T) for name in ("float64", "complex128")),
    *(("transpose", name, (3003, 2001), lambda x: x.T) for name in ("uint8", "int16", "float32")),
    ("transpose", "uint8", (16, 200000), lambda x: x.T),
    ("transpose", "uint8", (200000, 16), lambda x: x.T),
    ("channels to planes", "uint8", (2073600, 3), lambda x: x.T),
    ("planes to channels", "uint8", (3, 2073600), lambda x: x.T),
    ("channels to planes", "float32", (2073600, 3), lambda x: x.T),
    ("every other column", "uint8", (2000, 4000), lambda x: x[:, ::2]),
    ("every other column", "int16", (2000, 4000), lambda x: x[:, ::2]),
    ("transpose of a batch", "float32", (64, 200, 300), lambda x: x.mT),
    ("every other column", "float32", (2000, 4000), lambda x: x[:, ::2]),
    ("every other column, transposed", "float32", (2000, 4000), lambda x: x[:, ::2].T),
    ("a part of the columns", "uint8", (2000, 2501), lambda x: x[:, :2001]),
    ("a part of the columns", "float32", (2000, 2501), lambda x: x[:, :2001]),
    ("a part of the columns", "float64", (2000, 2500), lambda x: x[:, :2000]),
]


def copy_rows(dpctl, dpt):
    """Copies and fills of contiguous and of strided memory, with the wait for them."""
    stream = dt.current_stream("oneapi:0")
    queue = dpctl.SyclQueue(property="in_order")
    rows = []
    for text, nbytes in SIZES.items():
        ours, to = (dt.zeros((nbytes // 4,), dtype="float32", device="oneapi:0") for _ in range(2))
        theirs, target = (dpt.zeros(nbytes // 4, dtype="f4", sycl_queue=queue) for _ in range(2))
        rows.append(measure.Row(f"copy {text}", {
            "dovetail": lambda to=to, ours=ours: (to.__setitem__(..., ours), stream.synchronize()),
            "queue": lambda a=target, b=theirs, n=nbytes: queue.memcpy(a.usm_data, b.usm_data, n),
        }, "queue", 1.2))  # fmt: skip
    for text, name, shape, view in STRIDED:
        there = view(dt.zeros(shape, dtype=name, device="oneapi:0"))
        to = dt.empty(there.shape, dtype=name, device="oneapi:0")
        theirs = view(dpt.zeros(shape, dtype=name, sycl_queue=queue))
        target = dpt.empty(theirs.shape, dtype=name, sycl_queue=queue)
        rows.append(measure.Row(f"{text} {name} {' x '.join(map(str, shape))}", {
            "dovetail": lambda to=to, x=there: (to.__setitem__(..., x), stream.synchronize()),
            "dpctl": lambda a=target, b=theirs: (a.__setitem__(..., b), queue.wait()),
        }, "dpctl", 1.0))  # fmt: skip
    ours = dt.zeros((2000, 4000), dtype="float32", device="oneapi:0")[:, ::2]
    theirs = dpt.zeros((2000, 4000), dtype="f4", sycl_queue=queue)[:, ::2]
    rows.append(measure.Row("fill every other column float32 2000 x 4000", {
        "dovetail": lambda: (ours.__setitem__(..., 7), stream.synchronize()),
        "dpctl": lambda: (theirs.__setitem__(..., 7), queue.wait()),
    }, "dpctl", 1.0))  # fmt: skip
    return rows


def exchange_rows(dpctl, dpt):
    ours = dt.zeros((4, 4), device="oneapi:0")
    theirs = dpt.zeros((4, 4), dtype="f4")
    queue = dpctl.SyclQueue(property="in_order")
    return [
        measure.Row("an array of dpctl's in", {
            "dovetail": lambda: dt.from_dlpack(theirs),
            "dpctl": lambda: dpt.from_dlpack(theirs),
        }, "dpctl", 1.0),
        measure.Row("a tensor of Dovetail's into dpctl", {
            "dovetail": lambda: dpt.from_dlpack(ours),
            "dpctl": lambda: dpt.from_dlpack(theirs),
        }, "dpctl", 1.0),
        measure.Row("export to a queue", {
            "dovetail": lambda: ours.__dlpack__(stream=queue, max_version=(1, 0)),
            "dpctl": lambda: theirs.__dlpack__(stream=queue, max_version=(1, 0)),
        }, "dpctl", 1.0),
        measure.Row("allocate 1 MiB", {
            "dovetail": lambda: dt.empty((1 << 20,), dtype="uint8", device="oneapi:0"),
            "dpctl": lambda: dpt.empty(1 << 20, dtype="u1"),
        }, "dpctl", 1.0),
    ]  # fmt: skip


def main():
    options = report.parser(__doc__).parse_args()
    try:
        import dpctl
        import dpctl.tensor as dpt
    except ImportError as error:
        print(f"dpctl is not here, nothing to measure: {error}")
        return
    devices = dt.backends().get("oneapi", "this build has no oneAPI backend")
    if not isinstance(devices, int):
        print(f"No device of SYCL's here, nothing to measure: {devices}")
        return
    program = report.Program(options)
    rows = program.measure(copy_rows(dpctl, dpt) + exchange_rows(dpctl, dpt))
    note = f"On {dpctl.SyclDevice().name}. Copies: until they are done; the rest: time of the host."
    program.publish("oneapi", "Copies and exchange on a oneAPI device", note, rows)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
