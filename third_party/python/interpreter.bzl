"""@dovetail_python: the interpreter that the extension module and the wheel are built for.

It has the interpreter (:python3.sh), its C headers (:headers) and, in defs.bzl, the constants EXT_SUFFIX, WHEEL_TAG and
FREE_THREADED. It installs nothing, so a wheel can be built for any interpreter:

    ./bazelw build //python:wheel --repo_env=DOVETAIL_PYTHON=/usr/bin/python3.12
"""

load("//third_party/python:pypi.bzl", "PYTHON_ENVIRON", "find_python", "launcher", "run")

_PROBE = """
import os, sys, sysconfig
free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
version = "cp%d%d" % sys.version_info[:2]
platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
print(sys.executable)
print(sysconfig.get_paths()["include"])
print(sysconfig.get_config_var("EXT_SUFFIX"))
print("%s-%s%s-%s" % (version, version, "t" if free_threaded else "", platform))
print(free_threaded)
"""

_BUILD = """# The headers of {python}.
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

exports_files(["python3.sh"])

cc_library(
    name = "headers",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
)
"""

_DEFS = '''"""Properties of the interpreter that this build is for."""

EXT_SUFFIX = {suffix}
WHEEL_TAG = {tag}
FREE_THREADED = {free_threaded}
'''

def _python_interpreter_impl(rctx):
    python, include, suffix, tag, free_threaded = run(
        rctx,
        [find_python(rctx), "-c", _PROBE],
        "asking Python about itself",
    ).strip().split("\n")
    if not rctx.path(include + "/Python.h").exists:
        fail("%s has no Python.h in %s (Debian and Ubuntu: apt-get install python3-dev)" % (python, include))
    rctx.symlink(include, "include")
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
    environ = PYTHON_ENVIRON + ["PATH"],
)
