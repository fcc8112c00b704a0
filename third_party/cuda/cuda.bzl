"""CUDA's headers and compiler, as @dovetail_cuda: from $CUDA_HOME, /usr/local/cuda, or NVIDIA's PyPI packages.

The build uses only the headers and the kernel compiler. Programs open the driver library at run time, so one build runs
with and without it. third_party/cuda/defs.bzl has the rule that compiles kernels. If there are headers but no nvcc, or
with --repo_env=DOVETAIL_NVCC=none, NVCC in defs.bzl is None and the build has no kernels for NVIDIA.
"""

load("//third_party/python:pypi.bzl", "PYTHON_ENVIRON", "find_python", "run")

_SYSTEM = "/usr/local/cuda"

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

exports_files([
    "compiler.txt",
    "home.txt",
])

cc_library(
    name = "headers",
    hdrs = glob(
        ["include/**"],
        exclude = ["include/cccl/**"],
    ),
    includes = ["include"],
)
"""

def _cuda_impl(rctx):
    home = rctx.os.environ.get("CUDA_HOME")
    if not home and rctx.path(_SYSTEM + "/include/cuda.h").exists and rctx.path(_SYSTEM + "/bin/nvcc").exists:
        home = _SYSTEM
    if not home:
        rctx.report_progress("installing NVIDIA's compiler packages")
        home = _install_packages(rctx)
    nvcc = home + "/bin/nvcc"
    if rctx.os.environ.get("DOVETAIL_NVCC") == "none" or not rctx.path(nvcc).exists:
        nvcc = None
    rctx.symlink(home + "/include", "include")
    rctx.file("compiler.txt", run(rctx, [nvcc, "--version"], nvcc) if nvcc else "none\n")
    rctx.file("home.txt", home if nvcc else "")  # the toolkit's folder, for tests that build with CMake
    rctx.file("defs.bzl", '"""CUDA\'s compiler, or None."""\n\nNVCC = %s\n' % repr(nvcc))
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD)

def _install_packages(rctx):
    run(rctx, [find_python(rctx), "-m", "venv", "venv"], "python3 -m venv")
    pip = [str(rctx.path("venv/bin/python")), "-m", "pip", "--no-input", "--disable-pip-version-check"]
    lock = str(rctx.path(rctx.attr.lock))
    run(
        rctx,
        pip + ["install", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--target=packages", "-r", lock],
        "pip install of NVIDIA's compiler",
    )
    return str(rctx.path("packages/nvidia/cu13"))

cuda = repository_rule(
    implementation = _cuda_impl,
    attrs = {"lock": attr.label(default = Label("//third_party/cuda:requirements.lock"))},
    environ = PYTHON_ENVIRON + ["CUDA_HOME", "DOVETAIL_NVCC", "PATH"],
)
