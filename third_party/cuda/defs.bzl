"""cuda_fatbin: compiles one CUDA source and embeds the code in the program as data (bazel/device_code.bzl).

    cuda_fatbin(name = "kernels_fatbin", src = "//devices/gpu/kernels:kernels.cu", symbol = "kKernelsFatbin")
"""

load("//bazel:device_code.bzl", "device_code")

# Compute capabilities: a binary for each (8.0 also runs on 8.6 and 8.9), and PTX of one for later GPUs.
_BINARY = ["75", "80", "90", "100", "120"]
_PTX = "90"

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
