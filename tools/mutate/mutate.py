"""Plants small faults in C++ sources and shows which the tests don't find.

    ./bazelw run //tools/mutate -- core/uses.cc core/layout.cc --tests //core/...

All faults of the sources are compiled at once, each behind a number. A first run of the tests
records which of them reach which fault; then each fault is activated alone, and the tests that
reach it run until one fails. A fault that no test reaches, or with which all pass, survives, and is
listed.

While it runs, the sources in the working tree contain the faults. They must have no uncommitted
change; they are restored at the end. `--sample N` tries N faults that are drawn at random, the same
ones each time.
"""

import argparse
import collections
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import compile_commands
import places
import rewrite

# Says which fault is active. The programs with faults read it.
STATE = pathlib.Path.home() / ".cache/dovetail/mutate"

TESTS_FAILED = 3  # Bazel's exit code


def bazel(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(["bazel", *arguments], capture_output=True, text=True, **options)


class Faults:
    """The numbered faults of some sources."""

    def __init__(self, sources: list[str], tests: str, workspace: pathlib.Path):
        # The build makes the links that include paths lead to.
        built = bazel("build", *bazel("query", f"tests({tests})").stdout.split())
        if built.returncode != 0:
            raise SystemExit(f"mutate: the tests don't build:\n{built.stdout}{built.stderr}")
        entries = compile_commands.compile_commands(str(workspace), [], f"deps({tests})")
        arguments = {os.path.relpath(entry["file"], workspace): entry for entry in entries}
        self.of_source: dict[str, dict[int, places.Place]] = {}
        self.source_of: list[str] = []
        for source in sources:
            if source not in arguments:
                raise SystemExit(f"mutate: {source} is no source of a C++ target")
            entry = arguments[source]
            os.chdir(entry["directory"])  # include paths are relative to it
            flags = [word for word in entry["arguments"][1:] if word not in ("-c", entry["file"])]
            finder = places.Finder(entry["file"], flags)
            first = len(self.source_of)
            found = finder.places()
            self.of_source[source] = dict(enumerate(found, first))
            self.source_of += [source] * len(found)
        os.chdir(workspace)

    def __len__(self) -> int:
        return len(self.source_of)

    def describe(self, number: int) -> str:
        source = self.source_of[number]
        place = self.of_source[source][number]
        return f"{source}:{place.line}: {place.fault}: {place.text[:90]}"


class Runner:
    """Runs tests of the sources with faults."""

    def __init__(self, sources: list[str], tests: str):
        self.flags = [
            "--strategy=TestRunner=local",  # the folder is not in a sandbox
            "--nocache_test_results",
            "--notest_keep_going",
            "--test_output=summary",
            "--flaky_test_attempts=1",
            f"--per_file_copt=^({'|'.join(sources)})$@-w,-Wno-error",
        ]
        listed = bazel("query", f"tests({tests})", check=True).stdout
        self.tests = listed.split()

    def run(self, tests: list[str], timeout: int = 900) -> subprocess.CompletedProcess:
        return bazel("test", *self.flags, f"--test_timeout={timeout}", *tests)

    def reached(self) -> dict[int, list[str]]:
        """The tests that reach each fault, if all tests pass without one."""
        (STATE / "reached").touch()
        result = self.run(self.tests)
        if result.returncode != 0:
            raise SystemExit(
                f"mutate: without a fault, the tests fail:\n{result.stdout}{result.stderr}"
            )
        found = collections.defaultdict(list)
        for line in (STATE / "reached").read_text().splitlines():
            number, _, test = line.partition(" ")
            found[int(number)].append(test)
        (STATE / "reached").unlink()
        return {number: list(dict.fromkeys(tests)) for number, tests in found.items()}

    def kills(self, number: int, tests: list[str]) -> bool:
        (STATE / "active").write_text(f"{number}\n")
        # The first test alone: most faults are found there.
        return any(self.fail(some) for some in (tests[:1], tests[1:]) if some)

    def fail(self, tests: list[str]) -> bool:
        result = self.run(tests, timeout=60)
        if result.returncode not in (0, TESTS_FAILED):
            raise SystemExit(f"mutate: Bazel fails:\n{result.stdout}{result.stderr}")
        return result.returncode == TESTS_FAILED


def report(faults: Faults, survivors: list[int], reached, tried: int):
    counts = collections.Counter(faults.source_of[number] for number in survivors)
    for number in survivors:
        why = "survives" if number in reached else "is not reached"
        print(f"{faults.describe(number)}  [{why}]")
    for source, count in sorted(counts.items()):
        print(f"{source}: {count} survive")
    print(f"{tried - len(survivors)} of {tried} faults found ({len(faults)} possible)")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("sources", nargs="+", help="C++ sources, relative to the repository")
    parser.add_argument("--tests", nargs="+", required=True, help="labels or patterns of tests")
    parser.add_argument("--sample", type=int, help="how many faults to try (default: all)")
    options = parser.parse_args()
    workspace = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    os.chdir(workspace)
    if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *options.sources]).returncode != 0:
        raise SystemExit("mutate: commit the sources first, because they are changed and restored")
    tests = " + ".join(options.tests)
    faults = Faults(options.sources, tests, workspace)
    numbers = list(range(len(faults)))
    if options.sample and options.sample < len(numbers):
        numbers = sorted(random.Random(0).sample(numbers, options.sample))
    originals = {source: pathlib.Path(source).read_bytes() for source in options.sources}
    STATE.mkdir(parents=True, exist_ok=True)
    (STATE / "active").unlink(missing_ok=True)
    runner = Runner(options.sources, tests)
    try:
        for source, original in originals.items():
            pathlib.Path(source).write_bytes(
                rewrite.rewrite(original, faults.of_source[source], STATE)
            )
        print(f"{len(numbers)} of {len(faults)} faults, {len(runner.tests)} tests", flush=True)
        reached = runner.reached()
        survivors = []
        for done, number in enumerate(numbers, 1):
            if not runner.kills(number, reached.get(number, [])):
                survivors.append(number)
            if done % 20 == 0:
                print(f"{done} tried, {len(survivors)} survive", flush=True)
    finally:
        for source, original in originals.items():
            pathlib.Path(source).write_bytes(original)
    report(faults, survivors, reached, len(numbers))


if __name__ == "__main__":
    main()
