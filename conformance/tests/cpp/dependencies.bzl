"""dependencies: a file with the labels that a C++ target links and the headers that it may include, one a line."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _dependencies_impl(ctx):
    info = ctx.attr.target[CcInfo]
    lines = [str(part.owner) for part in info.linking_context.linker_inputs.to_list()]
    lines += [header.short_path for header in info.compilation_context.headers.to_list()]
    file = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(file, "\n".join(lines) + "\n")
    return [DefaultInfo(files = depset([file]))]

dependencies = rule(
    implementation = _dependencies_impl,
    attrs = {"target": attr.label(mandatory = True, providers = [CcInfo])},
)
