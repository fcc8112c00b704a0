"""dovetail_include_tree: lays headers out as programs include them, in a directory.

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
    headers = {"/".join(["dovetail"] + [part for part in [f.owner.package, f.owner.name] if part]): f for f in ctx.files.hdrs}
    for library in ctx.attr.libraries:
        for header in library[CcInfo].compilation_context.direct_public_headers:
            _, is_ours, after = header.path.partition("/_virtual_includes/")
            _, is_in_include, name = header.path.rpartition("/include/")
            if is_ours:
                headers[after.partition("/")[2]] = header  # after the target's name
            elif is_in_include:
                headers[name] = header
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
        "hdrs": attr.label_list(allow_files = [".h", ".inc"], doc = "Headers of this repository, and what they include."),
        "libraries": attr.label_list(
            providers = [CcInfo],
            doc = "C++ libraries of this repository, and others whose headers are in a folder include/.",
        ),
    },
)
