"""Runs the tests of the Python package on several interpreters and prints a table (tools/pythons).

For each interpreter it builds the wheel, installs it with the libraries that have wheels for that
interpreter into an environment under ~/.cache/dovetail/pythons, and runs each test file in a
process of its own. Tests that import a library, or a module of the build, that is not there count
as skipped; a file that does so at its top, as one. Interpreters: those of pyenv, /usr/bin and PATH
that have their headers, and those that third_party/cpython builds. The exit status is 1 if a test
failed or an interpreter could not be tried.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import source_version

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "python" / "tests"
CACHE = pathlib.Path(
    os.environ.get("DOVETAIL_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "dovetail"
)
FOLDERS = ("exchange", "ipc", "kernels", "lifetime", "package", "tensor")
BUILT = ("3.13t", "3.14", "3.14t")  # by third_party/cpython/install.sh
NEEDED = ("numpy", "ml_dtypes", "pytest", "hypothesis")
PEERS = (
    "jax",
    "pyarrow",
    "apache-tvm-ffi",
    "cuda-core",
    "onnxruntime",
    "array-api-strict",
    "pandas",
    "polars",
    "pillow",
)
# Gigabytes where the index has no build of PyTorch for the CPU alone.
LARGE = ("torch", "paddlepaddle")
# PyTorch, JAX and Paddle start many threads.
TIMEOUT = 600
BUILD_ONLY = {"library_files_test.py", "wheel_test.py"}  # they take files of Bazel's
QUICK_SKIP = {"leak_test.py", "mutation_test.py", "nesting_test.py", "exit_test.py"}

# Prints nothing for an interpreter without its headers, such as Debian's without python3.11-dev.
PROBE = """
import os, sys, sysconfig
os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")) or sys.exit()
t = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print("%d.%d%s" % (*sys.version_info[:2], t), "%d.%d.%d" % sys.version_info[:3], sys.executable)
"""
GIL_ENABLED = "The global interpreter lock (GIL) has been enabled to load module"


def say(*words):
    print("pythons:", *words, flush=True)


def run(*command, **options):
    return subprocess.run([str(c) for c in command], check=True, text=True, **options)


@dataclasses.dataclass
class Interpreter:
    name: str  # "3.13t"
    version: str = ""
    path: str = ""  # empty: not built yet


@dataclasses.dataclass
class Outcome:
    """What happened on one interpreter."""

    interpreter: Interpreter
    peers: list[str] = dataclasses.field(default_factory=list)
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)
    missing: dict[str, set[str]] = dataclasses.field(default_factory=dict)  # module → files
    with_gil: list[str] = dataclasses.field(default_factory=list)  # files for which a peer took it


def probe(path):
    """The interpreter at this path, or None."""
    try:
        done = run(path, "-c", PROBE, capture_output=True, timeout=60)
        return Interpreter(*done.stdout.split())
    except (OSError, subprocess.SubprocessError, TypeError):
        return None


def candidates():
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/3.*/bin/python3"))
    yield from sorted(pathlib.Path("/usr/bin").glob("python3.[0-9]*[0-9t]"))
    yield from sorted((CACHE / "cpython").glob("*/bin/python3"))
    yield "python3"


def find():
    """Each interpreter by its name; of several with the same name the first."""
    found = {}
    for path in candidates():
        one = probe(path)
        if one and (3, 10) <= tuple(map(int, one.name.rstrip("t").split("."))) <= (3, 14):
            found.setdefault(one.name, one)
    for name in BUILT:
        found.setdefault(name, Interpreter(name))
    return dict(sorted(found.items(), key=lambda item: int(item[0].rstrip("t").split(".")[1])))


def chosen(names):
    found = find()
    if not names:
        return list(found.values())
    result = []
    for name in names:
        one = found.get(name) or (probe(name) if "/" in name else None)
        if one is None:
            have = ", ".join(found)
            raise SystemExit(f"pythons: no Python {name} with its headers; there are {have}")
        result.append(one)
    return result


def provide(one):
    """Builds the interpreter if need be."""
    if not one.path:
        done = run(ROOT / "third_party/cpython/install.sh", one.name, stdout=subprocess.PIPE)
        built = probe(done.stdout.strip())
        one.version, one.path = built.version, built.path


def newest():
    """The newest version with and without the GIL. An older one where its source can't be had."""
    found = find()
    for version in ("3.14", "3.13"):
        pair = [found.get(name, Interpreter(name)) for name in (version, version + "t")]
        try:
            for one in pair:
                provide(one)
        except subprocess.CalledProcessError:
            say(f"CPython {version} can't be had here")
        else:
            return pair
    raise SystemExit("pythons: no free-threaded Python can be had")


