"""hip_code_object: compiles one HIP source and embeds the code in the program as data.

    hip_code_object(name = "kernels_hip", src = "//devices/gpu/kernels:kernels.cu", symbol = "kKernelsHip")

makes kernels_hip.inc, which defines kKernelsHip, kKernelsHipBytes (bazel/device_code.bzl) and kKernelsHipArchitectures,
the GPUs that it is for ("gfx906 gfx90a"). Without a compiler the data are empty and kKernelsHipBytes is 0.
"""

load("@dovetail_hip//:defs.bzl", "ARCHITECTURES", "HIPCC")
load("//bazel:device_code.bzl", "embed_command", "include_root_commands")

def hip_code_object(name, src, symbol, deps = [], **kwargs):
    """Compiles a source and embeds it.

    Args:
      name: of the rule; <name>.inc is what programs include.
      src: label of the source, as //package:file.
      symbol: C++ name of the data.
      deps: labels of the headers, included as dovetail/<package>/<header>.
      **kwargs: of the genrule.
    """
    inc = "$(location %s.inc)" % name
    architectures = "echo 'static const char %sArchitectures[] = \"%s\";' >>%s" % (symbol, " ".join(ARCHITECTURES), inc)
    if not HIPCC:
        native.genrule(
            name = name,
            outs = [name + ".inc"],
            cmd = embed_command(None, inc, symbol) + " && " + architectures,
            **kwargs
        )
        return
    code = "$(location %s.hsaco)" % name
    targets = " ".join(["--offload-arch=" + a for a in ARCHITECTURES])
    native.genrule(
        name = name,
        srcs = [src, "@dovetail_hip//:compiler.txt"] + deps,
        outs = [name + ".hsaco", name + ".inc"],
        cmd = " && ".join(include_root_commands(src) + [
            "HIP_PLATFORM=amd %s --genco -O3 -std=c++20 -I$$include %s -x hip $$source -o %s" % (HIPCC, targets, code),
            embed_command(code, inc, symbol),
            architectures,
        ]),
        **kwargs
    )
