"""nlohmann's JSON library, as @nlohmann_json//:json. interop/arrow reads with it the parameters of extension types."""

load("//third_party/debian:source.bzl", "debian_source")

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "json",
    hdrs = glob(["include/**"]),
    includes = ["include"],
    visibility = ["//visibility:public"],
)
"""

def json(name):
    debian_source(
        name = name,
        build = _BUILD,
        package = "nlohmann-json3",
        sha256 = "d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273",
        strip_prefix = "json-3.11.2",
        url_sha256 = "d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273",
        urls = ["https://github.com/nlohmann/json/archive/refs/tags/v3.11.2.tar.gz"],
    )
