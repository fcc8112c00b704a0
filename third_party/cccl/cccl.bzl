"""NVIDIA's CCCL (cuda::std), as @cccl: the headers of the wheel that third_party/cuda pins.

Only this repository's tests, examples and benchmarks use it.
"""

load("//third_party/python:pypi.bzl", "unpack_wheel")

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "cccl",
    hdrs = glob(["wheel/nvidia/cu13/include/cccl/**"]),
    includes = ["wheel/nvidia/cu13/include/cccl"],
    visibility = ["//visibility:public"],
)
"""

def _cccl_impl(rctx):
    reason = unpack_wheel(rctx, "nvidia-cuda-cccl", lock = "//third_party/cuda:requirements.lock")
    if reason:
        fail("%s needs the package nvidia-cuda-cccl from PyPI, but %s" % (rctx.name, reason))
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD)

cccl = repository_rule(
    implementation = _cccl_impl,
    environ = ["PATH"],
)
