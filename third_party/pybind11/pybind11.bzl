"""pybind11, as @pybind11: headers only, for python/casters/pybind11.h and its tests."""

load("//third_party/python:pypi.bzl", "unpack_wheel")

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "pybind11",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
    visibility = ["//visibility:public"],
    deps = ["@dovetail_python//:headers"],
)
"""

def _pybind11_impl(rctx):
    reason = unpack_wheel(rctx, "pybind11")
    if reason:
        fail("pybind11 could not be downloaded from the package index:\n" + reason)
    rctx.symlink("wheel/pybind11/include", "include")
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD)

pybind11 = repository_rule(
    implementation = _pybind11_impl,
    environ = ["PATH"],
)
