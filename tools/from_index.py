#!/usr/bin/env python3
"""Installs Dovetail from a package index of its own, as users would from PyPI: from_index.py FOLDER

FOLDER has the wheels of dovetail-dlpack and dlpack-conformance. They are served on the loopback (by
pypiserver), beside pip's usual indexes. For each CPython of this machine with a wheel, in an empty
environment: pip installs both with NumPy, the smoke test runs, then two packages of C++ functions
are installed by `pip install .` (examples/kernels_package, examples/extension_cmake), which build
with Dovetail from the index, and the kit is run. Fails if pip takes Dovetail from elsewhere.
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

EXAMPLES = python_tests.ROOT / "examples"
# Packages, and a program that calls each.
PACKAGES = {
    name: f"import numpy as np, {name}; print({name}.normalize(np.float32([3, 4])))"
    for name in ("kernels_package", "extension_cmake")
}
NORMALIZED = "[0.6 0.8]"


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
        self.bin = folder / "bin"

    def install(self, *names):
        """Install packages, and return where pip took those of Dovetail's repository from."""
        report = self._folder / "report.json"
        pip = [self.bin / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        pip += ["--extra-index-url", self._address, "--report", report, *names]
        python_tests.run(*pip, cwd=self._folder)
        taken = json.loads(report.read_text())["install"]
        return {
            one["metadata"]["name"]: one["download_info"]["url"]
            for one in taken
            if one["metadata"]["name"].startswith(("dovetail", "dlpack"))
        }

    def output(self, *command):
        done = python_tests.run(*command, cwd=self._folder, capture_output=True)
        return done.stdout.strip()


def try_out(one, address, folder):
    """Return a few words on what was tried."""
    environment = Environment(one, folder, address)
    for name in ("dovetail-dlpack", "dlpack-conformance"):
        [url] = environment.install(name, "numpy").values()
        if not url.startswith(address.removesuffix("simple/")):
            raise SystemExit(f"from_index: pip took {name} from {url}")
    python = environment.bin / "python"
    version = environment.output(python, "-c", "import dovetail as dt; print(dt.__version__)")
    environment.output(python, "-I", HERE / "wheels/smoke.py", version)
    for name, program in PACKAGES.items():
        source = shutil.copytree(EXAMPLES / name, folder / name)
        environment.install(source)
        if environment.output(python, "-c", program) != NORMALIZED:
            raise SystemExit(f"from_index: {name} does not compute {NORMALIZED}")
    counts = environment.output(environment.bin / "dlpack-conformance", "numpy").splitlines()[0]
    return f"dovetail-dlpack {version}, {', '.join(PACKAGES)}; {counts}"


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
    with index(folder) as address:
        for one in pythons:
            with tempfile.TemporaryDirectory() as scratch:
                print(f"{one.name}: {try_out(one, address, pathlib.Path(scratch))}", flush=True)


if __name__ == "__main__":
    main()
