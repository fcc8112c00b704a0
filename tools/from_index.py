#!/usr/bin/env python3
"""Installs Dovetail from a package index of its own, as users would from PyPI: from_index.py FOLDER

FOLDER has the wheels of dovetail-dlpack and dlpack-conformance. They are served on the loopback (by
pypiserver), beside pip's usual indexes. For each CPython of this machine with a wheel, in an empty
environment: pip installs both with NumPy, and PyTorch where an index has a build for the CPU alone;
the smoke test runs, then what docs/start.md shows, then the kit. Each of PACKAGES is installed by
`pip install .`, which builds it with Dovetail from the index, and called. Fails if pip takes
Dovetail from elsewhere.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "wheels")]

import python_tests  # noqa: E402
import wheels  # noqa: E402

ROOT = python_tests.ROOT
# In examples/. Each has a function normalize.
PACKAGES = (
    "kernels_package",
    "extension_c",
    "extension_cmake",
    "extension_pybind11",
    "extension_cuda",  # with nvcc
)
CALL = """
import numpy as np, {name} as package
x = np.float32([3, 4])
try:
    print(package.normalize(x))
except TypeError as error:
    print(error)
"""
NORMALIZED = "[0.6 0.8]"
OURS = ("dovetail-dlpack", "dlpack-conformance")
OF_CUDA = "must be on a cuda device"


@contextlib.contextmanager
def index(folder):
    """Serve the folder's wheels, and yield the index's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [
            *(wheels.tools() / "pypi-server", "run", "--interface", "127.0.0.1"),
            *("--port", str(port), "--disable-fallback", "--authenticate", "."),
            *("--passwords", ".", folder),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}/simple/"
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(address, timeout=5).close()
                break
            except OSError:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit("from_index: the index does not answer") from None
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


class Environment:
    """An empty environment of a CPython, which also looks at the index."""

    def __init__(self, one, folder, address):
        python_tests.run(one.path, "-m", "venv", folder)
        self._folder, self._address = folder, address
        self._ours = {}  # what pip took of Dovetail's repository: the requirement by the name
        self.bin = folder / "bin"

    def install(self, *names):
        """Install packages. What pip has once taken from the index it takes for builds, too."""
        report, constraints = self._folder / "report.json", self._folder / "constraints.txt"
        constraints.write_text("".join(f"{one}\n" for one in self._ours.values()))
        settings = {"CUDAARCHS": "80", **os.environ}  # one generation of GPUs compiles faster
        if self._ours:  # older pips read the one, newer ones the other
            settings |= dict.fromkeys(("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"), str(constraints))
        pip = [self.bin / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        pip += ["--no-cache-dir", "--extra-index-url", self._address, "--report", report, *names]
        python_tests.run(*pip, cwd=self._folder, env=settings)
        for one in json.loads(report.read_text())["install"]:
            name, url = one["metadata"]["name"], one["download_info"]["url"]
            if name in OURS:
                if not url.startswith(self._address.removesuffix("simple/")):
                    raise SystemExit(f"from_index: pip took {name} from {url}")
                self._ours[name] = f"{name} @ {url}"

    def install_torch(self):
        """Install PyTorch's build for the CPU alone, if pip finds it."""
        pip = [self.bin / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        pip += ["--only-binary=:all:", f"{python_tests.locked('torch')}+cpu"]
        subprocess.run(pip, cwd=self._folder, capture_output=True, check=False)

    def output(self, *command):
        words = [str(word) for word in command]
        done = subprocess.run(words, cwd=self._folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"from_index: {' '.join(words)} fails:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()


def call_package(environment, name, folder):
    """Install a package of examples/, and call it."""
    environment.install(shutil.copytree(ROOT / "examples" / name, folder / name))
    said = environment.output(environment.bin / "python", "-c", CALL.format(name=name))
    expected = OF_CUDA if name == "extension_cuda" else NORMALIZED
    if expected not in said:
        raise SystemExit(f"from_index: {name} says {said!r}, and not {expected!r}")


def try_out(one, address, folder):
    """Yield a few words on each thing that was tried."""
    environment = Environment(one, folder, address)
    environment.install(*OURS, "numpy")
    python = environment.bin / "python"
    version = environment.output(python, "-c", "import dovetail as dt; print(dt.__version__)")
    environment.output(python, "-I", HERE / "wheels/smoke.py", version)
    yield f"dovetail-dlpack {version}"
    environment.install_torch()
    yield environment.output(python, HERE / "wheels/page.py", ROOT / "docs/start.md")
    for name in PACKAGES:
        if name == "extension_cuda" and not (os.environ.get("CUDACXX") or shutil.which("nvcc")):
            yield f"{name} left out for want of nvcc"
            continue
        call_package(environment, name, folder)
        yield name
    yield environment.output(environment.bin / "dlpack-conformance", "numpy").splitlines()[0]


def wheels_of(one, folder):
    """The folder's wheels for this CPython and processor."""
    abi = f"cp{one.name.replace('.', '')}"
    return list(folder.glob(f"dovetail_dlpack-*-{abi}-*{os.uname().machine}.whl"))


def main():
    parser = argparse.ArgumentParser(prog="from_index.py", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="with the wheels")
    folder = parser.parse_args().folder.resolve()
    pythons = [one for one in python_tests.find().values() if one.path and wheels_of(one, folder)]
    if not pythons:
        raise SystemExit(f"from_index: no CPython of this machine has a wheel in {folder}")
    with tempfile.TemporaryDirectory() as served:
        for wheel in {path for name in OURS for path in folder.glob(f"{name.replace('-', '_')}-*")}:
            shutil.copy(wheel, served)
        with index(served) as address:
            for one in pythons:
                with tempfile.TemporaryDirectory() as scratch:
                    for words in try_out(one, address, pathlib.Path(scratch)):
                        print(f"{one.name}: {words}", flush=True)


if __name__ == "__main__":
    main()
