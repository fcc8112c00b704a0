#!/usr/bin/env python3
"""Runs test files on a wheel for AArch64 under qemu, with a Python of Debian's.

    tools/wheels/emulated.py dist/dovetail_dlpack-….whl python/tests/tensor/view_test.py …

NumPy and pytest are installed beside the wheel. Tests that start other processes fail, unless the
machine runs programs of AArch64 by itself. wheels.py uses it for smoke.py. The Pythons are unpacked
under ~/.cache/dovetail/wheels, and need no installation.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import python_tests  # noqa: E402

# The release of Debian that has a version of Python. None has a free-threaded one.
SUITES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "sid"}

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def mirrors():
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    found = python_tests.run(*command, capture_output=True).stdout.split()
    return sorted({mirror for mirror in found if "security" not in mirror})


def download(package, suite, folder):
    """The files of a package and of all that it needs, by an apt that has a state of its own."""
    for path in ("lists/partial", "cache/archives/partial"):
        (folder / path).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    lines = [f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for mirror in mirrors()]
    (folder / "sources.list").write_text("".join(lines))
    settings = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::Status": folder / "status",
        "Dir::Cache": folder / "cache",
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "root",
        "Acquire::Check-Valid-Until": "false",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Debug::NoLocking": "1",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    python_tests.run("apt-get", "-qq", *options, "update")
    install = ["install", "--download-only", "--no-install-recommends", "--yes", package]
    python_tests.run("apt-get", "-qq", *options, *install)
    return (folder / "cache/archives").glob("*.deb")


def root(name):
    """A folder with Python of this version for AArch64, and the libraries that it needs."""
    folder = python_tests.CACHE / "wheels" / "aarch64" / name
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "usr/lib").mkdir(parents=True)
        (folder / "lib").symlink_to("usr/lib")  # older releases have files in both
        with tempfile.TemporaryDirectory() as scratch:
            for archive in download(f"python{name}", SUITES[name], pathlib.Path(scratch)):
                extract = f"dpkg-deb --fsys-tarfile {archive} | tar -xf - --keep-directory-symlink"
                python_tests.run("sh", "-c", f"{extract} -C {folder}")
        (folder / "ready").touch()
    return folder


def python(name, folder):
    """The command and the environment of a Python that finds the packages in `folder`."""
    tree = root(name)
    command = ["qemu-aarch64", "-L", tree, tree / f"usr/bin/python{name}"]
    return command, dict(os.environ, PYTHONPATH=str(folder), PYTHONDONTWRITEBYTECODE="1")


def install(pip, name, folder, *packages):
    """Installs wheels for this Python on AArch64 into the folder, by another Python's pip."""
    target = ["--target", folder, "--python-version", name, "--implementation", "cp"]
    for platform in ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014"):
        target += ["--platform", f"{platform}_aarch64"]
    options = ["--disable-pip-version-check", "-q", "--only-binary=:all:", *target]
    python_tests.run(pip, "-m", "pip", "install", *options, *packages)


def try_out(pip, name, wheel):
    """Runs smoke.py. `pip` is a Python that has it."""
    if not shutil.which("qemu-aarch64"):
        return "not run: there is no qemu-aarch64 (Debian: qemu-user)"
    if not shutil.which("apt-get"):
        return "not run: there is no apt-get to fetch a Python for AArch64"
    with tempfile.TemporaryDirectory() as folder:
        install(pip, name, folder, "--no-deps", wheel)
        command, environment = python(name, folder)
        smoke = [*command, HERE / "smoke.py", wheel.name.split("-")[1]]
        result = python_tests.run(*smoke, env=environment, cwd=folder, capture_output=True)
        return result.stdout.strip() + ", under qemu"


def test(pip, wheel, files):
    tag = wheel.name.split("-")[2]
    name = f"{tag[2]}.{tag[3:]}"
    with tempfile.TemporaryDirectory() as folder:
        install(pip, name, folder, wheel, "numpy", "ml_dtypes", "pytest", "hypothesis")
        command, environment = python(name, folder)
        paths = [folder, python_tests.TESTS / "testing", *{file.parent for file in files}]
        environment["PYTHONPATH"] = os.pathsep.join(map(str, paths))
        pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={python_tests.TESTS}"]
        words = [str(word) for word in [*command, *pytest, *files]]
        return subprocess.run(words, env=environment, cwd=folder, check=False).returncode


if __name__ == "__main__":
    wheel_path, *test_files = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
    sys.exit(test(sys.executable, wheel_path, test_files))
