"""device_code: compiles one source for GPUs and embeds the code in the program as data.

third_party/cuda/defs.bzl and third_party/hip/defs.bzl have the rules for each vendor. The compiler is a target, so that a
flag can name a toolchain's (//devices/cuda:nvcc, //devices/rocm:hipcc). Without one the data are empty, and programs
compile the same source.
"""

ArchitecturesInfo = provider("The GPUs to compile for.", fields = {"names": "list of the vendor's names"})

def _device_architectures_impl(ctx):
    return ArchitecturesInfo(names = ctx.build_setting_value)

# A flag of comma-separated names. Without any, the rule's own default is used.
device_architectures = rule(
    implementation = _device_architectures_impl,
    build_setting = config.string_list(flag = True),
)

# Writes the data as C++. Arguments: the code's file or "", the symbol, the architectures, the output.
_EMBED = """
if [ -n "$1" ]; then size=$(stat -L -c %s "$1"); else size=0; fi
{
  echo "alignas(16) static const unsigned char $2[] = {"
  if [ -n "$1" ]; then od -An -v -tx1 "$1" | sed 's/ \\(..\\)/0x\\1,/g'; else echo 0; fi
  echo "};"
  echo "static const unsigned long $2Bytes = $size;"
  echo "static const char $2Architectures[] = \\"$3\\";"
} >"$4"
"""

# In the sources' includes this repository is a folder named dovetail. Arguments: the repository, the output, the source, the
# environment, the compiler and its flags.
_COMPILE = """
set -e
include=$(mktemp -d)
trap 'rm -r "$include"' EXIT
ln -s "$PWD/$1" "$include/dovetail"
output=$2 source=$3
shift 3
env "$@" -I"$include" "$source" -o "$output"
"""

def _device_code_impl(ctx):
    code = None
    architectures = []
    if ctx.attr.compiler[DefaultInfo].files_to_run.executable:
        architectures = ctx.attr.architectures[ArchitecturesInfo].names or ctx.attr.default_architectures
        code = ctx.actions.declare_file(ctx.label.name + ".bin")
        compiler = ctx.attr.compiler[DefaultInfo].files_to_run
        ctx.actions.run_shell(
            outputs = [code],
            inputs = depset([ctx.file.src], transitive = [target[DefaultInfo].files for target in ctx.attr.deps]),
            tools = [compiler],
            command = _COMPILE,
            arguments = [
                ctx.attr.src.label.workspace_root or ".",
                code.path,
                ctx.file.src.path,
            ] + ctx.attr.environment + [compiler.executable.path] + ctx.attr.copts + [
                flag.replace("{}", architecture)
                for architecture in architectures
                for flag in ctx.attr.architecture_copts
            ] + ctx.attr.last_copts,
            mnemonic = "DeviceCompile",
            progress_message = "Compiling %s for GPUs" % ctx.file.src.short_path,
            use_default_shell_env = True,
        )
    inc = ctx.actions.declare_file(ctx.label.name + ".inc")
    ctx.actions.run_shell(
        outputs = [inc],
        inputs = [code] if code else [],
        command = _EMBED,
        arguments = [code.path if code else "", ctx.attr.symbol, " ".join(architectures), inc.path],
        mnemonic = "DeviceEmbed",
        progress_message = "Embedding %s" % inc.short_path,
    )
    return DefaultInfo(files = depset([inc]))

# Makes <name>.inc, which defines `static const unsigned char <symbol>[]`, aligned to 16 bytes, its size <symbol>Bytes,
# which is 0 without a compiler, and <symbol>Architectures, such as "gfx906 gfx90a".
device_code = rule(
    implementation = _device_code_impl,
    attrs = {
        "architecture_copts": attr.string_list(doc = "for each architecture, which replaces {}"),
        "architectures": attr.label(doc = "the flag", mandatory = True, providers = [ArchitecturesInfo]),
        # Not in the execution configuration: there Bazel before 8 forgets the flag that names the compiler.
        "compiler": attr.label(allow_files = True, mandatory = True),
        "copts": attr.string_list(),
        "default_architectures": attr.string_list(),
        "deps": attr.label_list(doc = "headers, included as dovetail/<package>/<header>", allow_files = True),
        "environment": attr.string_list(doc = "NAME=value"),
        "last_copts": attr.string_list(),
        "src": attr.label(allow_single_file = True, mandatory = True),
        "symbol": attr.string(doc = "C++ name of the data", mandatory = True),
    },
)
