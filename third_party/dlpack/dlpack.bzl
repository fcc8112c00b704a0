"""DLPack's header, as @dlpack//:dlpack, included as "dlpack/dlpack.h".

It uses the system's header if that is new enough (Debian: libdlpack-dev). Otherwise it uses the header in the
apache-tvm-ffi package, whose version the lock file pins, or the project's own release.
"""

load("//third_party/python:pypi.bzl", "unpack_wheel")

_MINIMUM = (1, 3)

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

exports_files(["include/dlpack/dlpack.h"])

cc_library(
    name = "dlpack",
    hdrs = ["include/dlpack/dlpack.h"],
    includes = ["include"],
    visibility = ["//visibility:public"],
)
"""

def _version(header):
    numbers = {}
    for line in header.split("\n"):
        words = [word for word in line.split(" ") if word]
        if len(words) == 3 and words[0] == "#define" and words[1].startswith("DLPACK_"):
            numbers[words[1]] = words[2]
    return int(numbers["DLPACK_MAJOR_VERSION"]), int(numbers["DLPACK_MINOR_VERSION"])

def _take_system(rctx):
    header = rctx.path("/usr/include/dlpack/dlpack.h")
    if not header.exists or _version(rctx.read(header)) < _MINIMUM:
        return False
    rctx.file("include/dlpack/dlpack.h", rctx.read(header), executable = False)
    return True

def _take_package(rctx):
    if not rctx.which("python3") or unpack_wheel(rctx, "apache-tvm-ffi"):
        return False
    rctx.file("include/dlpack/dlpack.h", rctx.read("wheel/tvm_ffi/include/dlpack/dlpack.h"), executable = False)
    rctx.delete("wheel")
    return True

def _take_release(rctx):
    rctx.download_and_extract(
        "https://github.com/dmlc/dlpack/archive/refs/tags/v1.3.tar.gz",
        sha256 = "f3d567f885f6c142183afc91a58873b31d0e0b36faa2e45c232b98c74596404f",
        stripPrefix = "dlpack-1.3",
    )

def _dlpack_impl(rctx):
    if not (_take_system(rctx) or _take_package(rctx)):
        _take_release(rctx)
    version = _version(rctx.read("include/dlpack/dlpack.h"))
    if version < _MINIMUM:
        fail("dlpack.h has version %d.%d; Dovetail needs %d.%d or later" % (version + _MINIMUM))
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD)

dlpack = repository_rule(
    implementation = _dlpack_impl,
    environ = ["PATH"],
)
