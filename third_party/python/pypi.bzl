"""Unpacks one package of the lock file into a repository of its own, for headers that a wheel contains."""

_LOCK = "//third_party/python:requirements.lock"

# The environment variables that affect every rule that runs Python.
PYTHON_ENVIRON = ["DOVETAIL_PYTHON"]

def find_python(rctx):
    """The Python that the build is for: $DOVETAIL_PYTHON (--repo_env=DOVETAIL_PYTHON=…), or python3 on PATH."""
    python = rctx.os.environ.get("DOVETAIL_PYTHON") or rctx.which("python3")
    if not python:
        fail("no python3 on PATH: install one, or set --repo_env=DOVETAIL_PYTHON=/path/to/python3")
    return str(python)

def run(rctx, arguments, what, timeout = 1800):
    """Runs a command and returns its output. On failure, reports `what` and the command's output."""
    result = rctx.execute(arguments, timeout = timeout)
    if result.return_code != 0:
        fail("%s failed (exit code %d):\n%s\n%s" % (what, result.return_code, result.stdout, result.stderr))
    return result.stdout

def launcher(rctx, path, program, comment = ""):
    """Writes a script that runs a program of this machine, so that no action names the machine's path.

    Args:
      rctx: the repository context.
      path: the script's, in the repository.
      program: the program's.
      comment: a line in the script, such as the version: if it is another, Bazel runs the actions anew.
    """
    rctx.file(path, '#!/bin/sh\n# %s\nexec "%s" "$@"\n' % (comment or program, program))

def locked_requirement(rctx, package, lock = _LOCK):
    """The lines of a lock file for one package: its pinned version and hashes."""
    lines = []
    for line in rctx.read(rctx.path(Label(lock))).split("\n"):
        if line.startswith(package + "=="):
            lines = [line]
        elif lines and line.startswith("    "):
            lines.append(line)
        elif lines:
            break
    if not lines:
        fail("%s does not pin %s" % (lock, package))
    return "\n".join(lines) + "\n"

def _python_with_pip(rctx):
    """A Python with pip: Debian's has none, but its virtual environments do.

    The first choice is not $DOVETAIL_PYTHON: a wheel is unpacked for its headers, and need not support that Python.
    """
    python = str(rctx.which("python3") or find_python(rctx))
    if rctx.execute([python, "-m", "pip", "--version"]).return_code == 0:
        return python
    run(rctx, [python, "-m", "venv", "pip_venv"], "python3 -m venv (Debian and Ubuntu: apt-get install python3-venv)")
    return str(rctx.path("pip_venv/bin/python"))

def unpack_wheel(rctx, package, lock = _LOCK):
    """Downloads the pinned wheel of a package, checks its hash and unpacks it into ./wheel.

    Args:
      rctx: the repository context.
      package: its name in the lock file.
      lock: label of the lock file.

    Returns:
      None, or why the wheel cannot be had from here.
    """
    python = _python_with_pip(rctx)
    rctx.file("requirement.txt", locked_requirement(rctx, package, lock))
    rctx.report_progress("downloading " + package)
    result = rctx.execute([
        python,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-input",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--dest=download",
        "--requirement=requirement.txt",
    ], timeout = 600)
    if result.return_code != 0:
        return result.stdout + result.stderr
    wheel = rctx.path("download").readdir()[0]
    run(rctx, [python, "-m", "zipfile", "-e", str(wheel), "wheel"], "unpacking %s" % wheel)
    for leftover in ["download", "pip_venv", "requirement.txt"]:
        rctx.delete(leftover)
    return None
