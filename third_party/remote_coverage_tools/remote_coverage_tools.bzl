"""@remote_coverage_tools: a small script in place of the tool that `bazel coverage` would download."""

def _remote_coverage_tools_impl(rctx):
    rctx.file("WORKSPACE", 'workspace(name = "remote_coverage_tools")\n')
    rctx.symlink(rctx.path(Label("//third_party/remote_coverage_tools:coverage_tool.py")), "coverage_tool.py")
    rctx.file("BUILD", """load("@rules_shell//shell:sh_binary.bzl", "sh_binary")

package(default_visibility = ["//visibility:public"])

sh_binary(
    name = "coverage_report_generator",
    srcs = ["coverage_tool.py"],
)

sh_binary(
    name = "lcov_merger",
    srcs = ["coverage_tool.py"],
)
""")

remote_coverage_tools = repository_rule(implementation = _remote_coverage_tools_impl)