def build(target, *options):
    """Builds in an output base of its own, so that the usual one keeps what it built. Returns
    the folder bazel-bin."""
    folder = CACHE / "pythons"
    bazel = ["./bazelw", f"--output_base={folder / 'bazel'}", "--max_idle_secs=60"]
    shown = ["--color=no", "--curses=no", "--noshow_progress", "--symlink_prefix=/"]
    cached = [f"--disk_cache={folder / 'disk'}"]
    run(*bazel, "build", target, *options, *shown, *cached, cwd=ROOT)
    info = run(*bazel, "info", "bazel-bin", *options, capture_output=True, cwd=ROOT)
    return pathlib.Path(info.stdout.strip())


def build_wheel(one, processor=None, repository=None):
    """Builds the wheel for an interpreter.

    processor   "x86_64" or "aarch64": for every machine with it (.bazelrc); None: for this machine
    repository  OWNER/NAME on GitHub, for the metadata
    """
    say(f"building the wheel for {one.name}" + (f" on {processor}" if processor else ""))
    options = [f"--repo_env=DOVETAIL_PYTHON={one.path}"]
    if processor:
        options.append(f"--config=manylinux_{processor}")
    if repository:
        options.append(f"--define=dovetail_repository={repository}")
    bazel_bin = build("//python:wheel", *options)
    [wheel] = find_wheels(bazel_bin / "python", one, processor)
    return wheel


def find_wheels(folder, one, processor):
    """The wheels of this version for the interpreter in a folder."""
    version = source_version.read()
    tag = "cp" + one.name.replace(".", "")
    platform = f"manylinux_*_{processor}" if processor else "linux_*"
    return list(folder.glob(f"dovetail_dlpack-{version}-{tag.rstrip('t')}-{tag}-{platform}.whl"))


@functools.cache
def kernel_libraries():
    """The folder of the kernel libraries of the tests: the same files for all interpreters."""
    return build("//python/tests/kernels:all_libraries") / "python" / "tests" / "kernels"


def wheel_for(one, folder):
    """The wheel in the folder, or one that it builds."""
    if not folder:
        return build_wheel(one)
    wheels = find_wheels(pathlib.Path(folder), one, os.uname().machine)
    if len(wheels) != 1:
        raise SystemExit(f"pythons: {folder} has {len(wheels)} wheels for {one.name}")
    return wheels[0]


def locked(package):
    """The requirement of the lock files, such as "jax==0.10.2"."""
    for lock in sorted((ROOT / "third_party/python").glob("requirements*.lock")):
        for line in lock.read_text().splitlines():
            if re.match(re.escape(package) + r"==", line, re.IGNORECASE):
                return line.split()[0]
    return package


def environment(one, wheel, packages, latest):
    """A virtual environment with the wheel and what of the packages has a wheel for it: the
    versions of the lock files, or the newest releases."""
    folder = CACHE / "pythons" / (one.name + ("-latest" if latest else ""))
    python = folder / "bin" / "python"
    if not python.exists() or probe(python).version != one.version:
        run(one.path, "-m", "venv", "--clear", folder, cwd="/")
    pip = [python, "-m", "pip", "--no-input", "--disable-pip-version-check"]
    install = [*pip, "install", "-q"]
    only_wheels = [*install, "--only-binary=:all:"]
    tried = folder / "tried.txt"  # one requirement a line, so that none is tried twice
    known = tried.read_text().split() if tried.exists() else []
    for package in packages:
        if package in known:
            continue
        for requirement in dict.fromkeys([*([] if latest else [locked(package)]), package]):
            done = subprocess.run([*map(str, only_wheels), requirement], cwd="/", check=False,
                                  capture_output=True, text=True)  # fmt: skip
            if done.returncode == 0:
                break
        else:
            say(f"{one.name} has no {package}")
            if package in NEEDED:
                raise SystemExit(done.stdout + done.stderr)
        tried.write_text("\n".join(known := [*known, package]) + "\n")
    run(*install, "--force-reinstall", "--no-deps", wheel, cwd="/")
    frozen = run(*pip, "list", "--format=freeze", capture_output=True, cwd="/").stdout
    versions = dict(line.split("==") for line in frozen.split())
    names = ("numpy", "torch", *PEERS, "paddlepaddle")
    return python, [f"{name} {versions[name]}" for name in names if name in versions]


def run_file(python, file, scratch):
    """Runs one test file. Returns its outcomes: (test, "passed" | "failed" | "skipped", text)."""
    report = scratch / f"{file.parent.name}_{file.stem}.xml"
    paths = [TESTS / "testing", file.parent, ROOT / "tests" / "emulator"]
    settings = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, paths)), PYTHONSAFEPATH="1",
                    DOVETAIL_KERNEL_LIBRARIES=str(kernel_libraries()))  # fmt: skip
    command = [python, "-X", "faulthandler", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rw",
               f"--rootdir={TESTS}", f"--junitxml={report}", file]  # fmt: skip
    try:
        done = subprocess.run([str(c) for c in command], cwd=scratch, env=settings, text=True,
                              capture_output=True, timeout=TIMEOUT, check=False,
                              errors="replace")  # fmt: skip
        output = done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        return [(file.name, "failed", f"took more than {error.timeout:.0f} s")], ""
    try:
        cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
    except (OSError, xml.etree.ElementTree.ParseError):
        tail = "\n".join(output.splitlines()[-30:])
        return [(file.name, "failed", f"exit status {done.returncode}\n{tail}")], output
    return [outcome_of(case) for case in cases], output


