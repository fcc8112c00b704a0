"""An extension in C whose Dovetail package is missing, too old or too new fails to import."""

import pathlib
import shutil
import sys
import types

import pytest
from installation import compile_c, import_file, run

import dovetail as dt

SOURCE = "examples/extension_c/extension_c.c"


def compiled(tmp_path, **definitions):
    """The path of an extension that was compiled for a capi.h with other definitions."""
    include = tmp_path / "include"
    shutil.copytree(dt.get_include(), include)
    header = include / "dovetail" / "python" / "capi.h"
    header.chmod(0o644)
    text = header.read_text()
    for name, value in definitions.items():
        now = f"#define DOVETAIL_CAPI_{name} "
        before, found, after = text.partition(now)
        assert found
        text = before + now + str(value) + "\n" + after.partition("\n")[2]
    header.write_text(text)
    path = tmp_path / "extension_c.so"
    compile_c(SOURCE, path, "-lm", include=include)
    return path


def test_an_extension_of_this_version_is_imported(tmp_path):
    assert callable(import_file(compiled(tmp_path)).add)


def test_an_extension_for_a_newer_minor_version_asks_for_a_newer_package(tmp_path):
    expected = (
        rf"needs dovetail's C API 1\.99 or a later 1\.x, and dovetail {dt.__version__} has "
        r"1\.0: install a newer dovetail-dlpack"
    )
    with pytest.raises(ImportError, match=expected):
        import_file(compiled(tmp_path, MINOR=99))


def test_an_extension_for_a_newer_major_version_asks_for_a_newer_package(tmp_path):
    with pytest.raises(
        ImportError, match=r"needs .* 2\.0 .*has 1\.0: install a newer dovetail-dlpack"
    ):
        import_file(compiled(tmp_path, MAJOR=2))


def test_an_extension_for_an_older_major_version_asks_to_be_compiled_again(tmp_path):
    with pytest.raises(ImportError, match=r"needs .* 0\.0 .*has 1\.0: compile the extension again"):
        import_file(compiled(tmp_path, MAJOR=0))


@pytest.mark.parametrize("attributes", [{}, {"_C_API": "text"}, {"_C_API": None}])
def test_a_package_without_the_interface_is_an_import_error(tmp_path, monkeypatch, attributes):
    older = types.ModuleType("dovetail._core")
    vars(older).update(attributes)
    path = compiled(tmp_path)
    monkeypatch.setitem(sys.modules, "dovetail._core", older)
    with pytest.raises(ImportError, match="has no C API: install a newer dovetail-dlpack"):
        import_file(path)
    monkeypatch.undo()
    assert callable(import_file(path).add)  # the failure was not kept


def test_a_missing_package_is_named(tmp_path):
    path = compiled(tmp_path)
    code = "import sys; sys.path.insert(0, sys.argv[1]); import extension_c"
    with pytest.raises(AssertionError, match="ModuleNotFoundError: No module named 'dovetail'"):
        run(sys.executable, "-I", "-c", code, path.parent)


def test_each_function_without_a_package_says_so(tmp_path):
    """A module that does not ask when it is imported learns it from the first call."""
    source = tmp_path / "late.c"
    text = pathlib.Path(SOURCE).read_text()
    asks = "return Dovetail_ImportCApi() == NULL ? -1 : 0;"
    assert asks in text
    source.write_text(text.replace(asks, "return 0;"))
    compile_c(source, tmp_path / "extension_c.so", "-lm", include=dt.get_include())
    code = """if True:
        import sys
        sys.path.insert(0, sys.argv[1])
        import extension_c
        for function, arguments in [(extension_c.add, (1, 2, 3)), (extension_c.normalize, (1,))]:
            try:
                function(*arguments)
            except ModuleNotFoundError as error:
                print(error)
    """
    printed = run(sys.executable, "-I", "-c", code, tmp_path)
    assert printed == "No module named 'dovetail'\n" * 2
