"""The repositories of bazel/dependencies.bzl that no Bazel registry serves, for MODULE.bazel."""

load("//third_party/cccl:cccl.bzl", "cccl")
load("//third_party/cuda:cuda.bzl", "cuda")
load("//third_party/docs:docs_tools.bzl", "docs_tools")
load("//third_party/hip:hip.bzl", "hip")
load("//third_party/lint:lint_tools.bzl", "lint_tools")
load("//third_party/nanobind:nanobind.bzl", "nanobind")
load("//third_party/onnxruntime:onnxruntime.bzl", "onnxruntime")
load("//third_party/opencv:opencv.bzl", "opencv")
load("//third_party/peers:peers.bzl", "peers")
load("//third_party/pybind11:pybind11.bzl", "pybind11")
load("//third_party/python:environment.bzl", "python_environment")
load("//third_party/python:interpreter.bzl", "python_interpreter")
load("//third_party/zig:zig.bzl", "zig")

def _dependencies_impl(_mctx):
    cuda(name = "dovetail_cuda")
    hip(name = "dovetail_hip")
    nanobind(name = "nanobind")
    pybind11(name = "pybind11")
    python_interpreter(name = "dovetail_python")

def _dev_dependencies_impl(_mctx):
    cccl(name = "cccl")
    docs_tools(name = "dovetail_docs")
    lint_tools(name = "dovetail_lint")
    opencv(name = "opencv")
    onnxruntime(name = "onnxruntime")
    peers(name = "dovetail_peers")
    python_environment(name = "dovetail_python_env")
    zig(name = "zig")

dependencies = module_extension(implementation = _dependencies_impl)

dev_dependencies = module_extension(implementation = _dev_dependencies_impl)
