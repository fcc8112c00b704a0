#!/usr/bin/env python3
"""Merges coverage for `bazel coverage`: reads gcov's JSON or LCOV files, and writes one LCOV file.

Bazel calls it with --coverage_dir=DIR or --reports_file=LIST, --output_file=FILE and any number of
--filter_sources=REGEX.
"""

import collections
import glob
import gzip
import json
import os
import re
import sys


class Coverage:
    """The counts of each source file: lines, and functions with their first line."""

    def __init__(self):
        self.lines = collections.defaultdict(collections.Counter)
        self.functions = collections.defaultdict(dict)

    def add_lcov(self, path):
        source = None
        with open(path, encoding="utf-8") as file:
            for line in file:
                key, _, value = line.strip().partition(":")
                if key == "SF":
                    source = value
                elif key == "DA":
                    number, count = value.split(",")[:2]
                    self.lines[source][int(number)] += int(count)
                elif key == "FN":
                    number, name = value.split(",", 1)
                    self.functions[source].setdefault(name, [int(number), 0])
                elif key == "FNDA":
                    count, name = value.split(",", 1)
                    self.functions[source].setdefault(name, [0, 0])[1] += int(count)

    def add_gcov(self, path):
        with gzip.open(path) as file:
            report = json.load(file)
        for entry in report["files"]:
            source = entry["file"]
            for line in entry["lines"]:
                self.lines[source][line["line_number"]] += line["count"]
            for function in entry["functions"]:
                record = self.functions[source].setdefault(
                    function["name"], [function["start_line"], 0]
                )
                record[1] += function["execution_count"]

    def write_lcov(self, path, filters):
        with open(path, "w", encoding="utf-8") as file:
            for source, lines in sorted(self.lines.items()):
                if any(pattern.match(source) for pattern in filters):
                    continue
                file.write(f"SF:{source}\n")
                for name, (number, count) in self.functions[source].items():
                    file.write(f"FN:{number},{name}\nFNDA:{count},{name}\n")
                for number in sorted(lines):
                    file.write(f"DA:{number},{lines[number]}\n")
                hit = sum(count > 0 for count in lines.values())
                file.write(f"LH:{hit}\nLF:{len(lines)}\nend_of_record\n")


def main():
    arguments = collections.defaultdict(list)
    for argument in sys.argv[1:]:
        key, _, value = argument.lstrip("-").partition("=")
        arguments[key].append(value)

    coverage = Coverage()
    for directory in arguments["coverage_dir"]:
        for path in glob.glob(directory + "/**/*.gcov.json.gz", recursive=True):
            coverage.add_gcov(path)
        for path in glob.glob(directory + "/**/*.dat", recursive=True):
            coverage.add_lcov(path)
    for reports in arguments["reports_file"]:
        with open(reports, encoding="utf-8") as file:
            for path in file.read().split():
                if os.path.exists(path):
                    coverage.add_lcov(path)

    outside = r"^(/|external/|.*/external/)"
    filters = [re.compile(pattern) for pattern in arguments["filter_sources"] + [outside]]
    coverage.write_lcov(arguments["output_file"][0], filters)


if __name__ == "__main__":
    main()
