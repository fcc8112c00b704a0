"""load_kernels(): what it takes, what it refuses."""

import copy
import os
import pathlib
import pickle
import shutil
import subprocess
import sys

import pytest
from libraries import k, path_of, refused

import dovetail as dt


def test_a_library_is_loaded_once():
    path = path_of("kernel_library.so")
    assert dt.load_kernels(path, namespace="under_test") is k
    assert dt.load_kernels(pathlib.Path(path), namespace="under_test") is k
    other = dt.load_kernels(path, namespace="another")
    assert other is not k
    assert other.scale_add.__module__ == "another"
    assert "scale_add" in repr(k)
    assert k.scale_add in list(k)
    refused(AttributeError, "has no 'nothing'", getattr, k, "nothing")


def test_the_namespace_is_the_files_name_unless_given(tmp_path):
    copy = tmp_path / "copied.abi.so"
    shutil.copy(path_of("kernel_library.so"), copy)
    assert dt.load_kernels(copy).scale_add.__module__ == "copied"


def test_a_name_that_is_taken_is_refused(tmp_path):
    copy = tmp_path / "copy.so"
    shutil.copy(path_of("kernel_library.so"), copy)
    refused(
        ValueError,
        "under_test::scale_add is a kernel of",
        dt.load_kernels,
        copy,
        namespace="under_test",
    )


@pytest.mark.parametrize(
    ("namespace", "error", "words"),
    [
        ("a b", ValueError, "must be a Python name such as 'mylib', and is 'a b'"),
        ("", ValueError, "must be a Python name"),
        ("aten", ValueError, "the namespace 'aten' is taken"),
        (3, TypeError, "namespace must be a str, and is a int"),
    ],
)
def test_wrong_namespaces_are_refused(namespace, error, words):
    path = path_of("kernel_library.so")
    refused(error, words, dt.load_kernels, path, namespace=namespace)


def test_files_that_are_no_kernel_library_are_refused(tmp_path):
    refused(FileNotFoundError, "nothing.so", dt.load_kernels, tmp_path / "nothing.so")
    text = tmp_path / "text.so"
    text.write_text("text")
    refused(ImportError, "is no kernel library", dt.load_kernels, text)
    refused(ImportError, "is no kernel library", dt.load_kernels, tmp_path, namespace="folder")
    refused(
        ImportError,
        "it exports no kernel (DOVETAIL_KERNEL)",
        dt.load_kernels,
        path_of("no_library.so"),
    )
    refused(TypeError, "expected str, bytes or os.PathLike object", dt.load_kernels, 3)


def test_a_library_of_a_newer_interface_is_refused():
    words = (
        "was compiled for version 1.1 of the interface of kernels, and this package has 1.0: "
        "install a newer dovetail-dlpack"
    )
    refused(ImportError, words, dt.load_kernels, path_of("newer_library.so"))
    refused(ImportError, "version 2.0", dt.load_kernels, path_of("next_library.so"))
    refused(ImportError, "compile it again", dt.load_kernels, path_of("older_library.so"))
    assert list(dt.load_kernels(path_of("empty_library.so"))) == []


def test_two_kernels_of_one_name_are_refused():
    refused(
        ImportError, "has two kernels called 'same'", dt.load_kernels, path_of("two_namesakes.so")
    )


def test_a_file_that_has_changed_is_refused(tmp_path):
    path = tmp_path / "changing.so"
    shutil.copy(path_of("kernel_library.so"), path)
    dt.load_kernels(path, namespace="first")
    shutil.copy(path_of("kernel_library.so"), tmp_path / "new.so")
    (tmp_path / "new.so").rename(path)
    refused(
        ImportError, "has changed since it was loaded", dt.load_kernels, path, namespace="second"
    )


