#!/usr/bin/env python3
"""Checks Dovetail on this machine's NVIDIA or AMD GPU and writes a report.

    python3 gpu_check.py [--report FILE]

Run it in the folder that `./bazelw run //tools/gpu_check:pack -- FOLDER` filled on a machine with
Bazel. This machine needs only Python, of the version that the pack was built for. PyTorch, CuPy,
JAX, pytest and compute-sanitizer are used if they are installed. The report lists each step as
passed, failed or not run, with the reason. The exit status is 1 if a step failed.
"""

import argparse
import ctypes
import dataclasses
import datetime
import importlib.util
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TAIL = 40  # lines of a step's output that the report shows

PASSED, FAILED, NOT_RUN = "passed", "FAILED", "not run"


@dataclasses.dataclass
class Step:
    """One command and its result."""

    title: str
    command: list[str]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    needs_gpu: bool = True
    vendor: str = "cuda"  # whose GPU it needs: "cuda" or "rocm"
    needs: str | None = None  # a program that must be on PATH
    needs_module: str | None = None  # a module that this Python must have
    timeout: int = 300
    keep: int = TAIL  # lines of output for the report
    result: str = NOT_RUN
    reason: str = ""
    seconds: float = 0.0
    output: str = ""


# Of each vendor: its library, and the functions that start it, count devices and tell its version.
LIBRARIES = {
    "cuda": (("libcuda.so.1",), "cuInit", "cuDeviceGetCount", "cuDriverGetVersion"),
    "rocm": (
        ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"),
        "hipInit",
        "hipGetDeviceCount",
        "hipRuntimeGetVersion",
    ),
}


@dataclasses.dataclass
class Gpus:
    """What a vendor's library finds on this machine."""

    count: int = 0
    version: int = 0  # as the library numbers it
    why_none: str = ""


def find_gpus(vendor):
    """The vendor's GPUs, or the reason why there is none."""
    names, init, counter, get_version = LIBRARIES[vendor]
    for name in names:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError as error:
            reason = f"no library of {vendor}: {error}"
    else:
        return Gpus(why_none=reason)
    version, count = ctypes.c_int(), ctypes.c_int()
    getattr(library, get_version)(ctypes.byref(version))
    count_devices = getattr(library, counter)
    code = getattr(library, init)(0) or count_devices(ctypes.byref(count))
    if code != 0 or count.value == 0:
        return Gpus(why_none=f"{name} finds no device (error {code}, {count.value} devices)")
    return Gpus(count.value, version.value)


def steps():
    """The steps, in order."""
    programs, tests, python = HERE / "bin", HERE / "tests", sys.executable
    cuda = {"DOVETAIL_TEST_GPU": "cuda"}
    rocm = {"DOVETAIL_TEST_GPU": "rocm", "LD_LIBRARY_PATH": _library_path("forwarding")}
    emulator = {"DOVETAIL_TEST_GPU": "emulator"}
    found = sorted(path for path in programs.glob("*_test"))
    yield Step("What Dovetail finds here", [python, "-m", "dovetail"], needs_gpu=False)
    for path in found:
        yield Step(f"{path.name} on the emulator", [str(path)], emulator, needs_gpu=False, keep=8)
    for path in found:
        yield Step(f"{path.name} on CUDA", [str(path)], cuda, keep=8)
    yield Step(
        "Python: exchange with PyTorch, CuPy and JAX",
        [python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(tests)],
        needs_gpu=False,  # it reports itself what is missing
        needs_module="pytest",
        timeout=480,
        keep=60,
    )
    yield Step(
        "Dovetail and the rules of DLPack on CUDA",
        [python, "-m", "dlpack_conformance", "--device", "cuda", "dovetail"],
        keep=20,
    )
    for tool in ("memcheck", "racecheck"):
        for name in ("copy_test", "cast_test"):
            yield Step(
                f"compute-sanitizer, {tool}: {name} on CUDA",
                [
                    "compute-sanitizer",
                    f"--tool={tool}",
                    "--error-exitcode=9",
                    str(programs / name),
                ],
                {**cuda, "DOVETAIL_TEST_CASES": "30"},
                needs="compute-sanitizer",
            )
    on_amd = {"DOVETAIL_TEST_GPU": "rocm"}
    for path in found:
        yield Step(f"{path.name} on ROCm", [str(path)], on_amd, vendor="rocm", keep=8)
    for path in found:
        yield Step(f"{path.name} on ROCm, forwarded to CUDA", [str(path)], rocm, keep=8)
    shared = {**rocm, "DOVETAIL_FORWARDED_DEVICES": "2"}
    for name in ("between_devices_test", "conformance_test"):
        yield Step(
            f"{name} on ROCm, forwarded: two devices over one GPU",
            [str(programs / name)],
            shared,
            keep=8,
        )
    yield Step(
        "between_devices_test on ROCm, forwarded: two devices without access to each other",
        [str(programs / "between_devices_test")],
        {**shared, "DOVETAIL_FORWARDED_PEERS": "0"},
        keep=8,
    )
    trial = ["--benchmark_repetitions=1", "--benchmark_min_time=0.0001"]
    trial.append("--benchmark_filter=allocate|export|pinned|transpose f")
    quick = ["--benchmark_repetitions=3", "--benchmark_min_time=0.02"]
    yield Step(
        "Benchmarks on the emulator (a trial: the times mean nothing)",
        [str(programs / "gpu"), *trial],
        {"DOVETAIL_BENCHMARK_GPU": "emulator"},
        needs_gpu=False,
        keep=6,
    )
    yield Step("Benchmarks", [str(programs / "gpu"), *quick], keep=80, timeout=600)
    yield Step(
        "Benchmarks beside PyTorch and CuPy",
        [python, str(HERE / "benchmarks" / "gpu_peers.py")],
        needs_gpu=False,
        keep=60,
    )


