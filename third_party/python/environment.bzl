"""@dovetail_python_env: a virtual environment with the packages of the lock files, made once.

Python tests and binaries run in it, through the toolchain in third_party/python/BUILD. No C++ target depends on it, so a
C++ build installs no Python package. requirements.in documents how the lock files are made.
"""

load("//third_party/python:pypi.bzl", "PYTHON_ENVIRON", "find_python", "run")

_BUILD = """load("@rules_python//python:defs.bzl", "py_library", "py_runtime")
load("@rules_python//python:py_runtime_pair.bzl", "py_runtime_pair")

package(default_visibility = ["//visibility:public"])

# The installed packages. Every target that runs in the environment depends on them, and reruns if a version changes.
py_library(
    name = "packages",
    data = ["installed.txt"],
)

py_runtime(
    name = "runtime",
    interpreter_path = "{python}",
    python_version = "PY3",
    stub_shebang = "#!/usr/bin/env python3",
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)
"""

def _python_environment_impl(rctx):
    rctx.report_progress("creating a virtual environment")
    run(
        rctx,
        [find_python(rctx), "-m", "venv", "venv"],
        "python3 -m venv (Debian and Ubuntu: apt-get install python3-venv)",
    )
    python = str(rctx.path("venv/bin/python"))
    pip = [python, "-m", "pip", "--no-input", "--disable-pip-version-check"]

    # --no-deps, because the lock files are complete: they contain every package's own requirements.
    install = pip + ["install", "--quiet", "--only-binary=:all:", "--require-hashes", "--no-deps", "--requirement"]
    rctx.report_progress("installing the Python packages")
    run(rctx, install + [str(rctx.path(rctx.attr.lock))], "pip install")
    rctx.report_progress("installing PyTorch")
    if rctx.execute(install + [str(rctx.path(rctx.attr.torch_cpu_lock))], timeout = 1800).return_code != 0:
        run(rctx, install + [str(rctx.path(rctx.attr.torch_lock))], "pip install of PyTorch")
    run(rctx, pip + ["check"], "pip check")
    rctx.file("installed.txt", run(rctx, pip + ["freeze"], "pip freeze"))
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD.format(python = python))

python_environment = repository_rule(
    implementation = _python_environment_impl,
    attrs = {
        "lock": attr.label(default = Label("//third_party/python:requirements.lock")),
        "torch_cpu_lock": attr.label(default = Label("//third_party/python:requirements_torch_cpu.lock")),
        "torch_lock": attr.label(default = Label("//third_party/python:requirements_torch.lock")),
    },
    environ = PYTHON_ENVIRON + ["PATH"],
)
