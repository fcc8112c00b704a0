"""@zig: compilers that make wheels for other Linux machines, of x86-64 and AArch64, with older C libraries.

    ./bazelw build --config=manylinux_aarch64 //python:wheel

Zig's wheel has clang, lld, and the sources of libc++ and of glibc's interfaces. Libraries are linked against glibc 2.28,
with libc++ inside and libgcc_s outside (sysroot.sh). Programs are not linked: there is no crt1.o.
"""

load("//third_party/python:pypi.bzl", "run", "unpack_wheel")

# The oldest glibc that the wheels run with.
GLIBC = "2.28"

_LOCK = "//third_party/zig:requirements.lock"

CPUS = ["aarch64", "x86_64"]

_BUILD = """load("@dovetail//third_party/zig:toolchain.bzl", "zig_toolchain")

package(default_visibility = ["//visibility:public"])
"""

_TOOLCHAIN = """
zig_toolchain(
    name = "{cpu}",
    include_directory = "{include}",
)
"""

def _zig_impl(rctx):
    reason = unpack_wheel(rctx, "ziglang", _LOCK)
    if reason:
        fail("Zig could not be downloaded from the package index:\n" + reason)
    run(rctx, ["chmod", "+x", "wheel/ziglang/zig"], "chmod")
    for cpu in CPUS:
        rctx.report_progress("compiling libc++ for " + cpu)
        run(rctx, ["bash", str(rctx.path(rctx.attr.script)), cpu, GLIBC], "making the libraries for " + cpu)
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    include = str(rctx.path("wheel/ziglang/lib"))
    rctx.file("BUILD", _BUILD + "".join([_TOOLCHAIN.format(cpu = cpu, include = include) for cpu in CPUS]))

zig = repository_rule(
    implementation = _zig_impl,
    attrs = {
        "lock": attr.label(default = Label(_LOCK)),
        "script": attr.label(default = Label("//third_party/zig:sysroot.sh")),
    },
    environ = ["PATH"],
)
