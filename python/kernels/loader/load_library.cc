#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/routes/capi_table.h"
#include "dovetail/python/kernels/loader/loaded_kernel.h"
#include "dovetail/python/kernels/loader/torch_kernel.h"

namespace dovetail::python {
namespace {

// DovetailCApi.empty() for a thread with or without the GIL: what failed goes to `failure`.
int EmptyForKernel(DLDataType dtype, DLDevice device, int32_t ndim, const int64_t* shape,
                   DLManagedTensorVersioned** managed, DovetailFailure* failure) {
  const PyGILState_STATE state = PyGILState_Ensure();
  const int result = CApiTable()->empty(dtype, device, ndim, shape, managed);
  if (result != 0) {
    const int32_t kind = PyErr_ExceptionMatches(PyExc_ValueError)    ? DOVETAIL_VALUE_ERROR
                         : PyErr_ExceptionMatches(PyExc_MemoryError) ? DOVETAIL_MEMORY_ERROR
                                                                     : DOVETAIL_RUNTIME_ERROR;
    failure->set(failure, kind, MessageOfError().c_str());
    PyErr_Clear();
  }
  PyGILState_Release(state);
  return result;
}

absl::Status NoLibrary(const std::string& path, const std::string& why) {
  return absl::NotFoundError(absl::StrCat("'", path, "' is no kernel library: ", why));
}

absl::Status CheckVersion(const std::string& path, const DovetailKernelLibrary& library) {
  if (library.major == DOVETAIL_KERNELS_MAJOR && library.minor <= DOVETAIL_KERNELS_MINOR) {
    return absl::OkStatus();
  }
  const bool is_older = library.major < DOVETAIL_KERNELS_MAJOR;
  return absl::NotFoundError(
      absl::StrCat("'", path, "' was compiled for version ", library.major, ".", library.minor,
                   " of the interface of kernels, and this package has ", DOVETAIL_KERNELS_MAJOR,
                   ".", DOVETAIL_KERNELS_MINOR, ": ",
                   is_older ? "compile it again" : "install a newer dovetail-dlpack"));
}

}  // namespace

const DovetailKernelHost* KernelHost() {
  static const DovetailKernelHost host = {.struct_size = sizeof(DovetailKernelHost),
                                          .major = DOVETAIL_KERNELS_MAJOR,
                                          .minor = DOVETAIL_KERNELS_MINOR,
                                          .parallel_for = CApiTable()->parallel_for,
                                          .empty = &EmptyForKernel,
                                          .torch_kernel = &RunTorchKernel};
  return &host;
}

absl::StatusOr<std::vector<const DovetailKernel*>> LoadKernelLibrary(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return NoLibrary(path, dlerror());
  const auto describe =
      reinterpret_cast<DovetailKernelLibraryFunction>(dlsym(handle, DOVETAIL_KERNELS_SYMBOL));
  if (describe == nullptr) {
    (void)dlclose(handle);
    return NoLibrary(path, "it exports no kernel (DOVETAIL_KERNEL)");
  }
  const DovetailKernelLibrary* const library = describe();
  if (absl::Status s = CheckVersion(path, *library); !s.ok()) {
    (void)dlclose(handle);
    return s;
  }
  library->set_host(KernelHost());
  std::vector<const DovetailKernel*> kernels;
  for (const DovetailKernel* kernel = library->kernels; kernel != nullptr; kernel = kernel->next) {
    kernels.push_back(kernel);
  }
  std::reverse(kernels.begin(), kernels.end());
  return kernels;
}

}  // namespace dovetail::python
