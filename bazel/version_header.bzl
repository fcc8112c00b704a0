"""dovetail_version_library: makes a C++ header of the version in bazel/version.bzl.

    dovetail_version_library(name = "version")      # in core/BUILD: #include "dovetail/core/version.h"
"""

load("//bazel:cc.bzl", "dovetail_cc_library")
load("//bazel:version.bzl", "VERSION")

_HEADER = """// The version of Dovetail. The build makes this file from bazel/version.bzl:
//
//   static_assert(DOVETAIL_VERSION_MAJOR == {major});
//   std::puts(DOVETAIL_VERSION_STRING);  // {version}
#ifndef {guard}
#define {guard}

#define DOVETAIL_VERSION_MAJOR {major}
#define DOVETAIL_VERSION_MINOR {minor}
#define DOVETAIL_VERSION_PATCH {patch}
#define DOVETAIL_VERSION_STRING "{version}"

#endif  // {guard}
"""

def dovetail_version_library(name, **kwargs):
    """A library of one generated header, <name>.h, with the macros DOVETAIL_VERSION_*."""
    major, minor, patch = VERSION.split(".")
    header = name + ".h"
    text = _HEADER.format(
        guard = "DOVETAIL_%s_%s_H_" % (native.package_name().replace("/", "_").upper(), name.upper()),
        major = major,
        minor = minor,
        patch = patch,
        version = VERSION,
    )
    native.genrule(
        name = name + "_header",
        outs = [header],
        cmd = "cat >$@ <<'END_OF_HEADER'\n%sEND_OF_HEADER" % text,
    )
    dovetail_cc_library(
        name = name,
        hdrs = [header],
        **kwargs
    )
