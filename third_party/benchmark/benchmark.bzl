"""Google Benchmark, as @com_github_google_benchmark."""

load("//third_party/debian:source.bzl", "debian_source")

# Debian's archive is identical to upstream's, so one checksum serves both.
_SHA256 = "6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7"

def benchmark(name):
    debian_source(
        name = name,
        package = "benchmark",
        sha256 = _SHA256,
        strip_prefix = "benchmark-1.7.1",
        url_sha256 = _SHA256,
        urls = ["https://github.com/google/benchmark/archive/refs/tags/v1.7.1.tar.gz"],
    )
