"""@dovetail_docs: Sphinx with its theme and extensions, in a virtual environment of its own.

bin/python is its interpreter, of the same version as the one that the extension module is built for. Only //docs/site
depends on it. Doxygen, which it calls, is a Debian package that bazelw installs.
"""

load("//third_party/python:pypi.bzl", "PYTHON_ENVIRON", "find_python", "launcher", "run")

_BUILD = """package(default_visibility = ["//visibility:public"])

exports_files(["bin/python"])
"""

def _docs_tools_impl(rctx):
    rctx.report_progress("installing Sphinx")
    run(
        rctx,
        [find_python(rctx), "-m", "venv", "venv"],
        "python3 -m venv (Debian and Ubuntu: apt-get install python3-venv)",
    )
    python = str(rctx.path("venv/bin/python"))
    pip = [python, "-m", "pip", "--no-input", "--disable-pip-version-check"]
    install = pip + ["install", "--quiet", "--only-binary=:all:", "--require-hashes", "--no-deps", "--requirement"]
    run(rctx, install + [str(rctx.path(rctx.attr.lock))], "pip install of Sphinx")
    versions = run(rctx, pip + ["freeze"], "pip freeze")
    launcher(rctx, "bin/python", python, " ".join(versions.split("\n")))
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD)

docs_tools = repository_rule(
    implementation = _docs_tools_impl,
    attrs = {"lock": attr.label(default = Label("//third_party/docs:requirements.lock"))},
    environ = PYTHON_ENVIRON + ["PATH"],
)
