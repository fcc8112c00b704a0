"""Dovetail's dependencies, in two macros for WORKSPACE files.

    load("@dovetail//bazel:dependencies.bzl", "dovetail_dependencies")
    dovetail_dependencies()

declares what a program that embeds Dovetail needs. It includes no Python and declares nothing twice (the embedder's
abseil wins). dovetail_python_dependencies() adds what extension modules for Python need, and
dovetail_dev_dependencies() what Dovetail's own tests, benchmarks and Python package need.
bazel/extensions.bzl offers those that no Bazel registry has to MODULE.bazel.
"""

load("//third_party/abseil-cpp:abseil.bzl", "abseil")
load("//third_party/bazel_rules:bazel_rules.bzl", "bazel_rules")
load("//third_party/benchmark:benchmark.bzl", "benchmark")
load("//third_party/cccl:cccl.bzl", "cccl")
load("//third_party/cuda:cuda.bzl", "cuda")
load("//third_party/dlpack:dlpack.bzl", "dlpack")
load("//third_party/docs:docs_tools.bzl", "docs_tools")
load("//third_party/eigen:eigen.bzl", "eigen")
load("//third_party/googletest:googletest.bzl", "googletest")
load("//third_party/hip:hip.bzl", "hip")
load("//third_party/json:json.bzl", "json")
load("//third_party/lint:lint_tools.bzl", "lint_tools")
load("//third_party/nanobind:nanobind.bzl", "nanobind")
load("//third_party/onnxruntime:onnxruntime.bzl", "onnxruntime")
load("//third_party/opencv:opencv.bzl", "opencv")
load("//third_party/peers:peers.bzl", "peers")
load("//third_party/pybind11:pybind11.bzl", "pybind11")
load("//third_party/python:environment.bzl", "python_environment")
load("//third_party/python:interpreter.bzl", "python_interpreter")
load("//third_party/remote_coverage_tools:remote_coverage_tools.bzl", "remote_coverage_tools")
load("//third_party/rules_cc:rules_cc.bzl", "rules_cc")
load("//third_party/rules_python:rules_python.bzl", "rules_python")
load("//third_party/rules_shell:rules_shell.bzl", "rules_shell")
load("//third_party/zig:zig.bzl", "zig")

def _declare(declarations):
    for name, declare in declarations.items():
        if native.existing_rule(name) == None:
            declare(name = name)

def dovetail_dependencies():
    """The dependencies of @dovetail//:dovetail and of the device plugins."""
    bazel_rules()
    _declare({
        "com_google_absl": abseil,
        "dlpack": dlpack,
        "dovetail_cuda": cuda,
        "dovetail_hip": hip,
        "nlohmann_json": json,
        "remote_coverage_tools": remote_coverage_tools,
        "rules_cc": rules_cc,
        "rules_python": rules_python,  # packages with C++ and Python load it
        "rules_shell": rules_shell,
    })

def dovetail_python_dependencies():
    """What extension modules for Python need besides: @dovetail//python/casters, @dovetail//python/exchange."""
    _declare({
        "dovetail_python": python_interpreter,
        "nanobind": nanobind,
        "pybind11": pybind11,
    })

def dovetail_testing_dependencies():
    """What tests of backends and of DLPack libraries need besides: @dovetail//testing."""
    _declare({"com_google_googletest": googletest})

def dovetail_benchmark_dependencies():
    """What benchmarks need besides: dovetail_cc_benchmark."""
    _declare({"com_github_google_benchmark": benchmark})

def dovetail_dev_dependencies():
    """The other dependencies of this repository's own targets."""
    dovetail_python_dependencies()
    dovetail_testing_dependencies()
    dovetail_benchmark_dependencies()
    _declare({
        "cccl": cccl,
        "dovetail_docs": docs_tools,
        "dovetail_lint": lint_tools,
        "dovetail_peers": peers,
        "dovetail_python_env": python_environment,
        "eigen": eigen,
        "onnxruntime": onnxruntime,
        "opencv": opencv,
        "zig": zig,
    })
    native.register_toolchains("@dovetail//third_party/python:toolchain")