def outcome_of(case):
    name = case.get("name")
    for kind, result in {"failure": "failed", "error": "failed", "skipped": "skipped"}.items():
        if (found := case.find(kind)) is not None:
            return name, result, f"{found.get('message')}\n{found.text}"
    return name, "passed", ""


def absent_module(python, text):
    """The module for lack of which a test failed, or None."""
    for name in dict.fromkeys(re.findall(r"No module named \W*([\w.]+)", text)):
        probed = f"try: import {name}\nexcept ModuleNotFoundError: pass\nelse: raise SystemExit(1)"
        if subprocess.run([python, "-I", "-c", probed], check=False).returncode == 0:
            return name
    return None


def note(outcome, python, file, cases, output):
    place = f"{file.parent.name}/{file.name}"
    if GIL_ENABLED in output:
        outcome.with_gil.append(place)
    for name, result, text in cases:
        absent = absent_module(python, text) if result == "failed" else None
        if absent:
            outcome.missing.setdefault(absent, set()).add(place)
            result = "skipped"
        setattr(outcome, result, getattr(outcome, result) + 1)
        if result == "failed":
            lines = [line for line in text.splitlines() if line.startswith(("E  ", "Fatal"))]
            reason = "\n      ".join(lines[:6] or text.splitlines()[-12:])
            outcome.failures.append(f"{place}: {name}\n      {reason}")


def try_on(one, options):
    outcome = Outcome(one)
    provide(one)
    large = LARGE if options.large or options.latest or one.name == "3.11" else ()
    packages = (*NEEDED, *(() if options.quick else (*PEERS, *large)))
    python, outcome.peers = environment(
        one, wheel_for(one, options.wheels), packages, options.latest
    )
    files = [file for folder in FOLDERS for file in sorted((TESTS / folder).glob("*_test.py"))]
    files = [file for file in files if file.name not in BUILD_ONLY]
    if options.quick:
        files = [file for file in files if file.name not in QUICK_SKIP]
    files = [file for file in files if re.search(options.files, str(file.relative_to(TESTS)))]
    kernel_libraries()  # before the threads, which ask for it
    say(f"running {len(files)} test files on {one.name} ({one.version})")
    with (
        tempfile.TemporaryDirectory() as scratch,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        ran = pool.map(lambda file: run_file(python, file, pathlib.Path(scratch)), files)
        for file, (cases, output) in zip(files, ran, strict=True):
            note(outcome, python, file, cases, output)
    return outcome


def table(outcomes):
    yield "| interpreter | version | passed | failed | skipped | peers |"
    yield "|---|---|---:|---:|---:|---|"
    for o in outcomes:
        one = o.interpreter
        counts = f"{o.passed} | {o.failed} | {o.skipped}"
        yield f"| {one.name} | {one.version} | {counts} | {', '.join(o.peers)} |"


def main():
    parser = argparse.ArgumentParser(prog="tools/pythons", description=__doc__.splitlines()[0])
    parser.add_argument("interpreters", nargs="*", metavar="3.13t")
    parser.add_argument("--list", action="store_true", help="print the interpreters and exit")
    parser.add_argument(
        "--newest", action="store_true", help="the newest, with and without the GIL"
    )
    parser.add_argument("--quick", action="store_true", help="NumPy alone, without long tests")
    parser.add_argument("--large", action="store_true", help="PyTorch and Paddle, too: gigabytes")
    parser.add_argument(
        "--latest", action="store_true", help="the newest peers, not those of the locks (7 GB)"
    )
    parser.add_argument("--wheels", metavar="FOLDER", help="try wheels that //python:wheels made")
    parser.add_argument("--files", default="", help="only files whose path matches this")
    options = parser.parse_args()
    interpreters = newest() if options.newest else chosen(options.interpreters)
    if options.list:
        for one in interpreters:
            print(f"{one.name:<6} {one.version:<8} {one.path or 'third_party/cpython builds it'}")
        return 0
    outcomes, broken = [], []
    for one in interpreters:
        try:
            outcomes.append(try_on(one, options))
        except subprocess.CalledProcessError as error:
            broken.append(one.name)
            say(f"{one.name} could not be tried: {error}")
    for o in outcomes:
        for module, files in sorted(o.missing.items()):
            places = ", ".join(sorted(files))
            say(f"{o.interpreter.name}: skipped for lack of {module}: {places}")
        if o.with_gil:
            say(f"{o.interpreter.name}: ran with the GIL, for a peer: {', '.join(o.with_gil)}")
        for failure in o.failures:
            say(f"{o.interpreter.name}: FAILED {failure}")
    print(*table(outcomes), sep="\n")
    return 1 if broken or any(o.failed for o in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
