"""CUDA's compiler and headers, as @dovetail_cuda: from $CUDA_HOME or /usr/local/cuda.

With neither and --repo_env=DOVETAIL_FETCH_GPU_TOOLS=1, from NVIDIA's PyPI packages. Otherwise nothing is fetched: :nvcc
is empty and the build has no kernels for NVIDIA (third_party/cuda/defs.bzl). The backend needs neither compiler nor
headers, which are for tests; programs open the driver's library at run time.
"""

load("//third_party/python:pypi.bzl", "PYTHON_ENVIRON", "find_python", "launcher", "run")

_SYSTEM = "/usr/local/cuda"

_HEADERS = """load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

exports_files(["home.txt"])

cc_library(
    name = "headers",
    hdrs = glob(
        ["include/**"],
        allow_empty = True,
        exclude = ["include/cccl/**"],
    ),
    includes = ["include"],
)
"""

_NVCC = """
alias(
    name = "nvcc",
    actual = "%s",
)
"""

def _cuda_impl(rctx):
    home = rctx.os.environ.get("CUDA_HOME")
    if not home and rctx.path(_SYSTEM + "/include/cuda.h").exists and rctx.path(_SYSTEM + "/bin/nvcc").exists:
        home = _SYSTEM
    if not home and rctx.os.environ.get("DOVETAIL_FETCH_GPU_TOOLS") == "1":
        rctx.report_progress("installing NVIDIA's compiler packages")
        home = _install_packages(rctx)
    if home:
        rctx.symlink(home + "/include", "include")
    nvcc = home and rctx.path(home + "/bin/nvcc").exists
    if nvcc:
        version = run(rctx, [home + "/bin/nvcc", "--version"], "nvcc --version").strip().split("\n")[-1]
        launcher(rctx, "nvcc.sh", home + "/bin/nvcc", version)
    rctx.file("home.txt", home if nvcc else "")  # the toolkit's folder, for tests that build with CMake
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _HEADERS + _NVCC % ("nvcc.sh" if nvcc else "@dovetail//bazel:no_compiler"))

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
    environ = PYTHON_ENVIRON + ["CUDA_HOME", "DOVETAIL_FETCH_GPU_TOOLS", "PATH"],
)
