"""@rules_cc for Bazel releases with built-in C++ rules: the same loads give the native rules.

BUILD files write `load("@rules_cc//cc:defs.bzl", "cc_library")`, as newer Bazel requires, and work with both.
"""

_RULES = [
    "cc_binary",
    "cc_import",
    "cc_library",
    "cc_proto_library",
    "cc_test",
    "cc_toolchain",
    "cc_toolchain_suite",
    "fdo_prefetch_hints",
    "fdo_profile",
    "objc_import",
    "objc_library",
]

def _rules_cc_impl(rctx):
    rctx.file("WORKSPACE", 'workspace(name = "rules_cc")\n')
    rctx.file("cc/BUILD", "")
    rctx.file("cc/defs.bzl", "".join(["{0} = native.{0}\n".format(rule) for rule in _RULES]))
    for rule in ["cc_binary", "cc_import", "cc_library", "cc_test"]:
        rctx.file("cc/%s.bzl" % rule, 'load(":defs.bzl", _{0} = "{0}")\n\n{0} = _{0}\n'.format(rule))
    rctx.file("cc/common/BUILD", "")
    rctx.file("cc/common/native.bzl", "NativeCcCommon = cc_common\nNativeCcInfo = CcInfo\n")
    rctx.file("cc/common/cc_common.bzl", 'load(":native.bzl", "NativeCcCommon")\n\ncc_common = NativeCcCommon\n')
    rctx.file("cc/common/cc_info.bzl", 'load(":native.bzl", "NativeCcInfo")\n\nCcInfo = NativeCcInfo\n')

rules_cc = repository_rule(implementation = _rules_cc_impl)