def test_a_broken_library_is_refused(tmp_path):
    refused(ImportError, "it describes no kernels", dt.load_kernels, path_of("null_library.so"))
    words = "its description is broken: the library"
    refused(ImportError, words, dt.load_kernels, path_of("short_library.so"))
    part = tmp_path / "part.so"
    part.write_bytes(pathlib.Path(path_of("kernel_library.so")).read_bytes()[:20000])
    refused(ImportError, "the file is not complete", dt.load_kernels, part)


def test_a_library_and_its_functions_are_pickled_and_copied():
    assert copy.copy(k) is copy.deepcopy(k) is pickle.loads(pickle.dumps(k)) is k
    assert pickle.loads(pickle.dumps(k.scale_add)) is k.scale_add


LATER = """
import sys
import dovetail as dt
first, second = sys.argv[2].split()
for name in (first, second):
    if name == "torch":
        import torch
    elif name == "torch._dynamo":
        import torch._dynamo
    else:
        k = dt.load_kernels(sys.argv[1], namespace="later")
        assert ("torch" in sys.modules) == (first != "load")
import torch
x = torch.ones(3)
assert torch.ops.later.scale_add(x, x, 2.0).tolist() == [3, 3, 3]
assert torch.compile(lambda x: k.scale_add(x, x, 2.0), fullgraph=True, backend="eager")(x)[0] == 3
assert torch.__spec__.loader is torch.__loader__
assert "_kernels" not in type(torch.__loader__).__module__
"""


@pytest.mark.parametrize(
    "order", ["load torch", "torch load", "torch._dynamo load", "load torch._dynamo"]
)
def test_operators_are_there_in_either_order_of_imports(order):
    pytest.importorskip("torch")
    path = path_of("kernel_library.so")
    subprocess.run([sys.executable, "-c", LATER, path, order], check=True)


def test_loading_imports_no_framework():
    code = (
        "import sys, dovetail as dt; dt.load_kernels(sys.argv[1]);"
        "assert not {'torch', 'numpy', 'jax'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, path_of("kernel_library.so")], check=True)


def test_a_library_needs_no_python_and_no_framework():
    linked = subprocess.run(
        ["ldd", path_of("kernel_library.so")], check=True, capture_output=True, text=True
    ).stdout
    names = {os.path.basename(line.split()[0]).split(".so")[0] for line in linked.splitlines()}
    names -= {"libasan", "libubsan", "libtsan"}  # of builds with sanitizers
    assert names <= {"linux-vdso", "libstdc++", "libgcc_s", "libc", "libm", "ld-linux-x86-64"}


HOOK = """
import copy, importlib, importlib.util, sys, unittest.mock
from dovetail._kernels.after_import import after_import, catch_up
sys.path.insert(0, sys.argv[1])
seen = []
after_import("late", seen.append)
after_import("faulty", seen.append)
spec = importlib.util.find_spec("late")
assert spec.loader.get_filename("late").endswith("late.py") and not seen
import late
assert seen == [late] and type(late.__loader__).__name__ == "SourceFileLoader"
importlib.reload(late)
assert seen == [late]
for _ in range(2):
    try:
        import faulty
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError
assert seen == [late] and "faulty" not in sys.modules
import begun          # which waits for itself while it is imported
assert begun.seen == []
catch_up()
assert begun.seen == [begun]
sys.modules["mocked"] = unittest.mock.MagicMock()
after_import("mocked", seen.append)
catch_up()
import wave
copy.copy(importlib.util.find_spec("faulty").loader)
after_import("late", seen.append)
assert seen == [late, late]
"""


def test_a_function_runs_after_an_import_whenever_that_is(tmp_path):
    (tmp_path / "late.py").write_text("x = 1\n")
    (tmp_path / "faulty.py").write_text("1 / 0\n")
    (tmp_path / "begun.py").write_text(
        "from dovetail._kernels.after_import import after_import\n"
        "seen = []\nafter_import('begun', seen.append)\n"
    )
    subprocess.run([sys.executable, "-c", HOOK, tmp_path], check=True)
