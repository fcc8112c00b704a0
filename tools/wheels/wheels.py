#!/usr/bin/env python3
"""Makes the wheels for PyPI, and checks and tries each: ./bazelw run //python:wheels -- --help

For each CPython that Dovetail supports and for each processor it builds a wheel for glibc 2.28 and
later (--config=manylinux_x86_64 and its like), and checks its size, its symbols and, by auditwheel,
its tag. It installs wheels for this machine's processor into a new environment and tries them
(smoke.py). Those for AArch64 are tried under qemu (emulated.py) with the Pythons that Debian has.

The Python tests run on the wheels of a folder by `tools/pythons --quick --wheels FOLDER`.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import emulated  # noqa: E402
import python_tests  # noqa: E402
import sdist  # noqa: E402
import symbols  # noqa: E402

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.14t")
PLATFORMS = ("x86_64", "aarch64")
GLIBC = (2, 28)
MOST_BYTES = 4_000_000
LOCK = python_tests.ROOT / "third_party/wheels/requirements.lock"

GET = """wheels: there is no CPython {name} on this machine. Any of these brings one:
  pyenv install {version}
  a package such as Debian's python{version}-dev, in /usr/bin
  --python /path/to/python{version}, an interpreter with its headers"""


def say(*words):
    print("wheels:", *words, flush=True)


def interpreters(names):
    """Those of the names, which may be paths. It builds missing ones, or says how to get them."""
    found = python_tests.find()
    for name in names:
        one = python_tests.probe(name) if "/" in name else found.get(name)
        if one is None:
            raise SystemExit(GET.format(name=name, version=name.rstrip("t")))
        python_tests.provide(one)
        yield one


def tools():
    """The folder of programs of an environment with auditwheel, which it makes."""
    folder = python_tests.CACHE / "wheels" / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    if not (folder / "bin" / "auditwheel").exists():
        python_tests.run(sys.executable, "-m", "venv", "--clear", folder)
        pip = [folder / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        python_tests.run(*pip, "--only-binary=:all:", "--require-hashes", "-r", LOCK)
    return folder / "bin"


def check(wheel, platform):
    """What is wrong with the wheel, and the oldest glibc that it runs with."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".so")]
        module = symbols.read(archive.extract(name, folder))
    found = symbols.problems(module, glibc=GLIBC)
    command = [tools() / "auditwheel", "show", "--json", wheel]
    audit = json.loads(python_tests.run(*command, capture_output=True).stdout)
    tag = re.fullmatch(rf"manylinux_(\d+)_(\d+)_{platform}", audit["overall_tag"])
    if not tag or (int(tag[1]), int(tag[2])) > GLIBC:
        found.append(f"is {audit['overall_tag']}, says auditwheel")
    if audit["external_libs"]:
        found.append(f"needs {', '.join(audit['external_libs'])}")
    if wheel.stat().st_size > MOST_BYTES:
        found.append(f"has {wheel.stat().st_size} bytes, more than {MOST_BYTES}")
    return found, symbols.newest_glibc(module)


def try_out(one, wheel):
    """Installs the wheel into a new environment, and runs smoke.py there."""
    with tempfile.TemporaryDirectory() as folder:
        python_tests.run(one.path, "-m", "venv", folder)
        python = pathlib.Path(folder) / "bin" / "python"
        pip = [python, "-m", "pip", "-q", "--isolated", "--disable-pip-version-check"]
        python_tests.run(*pip, "install", "--no-index", wheel, cwd=folder)
        smoke = [python, "-I", HERE / "smoke.py", wheel.name.split("-")[1]]
        return python_tests.run(*smoke, cwd=folder, capture_output=True).stdout.strip()


def metadata(repository):
    """The text of the metadata, as the wheels have them."""
    options = [f"--define=dovetail_repository={repository}"] if repository else []
    bazel_bin = python_tests.build("//python:METADATA", *options)
    return (bazel_bin / "python/METADATA").read_text(encoding="utf-8")


def tried(one, wheel, platform, emulate):
    """A few words on how it was tried."""
    if platform == os.uname().machine:
        return try_out(one, wheel)
    if platform != "aarch64" or not emulate or one.name not in emulated.SUITES:
        return "not run: no interpreter"
    return emulated.try_out(tools() / "python", one.name, wheel)


def main():
    parser = argparse.ArgumentParser(
        prog="./bazelw run //python:wheels --",
        description=__doc__.splitlines()[0].partition(":")[0] + ".",
    )
    parser.add_argument("--output", default="dist", metavar="FOLDER", help="default: dist")
    parser.add_argument("--python", action="append", metavar="3.12", help="a version or a path")
    parser.add_argument("--platform", action="append", choices=PLATFORMS)
    parser.add_argument("--repository", metavar="OWNER/NAME", help="on GitHub, for the metadata")
    parser.add_argument("--no-emulation", action="store_true", help="run nothing under qemu")
    parser.add_argument("--no-sdist", action="store_true", help="make no sdist")
    options = parser.parse_args()
    output = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), options.output)
    output.mkdir(parents=True, exist_ok=True)
    rows, failed = [], []
    for one in interpreters(options.python or PYTHONS):
        for platform in options.platform or PLATFORMS:
            built = python_tests.build_wheel(one, platform, options.repository)
            wheel = pathlib.Path(shutil.copy(built, output))
            wheel.chmod(0o644)
            found, glibc = check(wheel, platform)
            try:
                result = tried(one, wheel, platform, not options.no_emulation)
            except subprocess.CalledProcessError as error:
                result = "FAILED"
                found.append(f"does not run: {error.stdout or ''}{error.stderr or ''}")
            failed += [f"{wheel.name} {problem}" for problem in found]
            size = wheel.stat().st_size / 1e6
            rows.append(f"| {wheel.name} | {size:.2f} | {glibc[0]}.{glibc[1]} | {result} |")
            say(rows[-1])
    print("| wheel | MB | needs glibc | tried |\n|---|---:|---:|---|", *rows, sep="\n")
    if not options.no_sdist:
        archive = sdist.make(output, metadata(options.repository))
        say(f"{archive.name}, {archive.stat().st_size / 1e6:.2f} MB")
    for problem in failed:
        say("FAILED", problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
