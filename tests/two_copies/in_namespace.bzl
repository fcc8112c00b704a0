"""A target as it is in a build with --//:inline_namespace=NAME, without optimisation: all that it needs is compiled anew."""

_FLAG = "//:inline_namespace"
_MODE = "//command_line_option:compilation_mode"

def _transition_impl(_settings, attr):
    return {_FLAG: attr.inline_namespace, _MODE: "fastbuild"}

_in_namespace = transition(
    implementation = _transition_impl,
    inputs = [],
    outputs = [_FLAG, _MODE],
)

def _impl(ctx):
    file = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = file, target_file = ctx.file.target)
    return [DefaultInfo(files = depset([file]), runfiles = ctx.runfiles([file]))]

in_namespace = rule(
    implementation = _impl,
    attrs = {
        "inline_namespace": attr.string(mandatory = True),
        "target": attr.label(mandatory = True, allow_single_file = True, cfg = _in_namespace),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)
