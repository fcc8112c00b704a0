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

def _unpacked_corpus_impl(ctx):
    archive = ctx.file.archive
    folder = ctx.actions.declare_directory("corpus/" + archive.basename[:-len(".zip")])
    ctx.actions.run(
        arguments = [ctx.file._script.path, "unpack", archive.path, folder.path],
        executable = ctx.executable._python,
        inputs = [archive, ctx.file._script],
        mnemonic = "UnpackCorpus",
        outputs = [folder],
        tools = [ctx.executable._python],
    )
    return [DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles([folder]))]

_unpacked_corpus = rule(
    implementation = _unpacked_corpus_impl,
    attrs = {
        "archive": attr.label(allow_single_file = [".zip"], mandatory = True),
        "_python": attr.label(
            allow_single_file = True,
            cfg = "exec",
            default = "@dovetail_python//:python3.sh",
            executable = True,
        ),
        "_script": attr.label(allow_single_file = True, default = "//tests/fuzz:corpus.py"),
    },
    doc = "corpus/<target>, the folder of a target's inputs, from corpus/<target>.zip.",
)

def fuzz_target(name, deps):
    """<name>.cc defines LLVMFuzzerTestOneInput; its corpus is corpus/<name>.zip (corpus.py)."""
    _unpacked_corpus(
        name = name + "_corpus",
        archive = "corpus/" + name + ".zip",
    )
    cc_test(
        name = name,
        size = "small",
        srcs = [name + ".cc"],
        # libFuzzer runs the corpus once for "-runs=0"; replay_main ignores it.
        args = ["-runs=0", "tests/fuzz/corpus/" + name],
        copts = WARNINGS,
        data = [name + "_corpus"],
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
