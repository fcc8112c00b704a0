"""nanobind, as @nanobind: the C++ side of the Python package uses it.

Its wheel has all headers and sources, including robin_map, which an archive of its repository lacks.
"""

load("//third_party/python:pypi.bzl", "unpack_wheel")

_BUILD = """load("@dovetail_python//:defs.bzl", "FREE_THREADED")
load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "nanobind",
    srcs = ["nanobind/src/nb_combined.cpp"],
    hdrs = glob(["nanobind/include/**/*.h"]),
    copts = [
        "-fvisibility=hidden",
        "-fno-strict-aliasing",
        "-ffunction-sections",
        "-fdata-sections",
        "-w",
        "-Iexternal/{name}/nanobind/ext/robin_map/include",
    ],
    defines = ["NB_COMPACT_ASSERTIONS"] + (["NB_FREE_THREADED"] if FREE_THREADED else []),
    includes = ["nanobind/include"],
    linkstatic = True,
    local_defines = ["NB_BUILD"],
    textual_hdrs = glob(
        [
            "nanobind/ext/robin_map/include/**/*.h",
            "nanobind/src/*.cpp",
            "nanobind/src/*.h",
        ],
        exclude = ["nanobind/src/nb_combined.cpp"],
    ),
    visibility = ["//visibility:public"],
    deps = ["@dovetail_python//:headers"],
)
"""

def _nanobind_impl(rctx):
    reason = unpack_wheel(rctx, "nanobind")
    if reason:
        fail("nanobind could not be downloaded from the package index:\n" + reason)
    rctx.symlink("wheel/nanobind", "nanobind")
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD.replace("{name}", rctx.name))

nanobind = repository_rule(
    implementation = _nanobind_impl,
    environ = ["PATH"],
)
