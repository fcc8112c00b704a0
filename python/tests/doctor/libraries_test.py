"""The doctor's look at other libraries, with modules that are planted."""

import os
import pathlib
import re
import sys

import pytest

from dovetail.doctor import packages, peers
from dovetail.doctor.child import Answer
from dovetail.doctor.finding import FACT, FAULT, HINT

# A library of the time before DLPack 1.0, under the name of one that is not installed here.
OLD = """
import dovetail
__version__ = "1.0"
class ndarray:
    def __init__(self, tensor):
        self.tensor = tensor
    def __dlpack__(self, stream=None):
        return self.tensor.__dlpack__()
    def __dlpack_device__(self):
        return (1, 0)
def from_dlpack(x):
    return ndarray(dovetail.from_dlpack(x.__dlpack__()))
"""
NEW = OLD.replace("stream=None):", "**request):").replace(
    "dlpack__()", "dlpack__(max_version=(1, 0))"
)


@pytest.fixture
def probe(tmp_path, monkeypatch):
    """Returns the answers for a planted dpnp and any other library."""

    def probe(text, *others, timeout=100):
        (tmp_path / "dpnp.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        return peers.probe(["dpnp", *others], timeout)

    return probe


def only(findings):
    (finding,) = findings
    return finding.level, finding.text


def test_a_library_that_speaks_dlpack_1_is_a_fact(probe):
    level, text = only(peers.check(probe(NEW)))
    assert level == FACT and text.startswith("dpnp 1.0, ")


def test_pytorch_is_told_with_the_way_that_its_tensors_take(probe):
    answers = {"torch": probe(NEW, "torch")["torch"]}
    level, text = only(peers.check(answers))
    assert level == FACT and text.endswith(", comes in by DLPack C exchange API")


def test_a_library_older_than_what_is_supported_is_a_hint(probe, monkeypatch):
    answers = probe(NEW)
    for oldest, level in {"1.0": FACT, "0.9.12": FACT, "1.0.1": HINT, "1.10": HINT}.items():
        monkeypatch.setitem(peers.SUPPORTED, "dpnp", oldest)
        assert only(peers.check(answers))[0] == level
    assert f"is older than {oldest}" in only(peers.check(answers))[1]


def test_the_supported_versions_are_those_of_the_pages():
    page = pathlib.Path("docs/libraries.md").read_text()
    tried = dict(re.findall(r"^\| [\w. -]+? ([\d.]+)(?: \(.*?\))? \| `(\w+)\.", page, re.M))
    tried = {module: version for version, module in tried.items()}
    assert (
        "torch" in tried
        and "| NumPy | 2.2 and later" in pathlib.Path("docs/support.md").read_text()
    )
    assert {**tried, "numpy": "2.2"} == {**tried, **peers.SUPPORTED}


def test_a_library_without_versioned_dlpack_is_found_by_trying(probe):
    answers = probe(OLD)
    assert (answers["dpnp"].values["exports"], answers["dpnp"].values["imports"]) == (
        "unversioned",
        "unversioned",
    )
    level, text = only(peers.check(answers))
    assert level == HINT
    assert text == (
        "dpnp 1.0 speaks DLPack before 1.0: its tensors don't say whether they may be written; "
        "it can't be told that memory is read-only"
    )


def test_one_direction_alone_is_told(probe):
    text = OLD.replace("x.__dlpack__()", "x.__dlpack__(max_version=(1, 0))")
    level, text = only(peers.check(probe(text)))
    assert level == HINT and "may be written" in text and "be told" not in text


def test_numpy_is_measured_as_versioned(probe):
    values = probe(NEW, "numpy")["numpy"].values
    assert (values["exports"], values["imports"]) == ("versioned", "versioned")


CRASHES = {
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": "ended by SIGSEGV",
    "raise SystemExit(3)": "ended with status 3",
    "raise SystemExit": "ended with status 0, without an answer",
    "print('{}', flush=True); import os; os._exit(0)": "ended with status 0, without an answer",
    "import os; os._exit(7)": "ended with status 7",
    "import nothing_like_it": "ModuleNotFoundError: No module named 'nothing_like_it'",
    "while True: pass": "did not end within 1 s",
    "import os, time; os.fork(); time.sleep(1000)": "did not end within 1 s",
}


@pytest.mark.parametrize("text", CRASHES)
def test_a_library_that_breaks_on_import_is_a_fault(probe, text):
    timeout = 1 if "within" in CRASHES[text] else 100
    assert only(peers.check(probe(text, timeout=timeout))) == (
        FAULT,
        f"import dpnp: {CRASHES[text]}",
    )


def test_a_library_that_takes_no_tensor_is_a_fault(probe):
    level, text = only(peers.check(probe("__version__ = '2'\nclass ndarray: pass")))
    assert level == FAULT and text.startswith("dpnp 2 takes no tensor: ")


def test_what_a_library_prints_is_not_taken_for_an_answer(probe):
    assert probe("print('{}')\n" + NEW)["dpnp"].values["version"] == "1.0"


def test_a_folder_that_has_the_name_of_a_library_is_not_asked(tmp_path, monkeypatch):
    (tmp_path / "dpnp").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert peers.probe(["dpnp"]) == {}


def test_a_library_that_is_not_installed_is_not_asked():
    assert peers.probe(["no_such_library_anywhere"]) == {}
    assert only(peers.check({})) == (FACT, "none is installed")


def distribution(folder, name, version, module):
    information = folder / f"{name}-{version}.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (information / "RECORD").write_text(f"{module}/__init__.py,,\n")


def check_packages(folders, answers=None):
    path = [str(folder) for folder in folders]
    return packages.check(["numpy", "onnxruntime"], answers or {}, path)


def test_two_numpys_are_a_fault(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder, version in zip(folders, ("1.26.4", "2.4.6"), strict=True):
        distribution(folder, "numpy", version, "numpy")
    level, text = only(check_packages(folders))
    assert level == FAULT and text.startswith("numpy is installed twice: ")
    assert f"numpy 1.26.4 in {folders[0]}" in text and f"numpy 2.4.6 in {folders[1]}" in text


def test_two_distributions_of_one_module_are_a_fault(tmp_path):
    distribution(tmp_path, "onnxruntime", "1.32.0", "onnxruntime")
    distribution(tmp_path, "onnxruntime-gpu", "1.31.0", "onnxruntime")
    (finding,) = check_packages([tmp_path, tmp_path])
    assert finding.level == FAULT and "onnxruntime-gpu 1.31.0" in finding.text
    assert "pip uninstall onnxruntime onnxruntime-gpu" in finding.remedy


@pytest.mark.parametrize(
    ("imported", "faults"), [("2.4.6", 0), ("2.4.6+cpu", 0), ("1.26.4", 1), ("", 0)]
)
def test_files_of_one_version_under_the_name_of_another_are_a_fault(tmp_path, imported, faults):
    distribution(tmp_path, "numpy", "2.4.6", "numpy")
    answers = {"numpy": Answer({"version": imported, "file": "numpy/__init__.py"})}
    findings = check_packages([tmp_path], answers)
    assert [one.level for one in findings] == [FAULT] * faults
    assert all("numpy 1.26.4, and numpy 2.4.6 is installed" in one.text for one in findings)


def test_a_library_that_was_compiled_for_numpy_1_is_a_fault(probe):
    warning = "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.4.6"
    answers = probe(f"import sys\nsys.stderr.write({warning!r})\n" + NEW)
    level, text = only(check_packages([], answers))
    assert (level, text) == (FAULT, "dpnp was compiled for NumPy 1, and NumPy 2 is installed")


def test_a_library_of_gpus_is_not_tried_without_one(probe, tmp_path):
    (tmp_path / "cupy.py").write_text(NEW)
    answers = probe(NEW, "cupy")
    del answers["dpnp"]
    level, text = only(peers.check(answers))
    assert level == FACT
    assert text == "cupy 1.0 takes memory of a cuda device alone, and none is here"
