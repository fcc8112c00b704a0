"""The Python rules of this repository: extension modules, programs, tests and the wheel.

    load("//bazel:python.bzl", "dovetail_extension", "dovetail_py_library", "dovetail_py_test")

    dovetail_extension(                   # in python/BUILD: dovetail/_core.so exports PyInit__core and nothing else
        name = "dovetail/_core.so",
        srcs = ["src/module.cc"],
        deps = ["//core:tensor"],
    )

    dovetail_py_library(                  # `import dovetail`
        name = "dovetail",
        srcs = glob(["dovetail/*.py"]),
        data = [":dovetail/_core.so"],
        imports = ["."],
    )

    dovetail_py_test(                     # a plain pytest file, in python/tests/exchange/BUILD
        name = "convert_test",
        srcs = ["convert_test.py"],
        deps = ["//python:dovetail"],
    )

Tests are in folders of their own, not beside the package: Python resolves the links that Bazel creates, and would
import the source tree, which has no extension module. All tests run in the environment of third_party/python.
"""

load("@rules_python//python:defs.bzl", "py_binary", "py_library", "py_test")
load("//bazel:cc.bzl", "dovetail_cc_binary", "dovetail_cc_library")

_PACKAGES = "@dovetail_python_env//:packages"
_BINDING_DEPS = ["@dovetail_python//:headers", "@nanobind"]

_BINDING_COPTS = [
    "-fvisibility=hidden",
    "-fno-strict-aliasing",
    # CPython stores functions of several signatures as one type and casts them.
    "-Wno-cast-function-type",
]

# Link-time optimisation: each exchange calls functions of half a dozen source files.
_LTO_COPTS = select({
    "//bazel:lto": ["-flto"],
    "//conditions:default": [],
})
_LTO_LINKOPTS = select({
    "//bazel:lto": [
        "-flto=auto",
        "-O2",
    ],
    "//conditions:default": [],
})

def dovetail_binding_library(name, deps = [], copts = [], **kwargs):
    """A dovetail_cc_library that can include Python.h and nanobind, for parts of an extension module."""
    dovetail_cc_library(
        name = name,
        copts = _BINDING_COPTS + _LTO_COPTS + copts,
        deps = deps + _BINDING_DEPS,
        **kwargs
    )

def dovetail_extension(name, deps = [], copts = [], linkopts = [], **kwargs):
    """A Python extension module in C++. Its name is its path, such as "dovetail/_core.so"."""
    script = "//bazel:extension.lds"
    dovetail_cc_binary(
        name = name,
        copts = _BINDING_COPTS + _LTO_COPTS + copts,
        linkopts = linkopts + _LTO_LINKOPTS + [
            "-Wl,--gc-sections",
            "-Wl,--version-script,$(location %s)" % script,
        ],
        linkshared = True,
        deps = deps + _BINDING_DEPS + [script],
        **kwargs
    )

def dovetail_py_library(name, **kwargs):
    """A py_library. It is here so that BUILD files need only one load."""
    py_library(name = name, **kwargs)

def dovetail_py_binary(name, deps = [], **kwargs):
    """A py_binary that runs in the environment of third_party/python."""
    py_binary(
        name = name,
        legacy_create_init = 0,
        deps = deps + [_PACKAGES],
        **kwargs
    )

def dovetail_py_test(name, srcs, deps = [], data = [], args = [], size = "medium", **kwargs):
    """Runs pytest over `srcs`, which are plain pytest files. conftest.py and helpers go into `deps` or `data`.

    Sanitizer runs include it, unless it has the tag "no-sanitizer" because it exercises none of our C++ code.
    """
    py_test(
        name = name,
        size = size,
        srcs = srcs + ["//bazel:pytest_main.py"],
        data = data + ["//bazel:sanitizer_runtime"],
        args = ["$(location %s)" % src for src in srcs] + args,
        legacy_create_init = 0,
        main = "//bazel:pytest_main.py",
        deps = deps + [_PACKAGES],
        **kwargs
    )

def dovetail_py_tests(name, srcs, tags = [], **kwargs):
    """A dovetail_py_test over several files in one process: importing other libraries takes longer than most tests.

    Each file has a target of its own, too, which `//...` leaves out: `./bazelw test //python/tests/tensor:index_test`.
    With a `shard_count`, each process takes its share of the files.
    """
    dovetail_py_test(name = name, size = "large", srcs = srcs, tags = tags, **kwargs)
    kwargs.pop("shard_count", None)
    for src in srcs:
        dovetail_py_test(name = src[:-len(".py")], srcs = [src], tags = tags + ["manual"], **kwargs)

def dovetail_interpreter(name, deps = [], **kwargs):
    """A Python that can import `deps` and the environment's packages, run in the user's current directory."""
    dovetail_py_binary(
        name = name,
        srcs = ["//bazel:interpreter_main.py"],
        main = "//bazel:interpreter_main.py",
        deps = deps,
        **kwargs
    )
