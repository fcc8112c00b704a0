"""dovetail_sbom: a software bill of materials of the libraries that a wheel's extension module contains.

    dovetail_sbom(
        name = "sbom",
        product = "dovetail-dlpack",
        headers = ["absl/base/config.h", "dlpack/dlpack.h"],  # those that define the libraries' versions
        libraries = ["@com_google_absl//absl/base:config", "@dlpack"],
    )

makes dovetail-dlpack.cdx.json in CycloneDX's format (tools/make_sbom.py). It also lists the libc++ of a toolchain that has one
and links it statically (third_party/zig).
"""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//bazel:version.bzl", "VERSION")

_LIBCXX = "/libcxx/include/__config"
_TOOLCHAIN_TYPE = "@bazel_tools//tools/cpp:toolchain_type"

def _dovetail_sbom_impl(ctx):
    known = depset(transitive = [library[CcInfo].compilation_context.headers for library in ctx.attr.libraries]).to_list()
    headers = {}
    for end in ctx.attr.headers:
        for header in known:
            if header.path.endswith("/" + end):
                headers[end] = header
        if end not in headers:
            fail("no library has a header %s" % end)

    # (Without --incompatible_enable_cc_toolchain_resolution, Bazel before 7 gives an empty struct, for the host's toolchain.)
    toolchain = ctx.toolchains[_TOOLCHAIN_TYPE]
    for file in getattr(getattr(toolchain, "cc", toolchain), "all_files", depset()).to_list():
        if file.path.endswith(_LIBCXX):
            headers[_LIBCXX] = file

    output = ctx.actions.declare_file(ctx.attr.product + ".cdx.json")
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [
            ctx.file._tool.path,
            "--name=" + ctx.attr.product,
            "--version=" + VERSION,
            "--output=" + output.path,
        ] + [header.path for header in headers.values()],
        inputs = headers.values() + [ctx.file._tool],
        outputs = [output],
        mnemonic = "Sbom",
    )
    return [DefaultInfo(files = depset([output]))]

dovetail_sbom = rule(
    implementation = _dovetail_sbom_impl,
    attrs = {
        "headers": attr.string_list(doc = "The ends of the paths of the headers that define versions."),
        "libraries": attr.label_list(providers = [CcInfo], doc = "The libraries that have these headers."),
        "product": attr.string(mandatory = True, doc = "The name of what contains the libraries."),
        "_python": attr.label(
            default = "@dovetail_python//:python3.sh",
            allow_single_file = True,
            cfg = "exec",
            executable = True,
        ),
        "_tool": attr.label(default = "//tools:make_sbom.py", allow_single_file = True),
    },
    toolchains = [_TOOLCHAIN_TYPE],
)
