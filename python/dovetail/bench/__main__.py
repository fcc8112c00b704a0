"""`python -m dovetail bench`: this machine beside the published figures, in about a minute."""

import argparse
import dataclasses
import importlib.util
import json
import os
import pathlib
import sys


def main():
    options = _parse()
    if importlib.util.find_spec("numpy") is None:
        print("python -m dovetail bench: it takes NumPy: pip install numpy", file=sys.stderr)
        return 2
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # for libraries that are not asked
    from . import exchange_rows, machine, picture, run, strided_layouts, table

    if options.picture and (reason := picture.why_not()):
        print(f"python -m dovetail bench: {reason}", file=sys.stderr)
        return 2
    context = machine.describe(["numpy", "torch", "apache-tvm-ffi"])
    machine.report(context)
    works = [row[0] for row in exchange_rows.exchange_rows()]
    works += [layout[0] for layout in strided_layouts.LAYOUTS[: strided_layouts.TEN]]
    published = run.read_published()
    printer = table.Table(list(published), max(map(len, works)) + 2)
    print(printer.head(), flush=True)
    results = []
    for result in run.measure_all(options.repetitions):
        results.append(result)
        print(printer.row(result), flush=True)
    print(printer.mean(results), table.NOTE, *table.circumstances(published), sep="\n")
    if options.json:
        document = {"context": context, "results": [dataclasses.asdict(one) for one in results]}
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    if options.picture:
        picture.save(results, context["processor"], options.picture)
    return 0


def _positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_positive.__name__ = "number from 1 on"  # for argparse: "invalid number from 1 on value"


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m dovetail bench",
        description="Measure exchanges and copies beside installed libraries, in about a minute, "
        "and print them beside the published figures. One thread is used.",
    )
    parser.add_argument(
        "--picture", metavar="FILE", type=pathlib.Path, help="draw them: .svg, .png or .pdf"
    )
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write them")
    parser.add_argument(
        "--repetitions",
        metavar="N",
        type=_positive,
        help="how often each is measured (7; copies, 3)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
