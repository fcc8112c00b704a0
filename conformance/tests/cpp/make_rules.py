#!/usr/bin/env python3
"""Writes the C++ suite's lists of rules, layouts and types from those of the Python kit.

./bazelw run //conformance/tests/cpp:make_rules
"""

import importlib
import json
import os
import pathlib
import sys
import types

KIT = "conformance/python/dlpack_conformance"
FOLDER = "conformance/cpp"

INTRODUCTION = """\
// {what}
//
// Made by `./bazelw run //conformance/tests/cpp:make_rules` from
// python/dlpack_conformance/{source}; edit that. {user} includes this file.
// clang-format off

"""
VIEWS = ("transposed", "sliced", "stepped", "reversed", "broadcast")  # words of array.h


def make_lists(root: pathlib.Path) -> dict[str, str]:
    """The texts of the files, by name."""
    rules, cases = read_kit(root)
    of_capsules = [rule for rule in rules.RULES if rule.role in ("producer", "consumer")]
    return {
        "rules.inc": INTRODUCTION.format(
            what="The rules of producers and consumers: id, level, sentence, document and quote.",
            source="rules.toml",
            user="rules.cc",
        )
        + "\n".join(map(rule_line, of_capsules))
        + "\n",
        "layouts.inc": INTRODUCTION.format(
            what="The layouts that are tried: name, view, shape, strides, offset.",
            source="cases.toml",
            user="elements.cc",
        )
        + "\n".join(layout_line(*item) for item in cases.LAYOUTS.items())
        + "\n",
        "dtypes.inc": INTRODUCTION.format(
            what="The element types that are tried: name, code, bits, the bits of 1.",
            source="cases.toml",
            user="dtypes.h",
        )
        + "\n".join(map(type_line, cases.DTYPES.values()))
        + "\n",
    }


def read_kit(root: pathlib.Path):
    """The kit's modules rules and cases, without an import of the whole kit."""
    package = types.ModuleType("kit")
    package.__path__ = [str(root / KIT)]
    sys.modules["kit"] = package
    return importlib.import_module("kit.rules"), importlib.import_module("kit.cases")


def rule_line(rule) -> str:
    texts = (rule.id, rule.level, rule.sentence, rule.source)
    literals = (json.dumps(text, ensure_ascii=False) for text in texts)
    return f"DLPACK_CONFORMANCE_RULE({', '.join(literals)})"


def layout_line(name, layout) -> str:
    view = name.capitalize() if name in VIEWS else "Whole"
    shape, strides = ("{" + ", ".join(map(str, n)) + "}" for n in (layout.shape, layout.strides))
    return f'{{"{name.replace(" ", "_")}", View::k{view}, {shape}, {strides}, {layout.offset}}},'


def type_line(dtype) -> str:
    one = dtype.one
    if one is None:
        one = int.from_bytes(dtype.encoded([1])[:8], "little")
    return f'{{"{dtype.name}", {dtype.code}, {dtype.bits}, {one:#x}}},'


def main() -> None:
    root = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", os.getcwd()))
    for name, text in make_lists(root).items():
        (root / FOLDER / name).write_text(text, encoding="utf-8")
        print(f"wrote {FOLDER}/{name}")


if __name__ == "__main__":
    main()
