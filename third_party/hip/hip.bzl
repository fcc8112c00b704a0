"""HIP's headers and compiler, as @dovetail_hip: $ROCM_PATH, /opt/rocm, the system's, or the headers of Debian's package.

The runtime library is opened at run time, so that one build runs with and without it. Where there is no hipcc,
HIPCC in defs.bzl is None and kernels for AMD are left out of the build (third_party/hip/defs.bzl).
"""

load("//third_party/debian:source.bzl", "fetch_debian")
load("//third_party/python:pypi.bzl", "run")

_PACKAGE = "libamdhip64-dev"
_SHA256 = "1f87b72e5aa86025c6cb96312c75ee7f549c42475f4bc51049ab7b67cc4e762e"

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

exports_files(["compiler.txt"])

cc_library(
    name = "headers",
    hdrs = glob(["include/hip/**"]),
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
    rctx.report_progress("fetching Debian's %s" % _PACKAGE)
    package, reason = fetch_debian(rctx, "binary", _PACKAGE, "bookworm")
    if not package:
        fail("HIP's headers are not here (ROCM_PATH=/where/rocm/is names them), and %s" % reason)
    unpack = 'echo "$1  $2" | sha256sum --check --quiet && dpkg-deb -x "$2" package'
    run(rctx, ["bash", "-c", unpack, "unpack", _SHA256, package], "unpacking %s" % _PACKAGE)
    rctx.delete("debian")
    return str(rctx.path("package/usr/include/hip"))

def _find_compiler(rctx):
    rocm = rctx.path(rctx.os.environ.get("ROCM_PATH", "/opt/rocm") + "/bin/hipcc")
    return str(rocm) if rocm.exists else (str(rctx.which("hipcc")) if rctx.which("hipcc") else None)

def _hip_impl(rctx):
    hipcc = _find_compiler(rctx)
    version = "none\n"
    if hipcc:
        version = run(rctx, ["env", "HIP_PLATFORM=amd", hipcc, "--version"], hipcc)
    rctx.symlink(_find_headers(rctx), "include/hip")
    rctx.file("compiler.txt", version)
    rctx.file("defs.bzl", '"""HIP\'s compiler, or None."""\n\nHIPCC = %s\n' % repr(hipcc))
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD)

hip = repository_rule(
    implementation = _hip_impl,
    environ = ["PATH", "ROCM_PATH"],
)
