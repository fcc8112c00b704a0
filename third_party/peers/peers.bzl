"""The C++ libraries of other tensor packages: @dovetail_peers//:tvm_ffi, :aten, :arrow, :onnxruntime_library, :xla_ffi.

They are the libraries inside the Python packages of @dovetail_python_env, so that C++ and Python meet the same versions.
Only tests, examples and benchmarks depend on them.
"""

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

cc_library(
    name = "tvm_ffi",
    srcs = ["tvm_ffi/lib/libtvm_ffi.so"],
    hdrs = glob(["tvm_ffi/include/**/*.h"]),
    includes = ["tvm_ffi/include"],
)

# PyTorch's tensors. The libraries find each other because they are in one folder.
cc_library(
    name = "aten",
    srcs = glob(
        [
            "torch/lib/libc10.so",
            "torch/lib/libgomp*.so*",
            "torch/lib/libtorch_cpu.so",
        ],
    ),
    hdrs = glob(["torch/include/**/*.h"]),
    includes = ["torch/include"],
)

# Its modules and the rest of its C++ interface.
cc_library(
    name = "torch",
    includes = ["torch/include/torch/csrc/api/include"],
    deps = [":aten"],
)

# What takes Python's tensors as at::Tensor. PyTorch's headers bring pybind11.
cc_library(
    name = "torch_python",
    srcs = ["torch/lib/libtorch_python.so"],
    deps = [":torch"],
)

cc_library(
    name = "arrow",
    srcs = glob(["pyarrow/libarrow.so.*"]),
    hdrs = glob(["pyarrow/include/arrow/**/*.h"]),
    includes = ["pyarrow/include"],
)

# The package has no headers: @onnxruntime brings Debian's.
cc_library(
    name = "onnxruntime_library",
    srcs = ["onnxruntime/libonnxruntime.so.1"],
)

# The headers of XLA's foreign functions, which is all that a function needs.
cc_library(
    name = "xla_ffi",
    hdrs = glob(["jaxlib/include/xla/ffi/**/*.h"]),
    includes = ["jaxlib/include"],
)
"""

_SITE = """
import sysconfig
print(sysconfig.get_path("purelib"))
"""

def _peers_impl(rctx):
    # The stamp makes this run again when the packages change.
    environment = rctx.path(Label("@dovetail_python_env//:installed.txt")).dirname
    result = rctx.execute([environment.get_child("venv").get_child("bin").get_child("python"), "-c", _SITE])
    if result.return_code != 0:
        fail("could not find the folder of the environment's packages:\n" + result.stderr)
    site = result.stdout.strip()
    for folder in ["jaxlib/include", "pyarrow/include", "torch/include", "torch/lib", "tvm_ffi/include", "tvm_ffi/lib"]:
        rctx.symlink("%s/%s" % (site, folder), folder)

    # Programs look for a library by its soname.
    for file in rctx.path(site + "/onnxruntime/capi").readdir():
        if file.basename.startswith("libonnxruntime.so.1."):
            rctx.symlink(file, "onnxruntime/libonnxruntime.so.1")
    for file in rctx.path(site + "/pyarrow").readdir():
        if file.basename.startswith("libarrow.so."):
            rctx.symlink(file, "pyarrow/" + file.basename)
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD)

peers = repository_rule(implementation = _peers_impl)
