"""What the hipcc of //devices/rocm:hipcc compiles.

hip_code_object compiles one HIP source and embeds the code in the program as data (bazel/device_code.bzl):

    hip_code_object(name = "kernels_hip", src = "//devices/gpu/kernels:kernels.cu", symbol = "kKernelsHip")

hip_kernels makes a kernel library, kernels.so, which is empty without hipcc (bazel/device_library.bzl):

    hip_kernels(name = "kernels", srcs = ["kernels.cu"])
"""

load("@dovetail_hip//:defs.bzl", "ARCHITECTURES")
load("//bazel:device_code.bzl", "device_code")
load("//bazel:device_library.bzl", "device_library")

def hip_code_object(name, src, symbol, deps = [], **kwargs):
    """Compiles a source with the hipcc of //devices/rocm:hipcc.

    Args:
      name: of the rule; <name>.inc is what programs include.
      src: label of the source.
      symbol: C++ name of the data.
      deps: labels of the headers, included as dovetail/<package>/<header>.
      **kwargs: of every rule.
    """
    device_code(
        name = name,
        src = src,
        architecture_copts = ["--offload-arch={}"],
        architectures = "//devices/rocm:architectures",
        compiler = "//devices/rocm:hipcc",
        copts = ["--genco", "-O3", "-std=c++20"],
        default_architectures = ARCHITECTURES,
        environment = ["HIP_PLATFORM=amd"],
        last_copts = ["-x", "hip"],
        symbol = symbol,
        deps = deps,
        **kwargs
    )

def hip_kernels(name, srcs, **kwargs):
    """A kernel library in HIP.

    Args:
      name: of the rule; <name>.so is the file.
      srcs: sources that include dovetail/kernels.h, and headers.
      **kwargs: of every rule.
    """
    device_library(
        name = name,
        srcs = srcs,
        architecture_copts = ["--offload-arch={}"],
        architectures = "//devices/rocm:architectures",
        compiler = "//devices/rocm:hipcc",
        copts = ["-x", "hip", "-O3", "-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"],
        default_architectures = ARCHITECTURES,
        environment = ["HIP_PLATFORM=amd"],
        linker_flag = "-Wl,",
        deps = ["//:kernels"],
        **kwargs
    )
