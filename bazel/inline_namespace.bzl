"""The name of the inline namespace of C++ symbols, as a flag of the build.

    bazel build --@dovetail//:inline_namespace=my_product //...        # dovetail::v0_my_product::Tensor

Every target depends on //core:config, which brings the macro, so a build has one name.
"""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _flag_impl(ctx):
    name = ctx.build_setting_value
    if name and not name.replace("_", "a").isalnum():
        fail("--@dovetail//:inline_namespace=%s: a name has letters, digits and underscores alone" % name)
    defines = ["DOVETAIL_INLINE_NAMESPACE=" + name] if name else []
    return [CcInfo(compilation_context = cc_common.create_compilation_context(defines = depset(defines)))]

# Not with a name of its own: "v0".
inline_namespace_flag = rule(
    implementation = _flag_impl,
    build_setting = config.string(flag = True),
)
