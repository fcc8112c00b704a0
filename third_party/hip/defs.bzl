"""hip_code_object: compiles one HIP source and embeds the code in the program as data (bazel/device_code.bzl).

    hip_code_object(name = "kernels_hip", src = "//devices/gpu/kernels:kernels.cu", symbol = "kKernelsHip")
"""

load("@dovetail_hip//:defs.bzl", "ARCHITECTURES")
load("//bazel:device_code.bzl", "device_code")

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
