"""strict_headers: an aspect that compiles each header of a library alone, with more warnings than this repository has.

    bazel build --aspects=//tests/headers:strict_headers.bzl%strict_headers --output_groups=strict_headers //core:tensor

Users whose flags hold for all that they include see the warnings of our headers, not of our sources. Headers of other
libraries count as system headers here.
"""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

_FLAGS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Werror",
    # Headers have little code, which nobody runs.
    "-O0",
]

# bazel/cc.bzl gives each library a folder of links to its headers.
_LINKS = "/_virtual_includes/"

def _with_system_headers(context):
    """The same headers; those that are not found through our links count as system headers."""
    return cc_common.create_compilation_context(
        defines = context.defines,
        headers = context.headers,
        includes = context.includes,
        system_includes = depset(transitive = [context.system_includes, context.quote_includes]),
    )

def _strict_headers_impl(target, ctx):
    sources = []
    for header in target[CcInfo].compilation_context.direct_public_headers:
        _, _, name = header.path.partition(_LINKS + target.label.name + "/")
        if not name.endswith(".h"):
            continue
        source = ctx.actions.declare_file("strict_headers/%s/%s.cc" % (target.label.name, name))
        ctx.actions.write(source, '#include "%s"\n' % name)
        sources.append(source)
    toolchain = ctx.attr._toolchain[cc_common.CcToolchainInfo]
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    _, outputs = cc_common.compile(
        name = target.label.name + "_strict_headers",
        actions = ctx.actions,
        cc_toolchain = toolchain,
        compilation_contexts = [_with_system_headers(target[CcInfo].compilation_context)],
        feature_configuration = features,
        srcs = sources,
        user_compile_flags = _FLAGS,
    )
    return [OutputGroupInfo(strict_headers = depset(outputs.objects + outputs.pic_objects))]

strict_headers = aspect(
    implementation = _strict_headers_impl,
    attrs = {"_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain")},
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
