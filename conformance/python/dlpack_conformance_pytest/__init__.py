"""A plugin of pytest that checks which rules of DLPack a library keeps: a test for each rule.

    pytest --dlpack-library=torch -m dlpack     # only these tests
    pytest --dlpack-adapter=mine.py             # a library of yours, beside your own tests

It stands outside the package dlpack_conformance, so that a run of pytest without these options does
not import the kit. conformance/README.md is its guide.
"""


def pytest_addoption(parser):
    group = parser.getgroup("dlpack", "conformance with DLPack")
    group.addoption(
        "--dlpack-library",
        action="append",
        default=[],
        metavar="NAME",
        help="check the rules of DLPack of this library; may be repeated",
    )
    group.addoption(
        "--dlpack-adapter",
        action="append",
        default=[],
        metavar="FILE",
        help="check those of the library that this file describes",
    )
    group.addoption(
        "--dlpack-strict",
        action="store_true",
        help="rules that a document only recommends, or that none states, fail too",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "dlpack: a rule of DLPack, by --dlpack-library or -adapter.")
    references = [*config.option.dlpack_library, *config.option.dlpack_adapter]
    if references:
        from .rules import Rules

        config.pluginmanager.register(Rules(references, config.option.dlpack_strict))
