"""What the nvcc of //devices/cuda:nvcc compiles.

cuda_fatbin compiles one CUDA source and embeds the code in the program as data (bazel/device_code.bzl):

    cuda_fatbin(name = "kernels_fatbin", src = "//devices/gpu/kernels:kernels.cu", symbol = "kKernelsFatbin")

cuda_kernels makes a kernel library, kernels.so, which is empty without nvcc (bazel/device_library.bzl):

    cuda_kernels(name = "kernels", srcs = ["kernels.cu"])
"""

load("//bazel:device_code.bzl", "device_code")
load("//bazel:device_library.bzl", "device_library")

# Compute capabilities: a binary for each (8.0 also runs on 8.6 and 8.9), and PTX of one for later GPUs.
_BINARY = ["75", "80", "90", "100", "120"]
_PTX = "90"

# Dovetail's users have warnings on. (nvcc's own code is no part of -Wpedantic and -Wold-style-cast.)
_WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]

def cuda_fatbin(name, src, symbol, deps = [], **kwargs):
    """Compiles a source with the nvcc of //devices/cuda:nvcc.

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
        architecture_copts = ["-gencode=arch=compute_{},code=sm_{}"],
        architectures = "//devices/cuda:architectures",
        compiler = "//devices/cuda:nvcc",
        copts = ["-fatbin", "-Xfatbin", "-compress-all", "-O3", "-std=c++20"],
        default_architectures = _BINARY,
        last_copts = ["-gencode=arch=compute_{0},code=compute_{0}".format(_PTX)],
        symbol = symbol,
        deps = deps,
        **kwargs
    )

def cuda_kernels(name, srcs, **kwargs):
    """A kernel library in CUDA.

    Args:
      name: of the rule; <name>.so is the file.
      srcs: .cu files that include dovetail/kernels.h, and headers.
      **kwargs: of every rule.
    """
    device_library(
        name = name,
        srcs = srcs,
        architecture_copts = ["-gencode=arch=compute_{},code=sm_{}"],
        architectures = "//devices/cuda:architectures",
        compiler = "//devices/cuda:nvcc",
        copts = ["-O3", "-std=c++20", "-shared", "-Xcompiler", "-fPIC,-fvisibility=hidden," + ",".join(_WARNINGS)],
        default_architectures = _BINARY,
        home = "@dovetail_cuda//:home.txt",
        linker_flag = "-Xlinker=",
        linkopts = ["-gencode=arch=compute_{0},code=compute_{0}".format(_PTX)],
        deps = ["//:kernels"],
        **kwargs
    )
