"""device_library: compiles and links a kernel library with kernels for GPUs by a vendor's compiler, nvcc or hipcc.

third_party/cuda/defs.bzl and third_party/hip/defs.bzl have the rules for each vendor. Without a compiler (device_code.bzl) the
library is an empty file.
"""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//bazel:device_code.bzl", "ArchitecturesInfo")

# Arguments: a file with the toolkit's folder or "", whose libraries are linked, and the command.
_LINK = """
if [ -n "$1" ]; then export LIBRARY_PATH=$(cat "$1")/lib; fi
shift
env "$@"
"""

def _device_library_impl(ctx):
    library = ctx.actions.declare_file(ctx.label.name + ".so")
    compiler = ctx.attr.compiler[DefaultInfo].files_to_run
    if not compiler.executable:
        ctx.actions.write(library, "")
        return DefaultInfo(files = depset([library]), runfiles = ctx.runfiles([library]))
    headers = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context
    folders = depset(transitive = [headers.includes, headers.quote_includes, headers.system_includes]).to_list()
    architectures = ctx.attr.architectures[ArchitecturesInfo].names or ctx.attr.default_architectures
    sources = [file for file in ctx.files.srcs if file.extension != "h"]
    ctx.actions.run_shell(
        outputs = [library],
        inputs = depset(ctx.files.srcs + ctx.files.home + [ctx.file.exports], transitive = [headers.headers]),
        tools = [compiler],
        command = _LINK,
        arguments = [ctx.file.home.path if ctx.file.home else ""] + ctx.attr.environment + [
            compiler.executable.path,
        ] + ctx.attr.copts + [
            flag.replace("{}", architecture)
            for architecture in architectures
            for flag in ctx.attr.architecture_copts
        ] + ["-D" + define for define in headers.defines.to_list()] + [
            "-I" + folder
            for folder in folders
        ] + ctx.attr.linkopts + [
            ctx.attr.linker_flag + "--version-script=" + ctx.file.exports.path,
        ] + [source.path for source in sources] + ["-o", library.path],
        mnemonic = "DeviceLibrary",
        progress_message = "Compiling %s for GPUs" % ctx.label.name,
        use_default_shell_env = True,
    )
    return DefaultInfo(files = depset([library]), runfiles = ctx.runfiles([library]))

# Makes <name>.so, which exports what a kernel library exports.
device_library = rule(
    implementation = _device_library_impl,
    attrs = {
        "architecture_copts": attr.string_list(doc = "for each architecture, which replaces {}"),
        "architectures": attr.label(doc = "the flag", mandatory = True, providers = [ArchitecturesInfo]),
        "compiler": attr.label(allow_files = True, mandatory = True),  # as in device_code
        "copts": attr.string_list(),
        "default_architectures": attr.string_list(),
        "deps": attr.label_list(doc = "C++ libraries, of which only headers are used", providers = [CcInfo]),
        "environment": attr.string_list(doc = "NAME=value"),
        "exports": attr.label(allow_single_file = True, default = "//bazel:kernels.lds"),
        "home": attr.label(allow_single_file = True, doc = "a file with the toolkit's folder"),
        "linker_flag": attr.string(doc = "before a flag of the linker"),
        "linkopts": attr.string_list(),
        "srcs": attr.label_list(allow_files = True, mandatory = True),
    },
)
