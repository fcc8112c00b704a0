#!/usr/bin/env python3
"""Installs Dovetail from a package index of its own, as users would from PyPI: from_index.py FOLDER

FOLDER has the wheels of dovetail-dlpack and dlpack-conformance. They are served on the loopback (by
pypiserver), which sends pip to its usual index for every other name. For each CPython of this
machine with a wheel, in an empty environment: pip installs both with NumPy, and PyTorch where an
index has a build for the CPU alone; the smoke test runs, then what docs/start.md shows. Each of
PACKAGES is installed by `pip install .`, which builds it with Dovetail from the index, and called;
last, the kit is run. Fails if pip takes Dovetail from elsewhere.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "wheels")]

import python_tests  # noqa: E402
import source_version  # noqa: E402
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
    """Serve the folder's files, and yield the index's address. Other names are redirected."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [wheels.tools() / "pypi-server", "run", folder, "--fallback-url", usual_index()]
    command += ["--interface", "127.0.0.1", "--port", str(port)]
    command += ["--authenticate", ".", "--passwords", "."]
    address = f"http://127.0.0.1:{port}/simple/"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    direct.open(address, timeout=5).close()
                    break
                except OSError:
                    if server.poll() is not None or time.monotonic() > deadline:
                        log.seek(0)
                        raise SystemExit(f"from_index: no index:\n{log.read()}") from None
                    time.sleep(0.1)
            yield address
        finally:
            server.terminate()
            server.wait()


def usual_index():
    """The address of pip's index."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    address = os.environ.get("PIP_INDEX_URL") or done.stdout.strip() or "https://pypi.org/simple"
    return address.rstrip("/") + "/"


def settings(**more):
    """The environment variables of a pip that reaches the index without a proxy."""
    direct = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    direct = ",".join(filter(None, [direct, "127.0.0.1"]))
    return {**os.environ, "NO_PROXY": direct, "no_proxy": direct, **more}


def plain(name):
    """The name of a distribution as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Environment:
    """An empty environment of a CPython. Fails if pip takes one of our names from elsewhere."""

    def __init__(self, one, folder, address):
        python_tests.run(one.path, "-m", "venv", folder)
        self._folder, self._address = folder, address
        self._ours = {}  # name → requirement, as pip took it from the index
        self.bin = folder / "bin"

    def _pip(self, *words, **options):
        pip = [self.bin / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        options.setdefault("env", settings())
        return python_tests.run(*pip, *words, cwd=self._folder, **options)

    def _from_index(self, *words, **options):
        report = self._folder / "report.json"
        # Our names as wheels only: an sdist would run code before its origin is checked.
        only = ["--only-binary", ",".join(OURS)]
        address = ["--index-url", self._address, "--no-cache-dir"]
        self._pip(*address, *only, "--report", report, *words, **options)
        for one in json.loads(report.read_text())["install"]:
            name, url = plain(one["metadata"]["name"]), one["download_info"]["url"]
            if name in OURS:
                version = one["metadata"]["version"]
                if not url.startswith(self._address.removesuffix("simple/")):
                    raise SystemExit(f"from_index: pip took {name} from {url}")
                if version != source_version.read():
                    raise SystemExit(f"from_index: pip took {name} {version}")
                self._ours[name] = f"{name} @ {url}"

    def install_ours(self, *others):
        self._from_index(*OURS, *others)
        if self._ours.keys() != set(OURS):
            raise SystemExit(f"from_index: pip took {', '.join(self._ours) or 'none of them'}")

    def install_package(self, source):
        """Install a package, which is built with what pip has taken from the index."""
        constraints = self._folder / "constraints.txt"
        constraints.write_text("".join(f"{one}\n" for one in self._ours.values()))
        variables = settings(
            CUDAARCHS=os.environ.get("CUDAARCHS", "80"),  # one generation of GPUs compiles faster
            PIP_CONSTRAINT=str(constraints),  # read by older versions of pip
            PIP_BUILD_CONSTRAINT=str(constraints),
        )
        self._from_index(source, env=variables)

    def install_torch(self):
        """Install PyTorch's build for the CPU alone, if pip finds it."""
        build = f"{python_tests.locked('torch')}+cpu"
        with contextlib.suppress(subprocess.CalledProcessError):
            self._pip("--only-binary=:all:", build, capture_output=True)

    def output(self, *command, statuses=(0,)):
        words = [str(word) for word in command]
        done = subprocess.run(words, cwd=self._folder, capture_output=True, text=True, check=False)
        if done.returncode not in statuses:
            raise SystemExit(f"from_index: {' '.join(words)} fails:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()


def call_package(environment, name, folder):
    """Install a package of examples/, and call it."""
    source = shutil.copytree(ROOT / "examples" / name, folder / name)
    environment.install_package(source)
    said = environment.output(environment.bin / "python", "-c", CALL.format(name=name))
    expected = OF_CUDA if name == "extension_cuda" else NORMALIZED
    if expected not in said:
        raise SystemExit(f"from_index: {name} says {said!r}, and not {expected!r}")


def try_out(one, address, folder):
    """Yield a few words on each thing that was tried."""
    environment = Environment(one, folder, address)
    environment.install_ours("numpy")
    python = environment.bin / "python"
    said = environment.output(python, "-I", HERE / "wheels/smoke.py", source_version.read())
    yield f"dovetail-dlpack {source_version.read()}: {said}"
    environment.install_torch()
    yield environment.output(python, HERE / "wheels/page.py", ROOT / "docs/start.md", "torch")
    for name in PACKAGES:
        if name == "extension_cuda" and not (os.environ.get("CUDACXX") or shutil.which("nvcc")):
            yield f"{name} left out for want of nvcc"
            continue
        call_package(environment, name, folder)
        yield name
    # (1: this NumPy breaks a rule, as 2.2 does, the last one for CPython 3.10.)
    kit = environment.bin / "dlpack-conformance"
    yield environment.output(kit, "numpy", statuses=(0, 1)).splitlines()[0]


def wheels_of(one, folder):
    """The folder's wheels for this CPython and processor."""
    return [
        *python_tests.find_wheels(folder, one, os.uname().machine),
        *python_tests.find_wheels(folder, one, None),
    ]


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("from_index: terminated"))
    parser = argparse.ArgumentParser(prog="from_index.py", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="with the wheels")
    folder = parser.parse_args().folder.resolve()
    pythons = [one for one in python_tests.find().values() if one.path and wheels_of(one, folder)]
    if not pythons:
        version = source_version.read()
        raise SystemExit(f"from_index: no CPython here has a wheel of {version} in {folder}")
    with tempfile.TemporaryDirectory() as served:
        for name in OURS:
            for wheel in folder.glob(f"{name.replace('-', '_')}-*.whl"):
                shutil.copy(wheel, served)
        with index(served) as address:
            for one in pythons:
                with tempfile.TemporaryDirectory() as scratch:
                    for words in try_out(one, address, pathlib.Path(scratch)):
                        print(f"{one.name}: {words}", flush=True)


if __name__ == "__main__":
    main()
