"""Lists the benchmarks with the question that each answers, and runs several of them.

./bazelw run //benchmarks                            # the list
./bazelw run //benchmarks -- --all                   # the default set, one after the other
./bazelw run //benchmarks -- exchange exchange_peers --json=new.json

A question is the first sentence of a benchmark's source. --json writes one file for all programs;
its benchmarks are named program:operation/library.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import report

# Of --all, so that it ends within ten minutes. The spread of fewer could not be told.
REPETITIONS = "4"

HOW = f"""
  ./bazelw run //benchmarks:NAME -- [FLAGS]      runs one benchmark
  ./bazelw run //benchmarks -- NAME... [FLAGS]   runs several, one after the other
  ./bazelw run //benchmarks -- --all [FLAGS]     runs all without *, {REPETITIONS} repetitions each
  ./bazelw run //benchmarks:compare -- OLD.json NEW.json

FLAGS: --filter=REGEX, --repetitions=N, --json=FILE. docs/benchmarks.md explains them."""


def question(source):
    """Return the first sentence of a source file's opening comment, up to its question mark."""
    lines = []
    for line in source.read_text().splitlines():
        text = re.sub(r'^(//|#|""")\s*', "", line)
        if not text:
            break
        lines.append(text)
    return " ".join(lines).partition("?")[0] + "?"


def programs(arguments):
    """Return the default set and the others, each as {name: (program, question)}."""
    default, others = {}, {}
    for argument in arguments:
        program, source = argument.lstrip("*").split("=")
        chosen = others if argument.startswith("*") else default
        chosen[pathlib.Path(program).name] = program, question(pathlib.Path(source))
    return default, others


def list_them(default, others):
    """Print a line for each benchmark, and how to run them."""
    both = sorted({**default, **others}.items())
    width = max(len(name) for name, _ in both) + 2
    for name, (_, asked) in both:
        print(f"{name + ('*' if name in others else ''):{width}}{asked}")
    print(HOW)


def run(chosen, flags, merged):
    """Run programs of {name: program}, and return the names of those that failed."""
    failed, context, benchmarks = [], {}, []
    with tempfile.TemporaryDirectory() as folder:
        for name, program in chosen.items():
            print(f"\n== {name} ==", flush=True)
            start = time.monotonic()
            file = pathlib.Path(folder, f"{name}.json")
            more = [] if merged is None else [f"--json={file}"]
            if subprocess.run([os.path.abspath(program), *flags, *more], check=False).returncode:
                failed.append(name)
            elif file.exists():
                document = json.loads(file.read_text())
                context.update(document["context"])
                for benchmark in document["benchmarks"]:
                    for key in ("name", "run_name"):
                        benchmark[key] = f"{name}:{benchmark[key]}"
                    benchmarks.append(benchmark)
            print(f"== {name} took {time.monotonic() - start:.0f} s ==", flush=True)
    if merged is not None:
        document = {"context": context, "benchmarks": benchmarks}
        merged.write_text(json.dumps(document, indent=1) + "\n")
    return failed


def main():
    # The build file gives the programs, before what the user writes.
    count = int(sys.argv[1])
    default, others = programs(sys.argv[2 : 2 + count])
    parser = argparse.ArgumentParser(
        prog="//benchmarks", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", metavar="NAME", nargs="*", help="a benchmark to run")
    parser.add_argument("--all", action="store_true", help="run the default set")
    parser.add_argument("--filter", metavar="REGEX", help="only benchmarks whose names match")
    parser.add_argument("--repetitions", metavar="N", help="how often each is measured")
    parser.add_argument(
        "--json", metavar="FILE", type=report.path, help="one file with every repetition of all"
    )
    options = parser.parse_args(sys.argv[2 + count :])

    known = {name: program for name, (program, _) in {**default, **others}.items()}
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no such benchmark: {', '.join(unknown)}; without arguments, all are listed")
    names = options.names or (list(default) if options.all else [])
    if not names:
        list_them(default, others)
        return 0
    if options.all and options.repetitions is None:
        options.repetitions = REPETITIONS
    flags = [
        f"--{flag}={value}"
        for flag in ("filter", "repetitions")
        if (value := getattr(options, flag)) is not None
    ]
    if options.json is not None:
        options.json.touch()  # fails now rather than after the last benchmark
    failed = run({name: known[name] for name in names}, flags, options.json)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
