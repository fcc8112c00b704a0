"""public_headers: lays the public headers of C++ libraries out as programs include them, for Doxygen.

    public_headers(
        name = "headers",
        directory = "headers",
        libraries = ["//core:tensor"],
    )

in docs/site/BUILD makes a link headers/dovetail/core/tensor.h.
"""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _public_headers_impl(ctx):
    headers = {"dovetail/" + f.short_path: f for f in ctx.files.lists}
    for library in ctx.attr.libraries:
        for header in library[CcInfo].compilation_context.direct_public_headers:
            _, found, path = header.path.partition("/_virtual_includes/")
            if found:
                headers[path.partition("/")[2]] = header  # after the target's name
    links = []
    for name, header in headers.items():
        link = ctx.actions.declare_file(ctx.attr.directory + "/" + name)
        ctx.actions.symlink(output = link, target_file = header)
        links.append(link)
    return [DefaultInfo(files = depset(links), runfiles = ctx.runfiles(links))]

public_headers = rule(
    implementation = _public_headers_impl,
    attrs = {
        "directory": attr.string(mandatory = True, doc = "The include directory, relative to this package."),
        "libraries": attr.label_list(providers = [CcInfo], doc = "C++ libraries of this repository."),
        "lists": attr.label_list(allow_files = [".inc"], doc = "Files that the headers include and that are no headers."),
    },
)
