"""ONNX Runtime, as @onnxruntime: Debian's headers, and the library of the pinned Python package.

The library serves every version of its C interface up to its own, so the headers may be older. Only this repository's
tests, examples and benchmarks use it.
"""

load("//third_party/debian:package.bzl", "debian_packages")

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "onnxruntime",
    hdrs = glob(["root/usr/include/onnxruntime/**"]),
    includes = ["root/usr/include/onnxruntime"],
    visibility = ["//visibility:public"],
    deps = ["@dovetail_peers//:onnxruntime_library"],
)
"""

def onnxruntime(name):
    debian_packages(
        name = name,
        build = _BUILD,
        packages = {"libonnxruntime-dev": "14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08"},
        suite = "trixie",
    )
