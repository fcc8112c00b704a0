"""@rules_shell for Bazel releases with built-in shell rules: the same loads give the native rules."""

_RULES = ["sh_binary", "sh_library", "sh_test"]

def _rules_shell_impl(rctx):
    rctx.file("WORKSPACE", 'workspace(name = "rules_shell")\n')
    rctx.file("shell/BUILD", "")
    for rule in _RULES:
        rctx.file("shell/%s.bzl" % rule, "{0} = native.{0}\n".format(rule))

rules_shell = repository_rule(implementation = _rules_shell_impl)
