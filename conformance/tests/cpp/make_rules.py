#!/usr/bin/env python3
"""Writes rules.inc, the C++ suite's list of rules, from the Python kit's rules.toml.

./bazelw run //conformance/tests/cpp:make_rules
"""

import importlib
import json
import os
import pathlib
import sys
import types

KIT = "conformance/python/dlpack_conformance"
LIST = "conformance/cpp/rules.inc"

INTRODUCTION = """\
// The rules of producers and consumers that the conformance kit checks: id, level, sentence, document and quote.
//
// Made by `./bazelw run //conformance/tests/cpp:make_rules` from
// python/dlpack_conformance/rules.toml; edit that. rules.cc includes this file.
// clang-format off

"""


def make_list(root: pathlib.Path) -> str:
    return INTRODUCTION + "\n".join(map(line, read_rules(root))) + "\n"


def read_rules(root: pathlib.Path):
    """The kit's rules that concern C++ libraries, without an import of the whole kit."""
    package = types.ModuleType("kit")
    package.__path__ = [str(root / KIT)]
    sys.modules["kit"] = package
    rules = importlib.import_module("kit.rules").RULES
    return [rule for rule in rules if rule.role in ("producer", "consumer")]


def line(rule) -> str:
    texts = (rule.id, rule.level, rule.sentence, rule.source)
    literals = (json.dumps(text, ensure_ascii=False) for text in texts)
    return f"DLPACK_CONFORMANCE_RULE({', '.join(literals)})"


def main() -> None:
    root = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", os.getcwd()))
    (root / LIST).write_text(make_list(root), encoding="utf-8")
    print(f"wrote {LIST}")


if __name__ == "__main__":
    main()
