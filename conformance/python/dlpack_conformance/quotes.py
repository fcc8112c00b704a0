"""Looks for each rule's quote in the documents, of which you have the files.

    dlpack-conformance quotes --dlpack-header dlpack.h --spec python_spec.rst array_object.py

A file is known by its name, which is that in the document's repository. Line breaks, spaces, and
the signs * and # of comments do not count.
"""

import argparse
import hashlib
import pathlib
import re

from .rules import DOCUMENTS, RULES


def main(arguments):
    parser = argparse.ArgumentParser(prog="dlpack-conformance quotes", description=__doc__)
    parser.add_argument("--dlpack-header", metavar="FILE", help="dlpack.h")
    parser.add_argument("--spec", nargs="+", default=[], metavar="FILE", help="other documents")
    options = parser.parse_args(arguments)
    paths = [*filter(None, [options.dlpack_header]), *options.spec]
    files = {key: path for path in paths if (key := _document_of(path, parser))}
    missing = [rule for key, path in files.items() for rule in absent(key, path)]
    for rule in missing:
        print(f"{rule.id}: {DOCUMENTS[rule.document].name} does not say {rule.quote!r}")
    for key, document in DOCUMENTS.items():
        count = sum(rule.document == key for rule in RULES)
        print(f"{document.name}: {count} quotes, {_state(key, files.get(key))}")
    return 1 if missing else 0


def _document_of(path, parser):
    for key, document in DOCUMENTS.items():
        if pathlib.Path(document.file).name == pathlib.Path(path).name:
            return key
    parser.error(f"{path} is no file of a document that rules.toml names")


def _state(key, path):
    if path is None:
        return "not looked up"
    same = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() == DOCUMENTS[key].sha256
    return "looked up" if same else "looked up in another version of the document"


def absent(key, path):
    """The rules whose quotes a document's file does not have."""
    text = _words(pathlib.Path(path).read_text(encoding="utf-8"))
    return [rule for rule in RULES if rule.document == key and _words(rule.quote) not in text]


def _words(text):
    return re.sub(r"[\s*#]+", " ", text)
