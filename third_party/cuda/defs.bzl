"""cuda_fatbin: compiles one CUDA source and embeds the code in the program as data.

    cuda_fatbin(name = "kernels_fatbin", src = "kernels.cu", symbol = "kKernelsFatbin")

makes kernels_fatbin.inc, which defines `static const unsigned char kKernelsFatbin[]`.
"""

load("@dovetail_cuda//:defs.bzl", "CUDA_HOME")

# One binary for each of these, and the newest as PTX for what comes later.
_ARCHITECTURES = ["75", "80", "90", "100"]

def cuda_fatbin(name, src, symbol, deps = [], **kwargs):
    """Compiles `src` (which may include the headers in `deps`) and embeds it under the name `symbol`."""
    targets = ["-gencode arch=compute_{0},code=sm_{0}".format(a) for a in _ARCHITECTURES]
    targets.append("-gencode arch=compute_{0},code=compute_{0}".format(_ARCHITECTURES[-1]))
    native.genrule(
        name = name,
        srcs = [src, "@dovetail_cuda//:compiler.txt"] + deps,
        outs = [name + ".fatbin", name + ".inc"],
        cmd = " && ".join([
            "{home}/bin/nvcc -fatbin -O3 -std=c++17 -I. {targets} $(location {src}) -o $(location {name}.fatbin)",
            "{home}/bin/bin2c --const --static --name {symbol} --padd 0 $(location {name}.fatbin) >$(location {name}.inc)",
        ]).format(home = CUDA_HOME, targets = " ".join(targets), src = src, name = name, symbol = symbol),
        **kwargs
    )
