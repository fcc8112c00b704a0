"""examples/kernels_cuda, compiled by nvcc, by Bazel and by CMake: what it exports and refuses, and
what reaches CUDA. //examples/kernels_cuda runs its kernel on emulated GPUs, tests/real_gpu on real
ones."""

import os
import pathlib
import re

import cmake
import emulated_gpu
import numpy as np
import pytest
from installation import WHEEL, Environment, run

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())
# In the test's folder, external/REPOSITORY is ../REPOSITORY.
CUDA_HOME = pathlib.Path(os.environ["CUDA_HOME_FILE"].replace("external/", "../")).read_text()
pytestmark = pytest.mark.skipif(not CUDA_HOME, reason="this build has no nvcc")


@pytest.fixture(scope="module")
def by_cmake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by cmake")
    environment = Environment(folder / "environment")
    environment.pip("install", WHEEL)
    directory = run(environment.python, "-m", "dovetail", "--cmakedir").strip()
    toolkit = {
        "CUDACXX": f"{CUDA_HOME}/bin/nvcc",
        "LIBRARY_PATH": f"{CUDA_HOME}/lib",  # where the PyPI packages have it
    }
    source = pathlib.Path("examples/kernels_cuda").resolve()
    program = f"{cmake.CMAKE_BIN_DIR}/cmake"
    options = [f"-Ddovetail_DIR={directory}", "-DCMAKE_CUDA_ARCHITECTURES=80"]
    run(program, "-S", source, "-B", folder / "build", *options, **toolkit)
    run(program, "--build", folder / "build", **toolkit)
    return folder / "build" / "kernels.so"


@pytest.fixture(scope="module")
def by_bazel():
    return pathlib.Path("examples/kernels_cuda/kernels_by_nvcc.so").resolve()


@pytest.fixture(params=["by_bazel", "by_cmake"])
def path(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def kernels(path):
    return dt.load_kernels(path, namespace=path.stem)


def test_it_exports_one_function_and_links_the_c_and_cpp_libraries_alone(path):
    run("bash", pathlib.Path("tests/example_projects/check_kernel_library.sh"), path)


def test_what_does_not_fit_is_refused(kernels):
    x, weight = dt.zeros(2, 3, device="cuda:1"), dt.zeros(3, device="cuda:1")
    words = "argument 'x' (numpy.ndarray) must be on a cuda device, and is on cpu"
    with pytest.raises(TypeError, match=re.escape(words)):
        kernels.rms_norm(np.zeros((2, 3), np.float32), weight)
    with pytest.raises(ValueError, match=r"argument 'weight' is on cuda:0, and argument 'x' is on"):
        kernels.rms_norm(x, dt.zeros(3, device="cuda:0"))
    with pytest.raises(ValueError, match="n = 2"):
        kernels.rms_norm(x, weight[:2])


def test_a_tensor_without_elements_reaches_no_gpu(kernels):
    x = dt.zeros(0, 3, dtype=dt.bfloat16, device="cuda:1")
    result = kernels.rms_norm(x, dt.zeros(3, dtype=dt.bfloat16, device="cuda:1"))
    assert (result.shape, result.dtype, result.device) == (x.shape, x.dtype, x.device)


def test_an_error_of_cuda_is_raised(kernels):
    """CUDA's own runtime knows no emulated GPUs."""
    x = dt.zeros(2, 3, device="cuda:0")
    with pytest.raises(RuntimeError, match=r"^rms_norm\(\): .*CUDA"):
        kernels.rms_norm(x, dt.zeros(3, device="cuda:0"))
    GPU.finish()
    assert GPU.complaints() == []
