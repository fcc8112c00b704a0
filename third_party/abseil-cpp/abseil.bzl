"""Abseil, as @com_google_absl: the standard library's missing pieces (Status, StatusOr, Span, …)."""

load("//third_party/debian:source.bzl", "debian_source")

def abseil(name):
    debian_source(
        name = name,
        package = "abseil",
        sha256 = "abfe2897f3a30edaa74bc34365afe3c2a3cd012091a97dc7e008f7016adcd5fe",
        strip_prefix = "abseil-cpp-20220623.1",
        url_sha256 = "91ac87d30cc6d79f9ab974c51874a704de9c2647c40f6932597329a282217ba8",
        urls = ["https://github.com/abseil/abseil-cpp/archive/refs/tags/20220623.1.tar.gz"],
    )
