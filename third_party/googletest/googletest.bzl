"""GoogleTest and GoogleMock, as @com_google_googletest."""

load("//third_party/debian:source.bzl", "debian_source")

# Debian's archive is identical to upstream's, so one checksum serves both.
_SHA256 = "81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2"

def googletest(name):
    debian_source(
        name = name,
        package = "googletest",
        sha256 = _SHA256,
        strip_prefix = "googletest-release-1.12.1",
        url_sha256 = _SHA256,
        urls = ["https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz"],
    )
