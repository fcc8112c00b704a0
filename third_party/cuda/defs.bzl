"""cuda_fatbin: compiles one CUDA source and embeds the code in the program as data.

    cuda_fatbin(name = "kernels_fatbin", src = "//devices/gpu/kernels:kernels.cu", symbol = "kKernelsFatbin")

makes the fat binary and kernels_fatbin.inc, which defines kKernelsFatbin and kKernelsFatbinBytes
(bazel/device_code.bzl). Without a compiler the data are empty and kKernelsFatbinBytes is 0.
"""

load("@dovetail_cuda//:defs.bzl", "NVCC")
load("//bazel:device_code.bzl", "embed_command", "include_root_commands")

# Compute capabilities: a binary for each (8.0 also runs on 8.6 and 8.9), and PTX of one for later GPUs.
_BINARY = ["75", "80", "90", "100", "120"]
_PTX = "90"

def cuda_fatbin(name, src, symbol, deps = [], **kwargs):
    """Compiles a source and embeds it.

    Args:
      name: of the rule; <name>.inc is what programs include.
      src: label of the source, as //package:file.
      symbol: C++ name of the data.
      deps: labels of the headers, included as dovetail/<package>/<header>.
      **kwargs: of the genrule.
    """
    if not NVCC:
        native.genrule(name = name, outs = [name + ".inc"], cmd = embed_command(None, "$@", symbol), **kwargs)
        return
    targets = ["-gencode arch=compute_{0},code=sm_{0}".format(a) for a in _BINARY]
    targets.append("-gencode arch=compute_{0},code=compute_{0}".format(_PTX))
    fatbin = "$(location %s.fatbin)" % name
    native.genrule(
        name = name,
        srcs = [src, "@dovetail_cuda//:compiler.txt"] + deps,
        outs = [name + ".fatbin", name + ".inc"],
        cmd = " && ".join(include_root_commands(src) + [
            "%s -fatbin -Xfatbin -compress-all -O3 -std=c++20 -I$$include %s $$source -o %s" % (NVCC, " ".join(targets), fatbin),
            embed_command(fatbin, "$(location %s.inc)" % name, symbol),
        ]),
        **kwargs
    )
