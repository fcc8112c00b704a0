"""The rule sets that Bazel's built-in WORKSPACE refers to: from Debian's packages, or from their released archives.

Debian's Bazel does not include them; without a declaration it would download them.
"""

def _bazel_rule_set_impl(rctx):
    system = rctx.path(rctx.attr.system_path)
    if system.exists:
        for entry in system.readdir():
            rctx.symlink(entry, entry.basename)
    else:
        rctx.download_and_extract(rctx.attr.url, sha256 = rctx.attr.sha256, stripPrefix = rctx.attr.strip_prefix)

_bazel_rule_set = repository_rule(
    implementation = _bazel_rule_set_impl,
    attrs = {
        "sha256": attr.string(mandatory = True),
        "strip_prefix": attr.string(),
        "system_path": attr.string(mandatory = True),
        "url": attr.string(mandatory = True),
    },
)

_GITHUB = "https://github.com/bazelbuild/"

_RULE_SETS = {
    "bazel_skylib": dict(
        sha256 = "1c531376ac7e5a180e0237938a2536de0c54d93f5c278634818e0efc952dd56c",
        system_path = "/usr/share/bazel/tools/skylib",
        url = _GITHUB + "bazel-skylib/releases/download/1.0.3/bazel-skylib-1.0.3.tar.gz",
    ),
    "platforms": dict(
        sha256 = "079945598e4b6cc075846f7fd6a9d0857c33a7afc0de868c2ccb96405225135d",
        system_path = "/usr/share/bazel/tools/platforms",
        url = _GITHUB + "platforms/releases/download/0.0.4/platforms-0.0.4.tar.gz",
    ),
    "rules_java": dict(
        sha256 = "34b41ec683e67253043ab1a3d1e8b7c61e4e8edefbcad485381328c934d072fe",
        system_path = "/usr/share/bazel/rules/java",
        url = _GITHUB + "rules_java/releases/download/4.0.0/rules_java-4.0.0.tar.gz",
    ),
    "rules_proto": dict(
        sha256 = "66bfdf8782796239d3875d37e7de19b1d94301e8972b3cbd2446b332429b4df1",
        strip_prefix = "rules_proto-4.0.0",
        system_path = "/usr/share/bazel/rules/proto",
        url = _GITHUB + "rules_proto/archive/refs/tags/4.0.0.tar.gz",
    ),
}

def bazel_rules():
    """Declares the rule sets that are not declared yet."""
    for name, attributes in _RULE_SETS.items():
        if native.existing_rule(name) == None:
            _bazel_rule_set(name = name, **attributes)
