"""HIP's compiler and headers, as @dovetail_hip: from $ROCM_PATH, /opt/rocm or the system.

The backend needs neither, and programs open the runtime library at run time. The headers are for tests; with
--repo_env=DOVETAIL_FETCH_GPU_TOOLS=1 Debian's package has them where nothing else does. Kernels for AMD are compiled only
with --config=rocm (--repo_env=DOVETAIL_ROCM=1), which needs hipcc: that of $ROCM_PATH or the one on PATH. Otherwise
:hipcc is empty and the build has no kernels for AMD (third_party/hip/defs.bzl).
"""

load("//third_party/debian:package.bzl", "unpack_debian_package")
load("//third_party/python:pypi.bzl", "launcher", "run")

_PACKAGE = "libamdhip64-dev"
_SHA256 = "1f87b72e5aa86025c6cb96312c75ee7f549c42475f4bc51049ab7b67cc4e762e"

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

alias(
    name = "hipcc",
    actual = "%s",
)

cc_library(
    name = "headers",
    hdrs = glob(
        ["include/hip/**"],
        allow_empty = True,
    ),
    defines = [
        "__HIP_DISABLE_CPP_FUNCTIONS__",
        "__HIP_PLATFORM_AMD__",
    ],
    includes = ["include"],
)
"""

def _find_headers(rctx):
    for root in [rctx.os.environ.get("ROCM_PATH", "/opt/rocm"), "/usr"]:
        if rctx.path(root + "/include/hip/hip_runtime_api.h").exists:
            return root + "/include/hip"
    if rctx.os.environ.get("DOVETAIL_FETCH_GPU_TOOLS") != "1":
        return None
    reason = unpack_debian_package(rctx, _PACKAGE, _SHA256, directory = "package")
    if reason:
        fail("HIP's headers were not found (set ROCM_PATH to ROCm's folder), and %s" % reason)
    rctx.delete("debian")
    return str(rctx.path("package/usr/include/hip"))

# The GPUs to compile kernels for, if the compiler knows them (Debian 12's knows five).
_ARCHITECTURES = [
    "gfx906",
    "gfx908",
    "gfx90a",
    "gfx940",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1100",
    "gfx1101",
    "gfx1200",
    "gfx1201",
]

def _find_compiler(rctx):
    if rctx.os.environ.get("DOVETAIL_ROCM") != "1":
        return None
    rocm = rctx.path(rctx.os.environ.get("ROCM_PATH", "/opt/rocm") + "/bin/hipcc")
    hipcc = rocm if rocm.exists else rctx.which("hipcc")
    if not hipcc:
        fail("--config=rocm needs hipcc: ./bazelw installs Debian's; set ROCM_PATH to ROCm's folder to use another")
    return str(hipcc)

# The architectures for which the compiler compiles an empty kernel.
def _find_architectures(rctx, hipcc):
    rctx.file("empty.hip", "#include <hip/hip_runtime.h>\n__global__ void empty() {}\n")
    genco = ["env", "HIP_PLATFORM=amd", hipcc, "--genco", "-o", "empty.o", "empty.hip"]
    return [a for a in _ARCHITECTURES if rctx.execute(genco + ["--offload-arch=" + a]).return_code == 0]

def _hip_impl(rctx):
    hipcc = _find_compiler(rctx)
    if hipcc:
        version = run(rctx, ["env", "HIP_PLATFORM=amd", hipcc, "--version"], hipcc).split("\n")[0]
        launcher(rctx, "hipcc.sh", hipcc, version)
    headers = _find_headers(rctx)
    if headers:
        rctx.symlink(headers, "include/hip")
    architectures = _find_architectures(rctx, hipcc) if hipcc else _ARCHITECTURES
    rctx.file("defs.bzl", '"""The GPUs to compile for."""\n\nARCHITECTURES = %r\n' % architectures)
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD % ("hipcc.sh" if hipcc else "@dovetail//bazel:no_compiler"))

hip = repository_rule(
    implementation = _hip_impl,
    environ = ["DOVETAIL_FETCH_GPU_TOOLS", "DOVETAIL_ROCM", "PATH", "ROCM_PATH"],
)
