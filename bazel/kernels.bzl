"""dovetail_kernels: a kernel library, the shared object that dovetail.load_kernels() loads.

    load("@dovetail//bazel:kernels.bzl", "dovetail_kernels")

    dovetail_kernels(
        name = "kernels",       # makes kernels.so
        srcs = ["kernels.cc"],  # DOVETAIL_KERNEL(scale_add, "x", "y", "a", "out");
    )

One file serves every version of Python and of the frameworks: it links none of them, and nothing of Dovetail's. It exports the
function that describes its kernels, and each kernel as tvm-ffi calls it. The build needs no Python.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary")

def dovetail_kernels(name, srcs, deps = [], copts = [], linkopts = [], **kwargs):
    """Makes <name>.so, the data of a py_library. The label <name> is the same file.

    Args:
      name: name of the target, and of the file.
      srcs: C++ files that include dovetail/kernels.h.
      deps: C++ libraries, which are linked in. Their symbols are hidden, too.
      copts: further flags of the compiler. They come after -std=c++20, and may set another standard from C++17 on.
      linkopts: further flags of the linker.
      **kwargs: further attributes of the cc_binary, such as data and local_defines.
    """
    exports = str(Label("//bazel:kernels.lds"))
    cc_binary(
        name = name + ".so",
        srcs = srcs,
        copts = [
            "-std=c++20",
            "-fexceptions",  # kernels throw, in a build without exceptions, too
            "-fvisibility=hidden",
        ] + copts,
        linkopts = linkopts + ["-Wl,--version-script,$(location %s)" % exports],
        linkshared = True,
        deps = deps + [
            exports,
            str(Label("//:kernels")),
        ],
        **kwargs
    )
    native.filegroup(
        name = name,
        testonly = kwargs.get("testonly", False),
        srcs = [name + ".so"],
        tags = kwargs.get("tags", []),
        visibility = kwargs.get("visibility"),
    )
