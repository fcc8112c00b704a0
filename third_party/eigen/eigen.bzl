"""Eigen, as @eigen: Debian's headers. Only this repository's tests, examples and benchmarks use it."""

load("//third_party/debian:package.bzl", "debian_packages")

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "eigen",
    hdrs = glob(["root/usr/include/eigen3/**"]),
    includes = ["root/usr/include/eigen3"],
    visibility = ["//visibility:public"],
)
"""

def eigen(name):
    debian_packages(
        name = name,
        build = _BUILD,
        packages = {"libeigen3-dev": "1a167bb381acb90c1d8450a8f3e66a09d216dbc64b33ac8a082a0912513ef939"},
    )
