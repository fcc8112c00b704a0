"""zig_toolchain: a C++ toolchain of @zig for shared libraries on one processor."""

load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")
load("@rules_cc//cc:defs.bzl", "cc_toolchain")

def zig_toolchain(name, include_directory):
    """Declares the toolchain <name>_toolchain, for --extra_toolchains.

    Args:
      name: the processor, "x86_64" or "aarch64". The tools are in the folder of this name (sysroot.sh).
      include_directory: the absolute path below which all system headers are.
    """
    tools = {tool: name + "/bin/cc" for tool in ["cpp", "dwp", "gcc", "gcov", "llvm-cov", "nm", "objcopy", "objdump", "strip"]}
    cc_toolchain_config(
        name = name + "_config",
        abi_libc_version = "unknown",
        abi_version = "unknown",
        compile_flags = [
            "-Wall",
            "-fno-omit-frame-pointer",
        ],
        compiler = "clang",
        cpu = name,
        cxx_builtin_include_directories = [include_directory],
        host_system_name = "local",
        link_flags = [
            "-Wl,-z,relro,-z,now",
            "-Wl,--strip-all",
            "-Wl,--as-needed",
            # No symbol of libc++ is exported, whatever an extension module exports.
            "-Wl,--exclude-libs,ALL",
        ],
        link_libs = [
            "-lc++",
            "-lc++abi",
            "-lgcc_s",
            "-lm",
            "-lpthread",
            "-ldl",
            "-lrt",
            "-lc",
            "-lld",
            "-lc_nonshared",
            "-lcompiler_rt",
        ],
        opt_compile_flags = [
            "-O2",
            "-DNDEBUG",
            "-ffunction-sections",
            "-fdata-sections",
        ],
        opt_link_flags = ["-Wl,--gc-sections"],
        target_libc = "glibc",
        target_system_name = name + "-linux-gnu",
        tool_paths = dict(tools, ar = name + "/bin/ar", ld = name + "/bin/ld"),
        toolchain_identifier = "zig-" + name,
        unfiltered_compile_flags = [
            "-no-canonical-prefixes",
            "-Wno-builtin-macro-redefined",
            "-D__DATE__=\"redacted\"",
            "-D__TIMESTAMP__=\"redacted\"",
            "-D__TIME__=\"redacted\"",
        ],
    )

    # The tools find the compiler itself beside them, outside of the sandbox.
    native.filegroup(
        name = name + "_tools",
        srcs = native.glob([name + "/**"]),
    )
    native.filegroup(
        name = name + "_all",
        srcs = [
            name + "_tools",
            "wheel/ziglang/lib/libcxx/include/__config",  # for bazel/sbom.bzl
        ],
    )
    cc_toolchain(
        name = name + "_compiler",
        all_files = name + "_all",
        ar_files = name + "_tools",
        compiler_files = name + "_tools",
        dwp_files = name + "_tools",
        linker_files = name + "_tools",
        objcopy_files = name + "_tools",
        strip_files = name + "_tools",
        supports_param_files = 1,
        toolchain_config = name + "_config",
    )
    native.toolchain(
        name = name + "_toolchain",
        exec_compatible_with = [
            "@platforms//cpu:x86_64",
            "@platforms//os:linux",
        ],
        target_compatible_with = [
            "@platforms//cpu:" + name,
            "@platforms//os:linux",
        ],
        toolchain = name + "_compiler",
        toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
    )
