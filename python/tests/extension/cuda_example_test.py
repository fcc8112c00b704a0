"""examples/extension_cuda, compiled by nvcc: what its functions refuse, and what reaches CUDA. Its
kernels run only where there is a GPU."""

import os
import pathlib

import emulated_gpu
import numpy as np
import pytest
from installation import WHEEL, Environment, import_file

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
# In the test's folder, external/REPOSITORY is ../REPOSITORY.
CUDA_HOME = pathlib.Path(os.environ["CUDA_HOME_FILE"].replace("external/", "../")).read_text()
pytestmark = pytest.mark.skipif(not CUDA_HOME, reason="this build has no nvcc")


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    environment = Environment(folder / "environment")
    environment.pip("install", WHEEL)
    toolkit = {
        "CUDACXX": f"{CUDA_HOME}/bin/nvcc",
        "CUDAARCHS": "80",
        "LIBRARY_PATH": f"{CUDA_HOME}/lib",  # where the PyPI packages have it
    }
    environment.pip("install", pathlib.Path("examples/extension_cuda").resolve(), **toolkit)
    dt.register_backend(GPU.backend())
    return import_file(next(environment.site_packages.glob("extension_cuda.*.so")))


def test_host_memory_is_refused(kernels):
    x = np.zeros(3, np.float32)
    with pytest.raises(TypeError, match=r"argument 1.*must be on a cuda device, and is on cpu"):
        kernels.add(x, x, x)
    with pytest.raises(TypeError, match=r"must be on a cuda device"):
        kernels.normalize(x)


def test_sizes_and_types_are_checked_on_the_gpu_too(kernels):
    x, y = dt.zeros(3, device="cuda:0"), dt.zeros(4, device="cuda:0")
    with pytest.raises(ValueError, match=r"argument 3.*n = 4"):
        kernels.add(x, x, y)
    with pytest.raises(TypeError, match=r"must be float32, and is int64"):
        kernels.normalize(dt.zeros(3, dtype=dt.int64, device="cuda:0"))


def test_a_tensor_without_elements_launches_nothing(kernels):
    x = dt.zeros(0, 3, device="cuda:1")
    result = kernels.normalize(x)
    assert (type(result), result.shape, result.device) == (dt.Tensor, x.shape, x.device)


def test_errors_of_cuda_are_raised(kernels):
    """The emulated GPU has memory for the arguments, but nothing that could run a kernel."""
    x = dt.zeros(3, device="cuda:0")
    with pytest.raises(RuntimeError, match=r"^CUDA: "):
        kernels.add(x, x, x)
    with pytest.raises(RuntimeError, match=r"^CUDA: "):
        kernels.normalize(x)
    GPU.finish()
    assert GPU.complaints() == []
