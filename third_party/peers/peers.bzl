"""The C++ libraries of other tensor packages, for benchmarks: @dovetail_peers//:tvm_ffi and @dovetail_peers//:aten.

They are the libraries inside the Python packages of @dovetail_python_env, so benchmarks in C++ and in Python compare with
the same versions. Only //benchmarks depends on them.
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
    for package in ["torch", "tvm_ffi"]:
        for folder in ["include", "lib"]:
            rctx.symlink("%s/%s/%s" % (site, package, folder), "%s/%s" % (package, folder))
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD)

peers = repository_rule(implementation = _peers_impl)
