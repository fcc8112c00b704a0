"""@rules_python for Bazel releases with built-in Python rules: the same loads give the native rules."""

def _rules_python_impl(rctx):
    rctx.file("WORKSPACE", 'workspace(name = "rules_python")\n')
    rctx.file("python/BUILD", "")
    rctx.file("python/defs.bzl", "".join([
        "{0} = native.{0}\n".format(rule)
        for rule in ["py_binary", "py_library", "py_runtime", "py_test"]
    ]))
    rctx.file("python/py_runtime_pair.bzl", """load("@bazel_tools//tools/python:toolchain.bzl", _pair = "py_runtime_pair")

py_runtime_pair = _pair
""")

rules_python = repository_rule(implementation = _rules_python_impl)
