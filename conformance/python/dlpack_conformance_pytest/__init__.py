"""A plugin of pytest that checks which rules of DLPack a library keeps: a test for each rule.

    pytest --dlpack-library=torch -m dlpack     # only these tests
    pytest --dlpack-adapter=mine.py             # a library of yours, beside your own tests

It stands outside the package dlpack_conformance, so that a run of pytest without these options does
not import the kit. The options are those of the command.
"""

_FLAGS = {
    "strict": "rules that a document only recommends, or that none states, fail too",
    "all": "try every case",
}
_VALUES = {
    "expected": (str, None, "faults that do not count: a file, or a library's name"),
    "seed": (int, 0, "chooses the cases"),
    "protocol": (str, "dlpack", "dlpack, or all: buffers and Arrow, too"),
    "device": (str, "cpu", "where the arrays are: cpu or cuda"),
}


def pytest_addoption(parser):
    group = parser.getgroup("dlpack", "conformance with DLPack")
    for name, what in (("library", "NAME"), ("adapter", "FILE")):
        group.addoption(
            f"--dlpack-{name}",
            action="append",
            default=[],
            metavar=what,
            help="check the rules of DLPack of this library; may be repeated",
        )
    for name, text in _FLAGS.items():
        group.addoption(f"--dlpack-{name}", action="store_true", help=text)
    for name, (kind, default, text) in _VALUES.items():
        group.addoption(f"--dlpack-{name}", type=kind, default=default, help=text)


def pytest_configure(config):
    config.addinivalue_line("markers", "dlpack: a rule of DLPack, by --dlpack-library or -adapter.")
    references = [*config.option.dlpack_library, *config.option.dlpack_adapter]
    if references:
        from .rules import Rules

        names = (*_FLAGS, *_VALUES)
        options = {name: getattr(config.option, f"dlpack_{name}") for name in names}
        config.pluginmanager.register(Rules(references, options))
