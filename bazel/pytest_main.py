"""The main program of every dovetail_py_test: runs pytest over the given files.

It translates Bazel's settings for pytest: the report file (XML_OUTPUT_FILE, one entry per test
case), the filter (--test_filter=EXPRESSION becomes `-k EXPRESSION`), the scratch directory and, for
a test in shards, which of the files are this process's.
Under a sanitizer it restarts Python with the sanitizer's libraries loaded first.
"""

import os
import pathlib
import sys

# Further sanitizer options for Python: the interpreter leaks; Paddle frees with another operator
# than it allocates with; some tests request more memory than there is; and ThreadSanitizer does not
# see the synchronisation of libraries built without it.
ASAN_OPTIONS = "detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1"
TSAN_OPTIONS = "ignore_noninstrumented_modules=1:allocator_may_return_null=1"


def load_sanitizer_first() -> None:
    with open("bazel/sanitizer_runtime.txt") as names:
        libraries = names.read().split()
    if not libraries or "LD_PRELOAD" in os.environ:
        return
    os.environ["LD_PRELOAD"] = ":".join(libraries)
    for name, more in {"ASAN_OPTIONS": ASAN_OPTIONS, "TSAN_OPTIONS": TSAN_OPTIONS}.items():
        os.environ[name] = f"{os.environ.get(name, '')}:{more}"
    os.execv(sys.executable, sys.orig_argv)


def share(arguments):
    """The arguments without the files of other shards."""
    if status := os.environ.get("TEST_SHARD_STATUS_FILE"):
        pathlib.Path(status).touch()  # says that this program knows of shards
    count = int(os.environ.get("TEST_TOTAL_SHARDS", 1))
    index = int(os.environ.get("TEST_SHARD_INDEX", 0))
    files = [argument for argument in arguments if argument.endswith(".py")]
    others = {file for i, file in enumerate(files) if i % count != index}
    return [argument for argument in arguments if argument not in others]


def main() -> int:
    load_sanitizer_first()
    import pytest

    arguments = ["-p", "no:cacheprovider", "--color=no", "-ra", f"--rootdir={os.getcwd()}"]
    if report := os.environ.get("XML_OUTPUT_FILE"):
        arguments.append(f"--junitxml={report}")
    if scratch := os.environ.get("TEST_TMPDIR"):
        arguments.append(f"--basetemp={scratch}/pytest")
    if selection := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        arguments += ["-k", selection]
    return pytest.main(arguments + share(sys.argv[1:]))


if __name__ == "__main__":
    status = main()
    if "paddle" in sys.modules:
        # Paddle 3.3.1 frees statics twice at exit, which can abort after all tests have passed.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
