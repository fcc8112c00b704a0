"""dovetail_include_tree: lays headers out as an include directory inside a Python package.

    dovetail_include_tree(
        name = "include",
        directory = "dovetail/include",
        hdrs = glob(["*.h"]),
        libraries = ["@dlpack"],
    )

in python/BUILD makes links to the headers: dovetail/include/dovetail/python/capi.h and dovetail/include/dlpack/dlpack.h.
"""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _dovetail_include_tree_impl(ctx):
    headers = {"dovetail/%s/%s" % (f.owner.package, f.owner.name): f for f in ctx.files.hdrs}
    for library in ctx.attr.libraries:
        for header in library[CcInfo].compilation_context.direct_public_headers:
            headers[header.path.rpartition("/include/")[2]] = header
    links = []
    for name, header in headers.items():
        link = ctx.actions.declare_file(ctx.attr.directory + "/" + name)
        ctx.actions.symlink(output = link, target_file = header)
        links.append(link)
    return [DefaultInfo(files = depset(links), runfiles = ctx.runfiles(links))]

dovetail_include_tree = rule(
    implementation = _dovetail_include_tree_impl,
    attrs = {
        "directory": attr.string(mandatory = True, doc = "The include directory, relative to this package."),
        "hdrs": attr.label_list(allow_files = [".h"], doc = "Headers of this repository."),
        "libraries": attr.label_list(providers = [CcInfo], doc = "C++ libraries whose headers are in a folder include/."),
    },
)