def _library_path(folder):
    return os.pathsep.join(filter(None, [str(HERE / folder), os.environ.get("LD_LIBRARY_PATH")]))


def run(step, gpus):
    """Runs a step and records its result."""
    if step.needs_gpu and gpus[step.vendor].why_none:
        step.reason = gpus[step.vendor].why_none
        return
    if step.needs and not shutil.which(step.needs):
        step.reason = f"{step.needs} is not on PATH"
        return
    if step.needs_module and importlib.util.find_spec(step.needs_module) is None:
        step.reason = f"this Python has no {step.needs_module}"
        return
    paths = [str(HERE / "site"), os.environ.get("PYTHONPATH", "")]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, paths)))
    environment.update(step.environment)
    start = time.monotonic()
    try:
        done = subprocess.run(
            step.command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=step.timeout,
            check=False,
        )
        step.output, code = done.stdout, done.returncode
    except subprocess.TimeoutExpired as error:
        step.output = error.stdout or ""
        if isinstance(step.output, bytes):
            step.output = step.output.decode(errors="replace")
        step.output += f"\n(killed after {step.timeout} s)"
        code = -1
    except OSError as error:
        step.output, code = str(error), -1
    step.output = step.output.replace(str(HERE), "pack")  # a report is read elsewhere
    step.seconds = time.monotonic() - start
    judge(step, code)


def judge(step, code):
    """Passed, failed, or not run if it only skipped tests."""
    step.result = PASSED if code == 0 else FAILED
    if "pytest" in step.command and code == 5:  # nothing was collected
        step.result = NOT_RUN
    ran = re.search(r"\[  PASSED  \] (\d+) test", step.output)
    skipped = re.search(r"\[  SKIPPED \] (\d+) test", step.output)
    if step.result == PASSED and skipped and ran and int(ran[1]) == 0:
        step.result = NOT_RUN
    if step.result == PASSED and step.output.startswith("No GPU here"):
        step.result = NOT_RUN
    if step.result == NOT_RUN:
        reasons = re.findall(r"(?:no device: |SKIPPED .*?: |No GPU here.*?: )(.*)", step.output)
        step.reason = reasons[0] if reasons else "all of it was skipped"
    elif code != 0:
        step.reason = f"exit code {code}"


def versions():
    """The versions of this machine's hardware and software, as (name, text)."""
    yield "date", datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    yield "Python", f"{platform.python_implementation()} {platform.python_version()}"
    yield "system", platform.platform()
    if shutil.which("nvidia-smi"):
        query = [
            "nvidia-smi",
            "--query-gpu=name,driver_version,memory.total",
            "--format=csv,noheader",
        ]
        done = subprocess.run(query, capture_output=True, text=True, check=False)
        yield "GPU, driver", done.stdout.strip().replace("\n", "; ") or done.stderr.strip()
    if shutil.which("rocminfo"):
        done = subprocess.run(["rocminfo"], capture_output=True, text=True, check=False)
        yield "GPU", "; ".join(re.findall(r"Marketing Name: +(\S.*\S)", done.stdout))
    for name in ("torch", "cupy", "jax", "numpy", "pytest"):
        yield name, _version_of(name)


def _version_of(name):
    # In a process of its own, because importing all of them here would occupy the GPU's memory.
    code = f"import {name}; print({name}.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "not here"


def report(done, gpus):
    """The report, as Markdown."""
    lines = ["# Dovetail on a GPU", "", "What `tools/gpu_check` found on one machine.", ""]
    for vendor, found in gpus.items():
        if not found.why_none:
            lines.append(f"{vendor}: {found.count} device(s), version {found.version}.")
    if all(found.why_none for found in gpus.values()):
        reasons = "; ".join(found.why_none for found in gpus.values())
        lines.append(f"**Nothing below ran on a GPU:** {reasons}.")
    lines += ["", "| what | version |", "|---|---|"]
    lines += [f"| {name} | {text} |" for name, text in versions()]
    lines += ["", "| step | result | seconds | |", "|---|---|---:|---|"]
    lines += [
        f"| {step.title} | {step.result} | {step.seconds:.1f} | {step.reason.replace('|', '/')} |"
        for step in done
    ]
    for step in done:
        text = step.output.strip().splitlines()
        if text:
            shown = text if step.result == FAILED else text[-step.keep :]
            lines += ["", f"## {step.title}", "", "```", *shown[-400:], "```"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", type=pathlib.Path, default=HERE / "report.md")
    parser.add_argument("--only", default="", help="run only steps with titles that match this")
    options = parser.parse_args()
    gpus = {vendor: find_gpus(vendor) for vendor in LIBRARIES}
    for vendor, found in gpus.items():
        if found.why_none:
            print(f"gpu_check: {found.why_none}; steps on {vendor} are not run")
    done = []
    for step in steps():
        if not re.search(options.only, step.title):
            continue
        run(step, gpus)
        print(f"gpu_check: {step.result:<8} {step.title} {step.reason}".rstrip(), flush=True)
        done.append(step)
    options.report.write_text(report(done, gpus), encoding="utf-8")
    failed = sum(step.result == FAILED for step in done)
    print(
        f"gpu_check: {sum(step.result == PASSED for step in done)} passed, {failed} failed, "
        f"{sum(step.result == NOT_RUN for step in done)} not run; {options.report}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
