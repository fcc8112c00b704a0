"""Fuzz targets: each is a test that runs its corpus and some thousands of pseudo-random inputs.

With --config=fuzz, libFuzzer's main() takes the place of replay_main.cc (tools/fuzz).
"""

load("@rules_cc//cc:defs.bzl", "cc_test")
load("//bazel:cc.bzl", "WARNINGS")

_MODEL_COPTS = [
    "-fno-sanitize=all",
    "-O2",
]

# Of code that only computes what the library should: libFuzzer looks for new paths in the library alone, and gets more
# inputs done.
MODEL_COPTS = select({
    "//tests/fuzz:engine": _MODEL_COPTS,
    "//tests/fuzz:libfuzzer": _MODEL_COPTS,
    "//conditions:default": [],
})

def fuzz_target(name, deps):
    """<name>.cc defines LLVMFuzzerTestOneInput; its corpus is in corpus/<name>."""
    cc_test(
        name = name,
        size = "small",
        srcs = [name + ".cc"],
        # libFuzzer runs the corpus once for "-runs=0"; replay_main ignores it.
        args = ["-runs=0", "tests/fuzz/corpus/" + name],
        copts = WARNINGS,
        data = native.glob(["corpus/" + name + "/*"]),
        linkopts = select({
            ":libfuzzer": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        linkstatic = True,
        deps = deps + [":input", ":require"] + select({
            ":engine": [],
            ":libfuzzer": [],
            "//conditions:default": [":replay_main"],
        }),
    )
