"""`python -m dovetail doctor` as a user runs it: its output, its exit status, broken imports."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import dovetail as dt

PACKAGE = pathlib.Path(dt.__file__).parent


def doctor(*arguments, program=("-m", "dovetail", "doctor"), path=sys.path, **settings):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, path)), **settings)
    return subprocess.run(
        [sys.executable, *program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


def planted_library(tmp_path, text):
    (tmp_path / "cupy.py").write_text(text)
    return [str(tmp_path), *sys.path]


def test_a_sound_installation_has_no_fault():
    result = doctor()
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"dovetail {dt.__version__} in {PACKAGE}" in result.stdout
    assert "\n0 faults, " in result.stdout
    assert "libraries: numpy " in result.stdout


def test_a_library_is_no_fault_where_the_backend_of_the_cpu_is_left_out():
    result = doctor(DOVETAIL_BACKENDS="cuda")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "takes memory of a cpu device alone, and none is here" in result.stdout
    result = doctor(program=("-m", "dovetail"), DOVETAIL_BACKENDS="cuda")
    assert "not tried, for lack of a cpu device" in result.stdout


def test_a_fault_sets_the_exit_status_and_a_child_imported_it(tmp_path):
    mark = tmp_path / "imported_by"
    library = (
        f"import os; open({str(mark)!r}, 'a').write(f'{{os.getppid()}} '); raise OSError('no')"
    )
    code = """if True:
        import os, sys
        from dovetail.doctor.__main__ import main
        status = main()
        print(os.getpid(), *{"numpy", "torch", "cupy"} & set(sys.modules), file=sys.stderr)
        sys.exit(status)
    """
    path = planted_library(tmp_path, library)
    result = doctor("--json", program=("-c", code), path=path)
    assert result.returncode == 1, result.stdout + result.stderr
    (fault,) = (one for one in json.loads(result.stdout) if one["level"] == "fault")
    assert fault["text"] == "import cupy: OSError: no" and "install cupy again" in fault["remedy"]
    assert result.stderr.split() == mark.read_text().split()  # once, and by a child


def test_other_tools_have_their_names_too():
    result = doctor(program=("-m", "dovetail", "bench", "--help"))
    assert result.returncode == 0 and "python -m dovetail bench" in result.stdout
    usage = doctor(program=("-m", "dovetail", "doctor", "--help")).stdout
    assert usage.startswith("usage: python -m dovetail doctor")


@pytest.fixture
def broken(tmp_path):
    """A copy of the package whose extension module can't be loaded."""
    package = tmp_path / "site" / "dovetail"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("_core*.so", "include"))
    return package


def import_it(folder):
    return doctor(program=("-c", "import dovetail"), path=[str(folder)])


def test_an_import_that_fails_names_the_doctor_and_the_doctor_runs(broken):
    (broken / "_core.so").write_text("no module")
    result = import_it(broken.parent)
    assert f"`python {broken}/doctor` looks for the cause" in result.stderr
    assert "file too short" in result.stderr or "invalid ELF header" in result.stderr
    result = doctor(program=(str(broken / "doctor"),), path=[str(broken.parent)])
    assert result.returncode == 1, result.stdout + result.stderr
    assert "fault installation: import dovetail: " in result.stdout


def test_a_source_tree_without_an_extension_is_recognised(broken):
    result = doctor(program=(str(broken / "doctor"),), path=[str(broken.parent)])
    assert f"{broken} has no extension module: it is a source tree" in result.stdout
    assert "run Python from another folder" in result.stdout


def test_an_extension_for_another_python_is_recognised(broken):
    (broken / "_core.cpython-32-somewhere.so").touch()
    result = doctor(program=(str(broken / "doctor"),), path=[str(broken.parent)])
    assert "has _core.cpython-32-somewhere.so, and this Python takes _core." in result.stdout
