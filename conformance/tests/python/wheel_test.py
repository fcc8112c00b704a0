"""The wheel: pip installs it, and its command and its plugin of pytest run."""

import os
import pathlib
import subprocess
import sys

import pytest

WHEEL = next(pathlib.Path("conformance/python").glob("dlpack_conformance-*.whl")).absolute()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("installed")


@pytest.fixture(scope="module")
def run(folder):
    """Runs Python with the wheel installed, and without this test's copy of the kit."""
    path = [str(folder), *(entry for entry in sys.path if "site-packages" in entry)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join(path)

    def run(*arguments):
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=folder)

    done = run("-m", "pip", "install", "--no-index", "--no-deps", "--target", folder, WHEEL)
    assert done.returncode == 0, done.stderr
    return run


def test_its_command_checks_a_library_and_writes_a_page(run, tmp_path):
    page = tmp_path / "page.html"
    rule = ["--rule", "producer.device", "--html", page]
    done = run("-m", "dlpack_conformance", "numpy", *rule)
    assert done.returncode == 0, done.stderr
    assert "shoulds 1 of 1" in done.stdout
    assert "shoulds 1 of 1" in page.read_text()


def test_pip_makes_the_command(run, folder):
    script = (folder / "bin/dlpack-conformance").read_text()
    assert "from dlpack_conformance.__main__ import main" in script
    (metadata,) = folder.glob("*.dist-info/METADATA")
    assert 'Requires-Dist: tomli; python_version < "3.11"\n' in metadata.read_text()


def test_pytest_finds_its_plugin(run):
    done = run(
        "-m", "pytest", "-p", "no:cacheprovider", "--dlpack-library=numpy", "-k", "device_id"
    )
    assert done.returncode == 5, done.stdout + done.stderr  # no test has such a name
    done = run(
        "-m", "pytest", "-p", "no:cacheprovider", "--dlpack-library=numpy", "-k", "device-id"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
