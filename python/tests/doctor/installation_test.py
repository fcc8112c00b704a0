"""The doctor's look at Dovetail's files: copies, leftovers, damage and stale versions."""

import base64
import hashlib
import importlib.machinery

import pytest

from dovetail.doctor import installation
from dovetail.doctor.child import Answer
from dovetail.doctor.finding import FAULT, HINT

SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]


def row(path, root):
    digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=")
    return f"{path.relative_to(root)},sha256={digest.decode()},{path.stat().st_size}"


def describe(root, name, version):
    """Make the folder that tells of a distribution."""
    information = root / f"{name.replace('-', '_')}-{version}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    return information


def install(root, version="0.1.0"):
    """Make an installation as pip does, of two files."""
    package = root / "dovetail"
    package.mkdir(parents=True)
    files = [package / "__init__.py", package / f"_core{SUFFIX}"]
    for file in files:
        file.write_text("# a file\n")
    information = describe(root, "dovetail-dlpack", version)
    (information / "RECORD").write_text("\n".join(row(file, root) for file in files) + "\n")
    return package


def answer(package, version="0.1.0"):
    return Answer({"version": version, "package": str(package)})


def wrong(about, *path):
    findings = installation.check(about, [str(entry) for entry in path])
    return [(one.level, one.text) for one in findings if one.level in (FAULT, HINT)]


def test_what_pip_installed_is_right(tmp_path):
    assert wrong(answer(install(tmp_path)), tmp_path) == []


def test_a_copy_before_it_on_the_path_hides_it(tmp_path):
    first, second = install(tmp_path / "a"), tmp_path / "b" / "dovetail"
    second.mkdir(parents=True)
    (second / "__init__.py").touch()
    assert wrong(answer(first), tmp_path / "a", tmp_path / "b") == [
        (FAULT, f"{first} hides {second}")
    ]


def test_one_folder_that_stands_twice_on_the_path_is_one(tmp_path):
    package = install(tmp_path / "a")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert wrong(answer(package), tmp_path / "a", tmp_path / "link", tmp_path / "a") == []


def test_two_installations_are_a_fault(tmp_path):
    package = install(tmp_path)
    describe(tmp_path, "dovetail-dlpack", "0.0.9")
    ((level, text),) = wrong(answer(package), tmp_path)
    assert level == FAULT and "two installations" in text and "0.0.9" in text


def test_the_project_of_another_that_has_the_name_on_pypi_is_a_fault(tmp_path):
    package = install(tmp_path)
    describe(tmp_path, "dovetail", "1.0.2")
    assert wrong(answer(package), tmp_path) == [
        (FAULT, "dovetail 1.0.2 is not dovetail-dlpack: the name is another project's")
    ]


def test_an_extension_of_another_version_is_stale(tmp_path):
    ((level, text),) = wrong(answer(install(tmp_path), version="0.2.0"), tmp_path)
    assert (level, text) == (
        FAULT,
        "the extension module is of 0.2.0, and the installation is 0.1.0",
    )


def test_files_that_changed_or_are_gone_are_named(tmp_path):
    package = install(tmp_path)
    (package / "__init__.py").write_text("# another\n")
    (package / f"_core{SUFFIX}").unlink()
    ((level, text),) = wrong(answer(package), tmp_path)
    assert level == FAULT
    assert "dovetail/__init__.py was changed" in text and f"_core{SUFFIX} is missing" in text


def test_files_of_an_earlier_installation_are_a_hint(tmp_path):
    package = install(tmp_path)
    (package / "_old.py").touch()
    assert wrong(answer(package), tmp_path) == [
        (HINT, f"{package} has files of no installation: _old.py")
    ]


def test_two_extensions_for_one_python_are_a_fault(tmp_path):
    package = install(tmp_path)
    (package / "_core.so").touch()
    texts = [text for level, text in wrong(answer(package), tmp_path) if level == FAULT]
    assert len(texts) == 1 and f"_core{SUFFIX}" in texts[0] and "_core.so" in texts[0]


@pytest.mark.parametrize(
    ("problem", "remedy"),
    [
        ("ImportError: /lib/libc.so.6: version `GLIBC_2.38' not found", "for a newer system"),
        ("ImportError: undefined symbol: PyObject_Nothing", "for another Python"),
        ("ended by SIGILL", "--force-reinstall"),
        ('ImportError: DOVETAIL_BACKENDS: There is no backend "tpu"', "unset it, for all"),
    ],
)
def test_an_import_that_fails_is_a_fault_with_a_remedy(tmp_path, problem, remedy):
    install(tmp_path)
    (fault,) = installation.check(Answer(None, problem), [str(tmp_path)])
    assert (fault.level, fault.text) == (FAULT, f"import dovetail: {problem}")
    assert remedy in fault.remedy


def test_nothing_installed_is_a_fault(tmp_path):
    ((level, text),) = wrong(Answer(None, "no module"), tmp_path)
    assert (level, text) == (FAULT, "dovetail is not on sys.path")
