"""The C++ rules of this repository. Only this file decides on warnings, include prefix and test main.

    load("//bazel:cc.bzl", "dovetail_cc_library", "dovetail_cc_test")

    dovetail_cc_library(
        name = "dtype",
        srcs = ["dtype.cc"],
        hdrs = ["dtype.h", "dtype_list.inc"],  # an .inc goes into hdrs, so that it gets the include prefix
        deps = ["@com_google_absl//absl/status"],
    )

    dovetail_cc_test(
        name = "dtype_test",
        srcs = ["dtype_test.cc"],
        deps = [":dtype"],
    )

In core/, the header is then `#include "dovetail/core/dtype.h"`. The language standard and -Werror are set in .bazelrc
instead: a whole build must agree on the standard, and a project that embeds Dovetail decides on -Werror.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

# This repository has no such warnings under g++ 12 and clang 14.
WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wextra-semi",
    "-Wformat=2",
    "-Wimplicit-fallthrough",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wvla",
    # Designated initialisers name the fields that matter and leave the others to their defaults.
    "-Wno-missing-field-initializers",
]

# Options for libraries that loop over elements: optimised in Bazel's default mode, too. Without them a transpose of
# 2000 x 2000 floats took 45 times as long as with `-c opt`. (Casts have -O3 in every mode: devices/cpu/cast/BUILD.)
LOOPS = select({
    "//bazel:fastbuild": ["-O2"],
    "//conditions:default": [],
})

def _warnings():
    """WARNINGS; in examples/ those of strict users, too: whatever a header leaves to its default has one."""
    is_example = (native.package_name() + "/").startswith("examples/")
    return WARNINGS + (["-Wmissing-field-initializers"] if is_example else [])

def dovetail_cc_library(name, copts = [], include_prefix = None, **kwargs):
    """A cc_library whose headers are included as dovetail/<package>/<header>, or as <include_prefix>/<header>."""
    package = native.package_name()
    cc_library(
        name = name,
        copts = _warnings() + copts,
        include_prefix = include_prefix or ("dovetail/" + package if package else "dovetail"),
        # No shared object per library: nothing here is linked dynamically, and hidden symbols can't be.
        linkstatic = True,
        **kwargs
    )

def dovetail_cc_door(name, deps = [], **kwargs):
    """A header-only library that includes headers of a library that the user brings, never one of ours.

    The label flag `:library` names it: `build --@dovetail//interop/eigen:library=@eigen`. Without the flag, the user's
    target has his library in its own `deps`, and the headers here do not compile without it.
    """
    native.label_flag(
        name = "library",
        build_setting_default = "//interop:no_library",
        visibility = ["//visibility:public"],
    )
    dovetail_cc_library(
        name = name,
        features = ["-parse_headers"],
        visibility = ["//visibility:public"],
        deps = deps + [":library"],
        **kwargs
    )

def dovetail_cc_test(name, deps = [], copts = [], size = "small", **kwargs):
    """A cc_test with GoogleTest and its main()."""
    cc_test(
        name = name,
        size = size,
        copts = _warnings() + copts,
        linkstatic = True,
        deps = deps + [
            "@com_google_googletest//:gtest",
            "@com_google_googletest//:gtest_main",
        ] + select({
            "//bazel:tsan": ["//bazel:tsan_suppressions"],
            "//conditions:default": [],
        }),
        **kwargs
    )

def dovetail_cc_binary(name, copts = [], **kwargs):
    """A cc_binary with this repository's warnings."""
    cc_binary(
        name = name,
        copts = _warnings() + copts,
        **kwargs
    )

def dovetail_cc_example_test(name, **kwargs):
    """A program of examples/ that is a test, too: it passes if it exits with 0. `bazel run` shows its output."""
    cc_test(
        name = name,
        size = "small",
        copts = _warnings(),
        linkstatic = True,
        **kwargs
    )

def dovetail_cc_benchmark(name, deps = [], tags = [], **kwargs):
    """A Google Benchmark program with the main() of //benchmarks. docs/benchmarks.md has an example.

    Other repositories can use it, too: dovetail_benchmark_dependencies() declares what it needs.
    """
    dovetail_cc_binary(
        name = name,
        testonly = True,
        tags = tags + ["benchmark"],
        deps = deps + [
            Label("//benchmarks/harness:ratio_main"),
            Label("@com_github_google_benchmark//:benchmark"),
        ],
        **kwargs
    )
