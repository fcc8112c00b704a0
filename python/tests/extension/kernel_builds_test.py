"""Kernel libraries by each way to build them: examples/kernels_package with scikit-build-core, its
kernels with CMake alone and with one call of the compiler, all against the installed wheel, and
with Bazel."""

import importlib
import pathlib
import shutil
import sys

import cmake
import numpy as np
import peers
import pytest
import torch
from installation import WHEEL, Environment, run

PEERS = (*peers.EXPORTERS, peers.DOVETAIL)

# A project that has kernels and looks for no Python.
CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.15...3.31)
project(user LANGUAGES CXX)
find_package(dovetail CONFIG REQUIRED)
dovetail_add_kernels(kernels kernels.cc)
if(Python_FOUND OR Python3_FOUND)
  message(FATAL_ERROR "find_package(dovetail) has looked for Python")
endif()
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source") / "kernels_package"
    return pathlib.Path(shutil.copytree("examples/kernels_package", folder))


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    environment = Environment(tmp_path_factory.mktemp("folder") / "with spaces")
    environment.pip("install", WHEEL)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(environment.site_packages)
        yield environment


@pytest.fixture(scope="module")
def package_wheel(source, environment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    options = ["--no-index", "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}"]
    environment.pip("wheel", *options, source)
    (wheel,) = folder.iterdir()
    environment.pip("install", wheel)
    return wheel


@pytest.fixture(scope="module")
def by_scikit_build_core(package_wheel, environment):
    return environment.site_packages / "kernels_package" / "kernels.so"


@pytest.fixture(scope="module")
def by_cmake(source, environment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("by cmake")
    (folder / "CMakeLists.txt").write_text(CMAKE_LISTS)
    shutil.copy(source / "kernels.cc", folder)
    directory = run(environment.python, "-m", "dovetail", "--cmakedir").strip()
    program = f"{cmake.CMAKE_BIN_DIR}/cmake"
    run(program, "-S", folder, "-B", folder / "build", f"-Ddovetail_DIR={directory}")
    run(program, "--build", folder / "build")
    return folder / "build" / "kernels.so"


@pytest.fixture(scope="module")
def by_the_compiler(source, environment, tmp_path_factory):
    target = tmp_path_factory.mktemp("by the compiler") / "kernels.so"
    flags = run(environment.python, "-m", "dovetail", "--includes").strip()
    strict = "-Wall -Wextra -Wconversion -Wshadow -Werror"
    command = f"g++ -std=c++20 -O2 {strict} -shared -fPIC {flags} kernels.cc -o '{target}'"
    run("sh", "-c", command, cwd=source)
    return target


@pytest.fixture(scope="module")
def by_bazel():
    return pathlib.Path("python/tests/extension/kernels_by_bazel.so").resolve()


BUILDS = ["by_bazel", "by_cmake", "by_scikit_build_core", "by_the_compiler"]


@pytest.fixture(params=BUILDS)
def kernels(request, environment):
    """The functions of a build."""
    path = request.getfixturevalue(request.param)
    if request.param == "by_scikit_build_core":
        return importlib.import_module("kernels_package")
    dovetail = importlib.import_module("dovetail")
    return dovetail.load_kernels(path, namespace=f"built_{request.param}")


@pytest.mark.parametrize("build", [build for build in BUILDS if build != "by_the_compiler"])
def test_it_exports_one_function_and_links_the_c_and_cpp_libraries_alone(build, request):
    check = pathlib.Path("tests/example_projects/check_kernel_library.sh")
    run("bash", check, request.getfixturevalue(build))


def test_the_wheel_is_of_no_version_of_python(package_wheel):
    assert package_wheel.name.startswith("kernels_package-1.0-py3-none-linux_")


def test_the_dovetail_in_use_is_the_installed_one(kernels, environment):
    folder = pathlib.Path(sys.modules["dovetail"].__file__).parent
    assert folder == environment.site_packages / "dovetail"


@pytest.mark.parametrize("peer", PEERS)
def test_kernels_take_and_return_tensors_of_every_library(kernels, peer):
    x, y = peer.make("float32", [3, 4, 12]), peer.make("float32", [10, 20, 40])
    for result, expected in (
        (kernels.add(x, y), [13, 24, 52]),
        (kernels.normalize(x), [3 / 13, 4 / 13, 12 / 13]),
    ):
        assert type(result) is type(x)
        assert np.allclose(peer.values(result), expected, rtol=1e-6, atol=0)


def test_what_does_not_fit_is_refused(kernels):
    three, four = np.zeros(3, dtype=np.float32), np.zeros(4, dtype=np.float32)
    with pytest.raises(ValueError, match="n = 4"):
        kernels.add(three, four)
    with pytest.raises(TypeError, match="must be float32"):
        kernels.normalize(np.zeros(3))


def test_the_package_has_operators_of_pytorch(package_wheel, environment):
    kernels = importlib.import_module("kernels_package")
    x = torch.tensor([3.0, 4.0])
    out = torch.empty(2)
    torch.ops.kernels_package.normalize(x, out=out)
    assert torch.allclose(out, kernels.normalize(x))
