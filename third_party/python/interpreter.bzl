"""@dovetail_python: the interpreter that the extension module and the wheel are built for.

It has the interpreter (:python3.sh), its C headers (:headers), the parts of file names that depend on it (:names, a
TemplateVariableInfo with EXT_SUFFIX and WHEEL_TAG) and, in defs.bzl, the constant FREE_THREADED. It installs nothing, so a
wheel can be built for any interpreter:

    ./bazelw build //python:wheel --repo_env=DOVETAIL_PYTHON=/usr/bin/python3.12

DOVETAIL_WHEEL_PLATFORM is the platform of a wheel for other machines, such as manylinux_2_28_aarch64 (.bazelrc sets it).
The headers are those of this machine's interpreter: Python's configuration of x86-64 and of AArch64 differ in nothing
that its headers read.
"""

load("//third_party/python:pypi.bzl", "PYTHON_ENVIRON", "find_python", "launcher", "run")

_PROBE = """
import sys, sysconfig
free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
version = "cp%d%d" % sys.version_info[:2]
platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
print(sys.executable)
print(sysconfig.get_paths()["include"])
print(sysconfig.get_config_var("EXT_SUFFIX"))
print("%s-%s%s-%s" % (version, version, "t" if free_threaded else "", platform))
print(free_threaded)
print(sysconfig.get_config_var("MULTIARCH"))
"""

_BUILD = """# The headers of {python}.
load("@rules_cc//cc:defs.bzl", "cc_library")
load(":defs.bzl", "names")

package(default_visibility = ["//visibility:public"])

exports_files(["python3.sh"])

names(name = "names")

cc_library(
    name = "headers",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
)
"""

_DEFS = '''"""Properties of the interpreter that this build is for."""

FREE_THREADED = {free_threaded}

def _names_impl(ctx):
    return [platform_common.TemplateVariableInfo(dict(
        EXT_SUFFIX = {suffix},
        WHEEL_TAG = {tag},
    ))]

names = rule(implementation = _names_impl)
'''

def _for_platform(platform, suffix, tag):
    """The extension's suffix and the wheel's tag for another platform than this machine's."""
    cpu = platform.split("_", 3)[3]
    this_cpu = "aarch64" if "aarch64" in suffix else "x86_64"
    return suffix.replace(this_cpu, cpu), "-".join(tag.split("-")[:2] + [platform])

def _python_interpreter_impl(rctx):
    python, include, suffix, tag, free_threaded, multiarch = run(
        rctx,
        [find_python(rctx), "-c", _PROBE],
        "asking Python about itself",
    ).strip().split("\n")
    if not rctx.path(include + "/Python.h").exists:
        fail("%s has no Python.h in %s (Debian and Ubuntu: apt-get install python3-dev)" % (python, include))
    platform = rctx.os.environ.get("DOVETAIL_WHEEL_PLATFORM", "")
    if platform:
        suffix, tag = _for_platform(platform, suffix, tag)
    for entry in rctx.path(include).readdir():
        rctx.symlink(entry, "include/" + entry.basename)

    # Debian's pyconfig.h includes <x86_64-linux-gnu/python3.11/pyconfig.h> or that of another processor.
    configuration = "/usr/include/%s/%s" % (multiarch, rctx.path(include).basename)
    if rctx.path(configuration).exists:
        for cpu in ["x86_64", "aarch64"]:
            rctx.symlink(configuration, "include/%s-linux-gnu/%s" % (cpu, rctx.path(include).basename))
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD.format(python = python))
    launcher(rctx, "python3.sh", python)
    rctx.file("defs.bzl", _DEFS.format(
        suffix = repr(suffix),
        tag = repr(tag),
        free_threaded = free_threaded,
    ))

python_interpreter = repository_rule(
    implementation = _python_interpreter_impl,
    environ = PYTHON_ENVIRON + ["DOVETAIL_WHEEL_PLATFORM", "PATH"],
)
