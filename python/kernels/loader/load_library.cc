#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/routes/capi_table.h"
#include "dovetail/python/kernels/loader/loaded_call.h"
#include "dovetail/python/kernels/loader/loaded_kernel.h"
#include "dovetail/python/kernels/loader/torch_kernel.h"
#include "dovetail/python/kernels/loader/xla_kernel.h"

namespace dovetail::python {
namespace {

// Without Python: it may be ending, and the thread may be XLA's.
int EmptyForKernel(DLDataType dtype, DLDevice device, int32_t ndim, const int64_t* shape,
                   DLManagedTensorVersioned** managed, DovetailFailure* failure) {
  const absl::Status made = MakeEmpty(dtype, device, ndim, shape, managed);
  if (made.ok()) return 0;
  const int32_t kind = absl::IsResourceExhausted(made) ? DOVETAIL_MEMORY_ERROR
                       : absl::IsInvalidArgument(made) ? DOVETAIL_VALUE_ERROR
                                                       : DOVETAIL_RUNTIME_ERROR;
  failure->set(failure, kind, std::string(made.message()).c_str());
  return -1;
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

// The structs of version 1.0, in bytes: later ones only grew.
constexpr size_t kLibrarySize = offsetof(DovetailKernelLibrary, set_host) + sizeof(void*);
constexpr size_t kKernelSize = offsetof(DovetailKernel, package_data) + sizeof(void*);

// What each library must have.
absl::Status CheckKernels(const std::string& path, const DovetailKernelLibrary& library) {
  const auto broken = [&path](const char* what) {
    return NoLibrary(path, absl::StrCat("its description is broken: ", what));
  };
  if (library.struct_size < kLibrarySize || library.set_host == nullptr) {
    return broken("the library");
  }
  for (const DovetailKernel* kernel = library.kernels; kernel != nullptr; kernel = kernel->next) {
    if (kernel->struct_size < kKernelSize || kernel->name == nullptr || kernel->invoke == nullptr ||
        kernel->torch_kernel == nullptr || kernel->xla_cpu_kernel == nullptr ||
        kernel->xla_cuda_kernel == nullptr || kernel->xla_rocm_kernel == nullptr ||
        kernel->package_data == nullptr ||
        (kernel->num_parameters > 0 && kernel->parameters == nullptr)) {
      return broken("a kernel");
    }
  }
  return absl::OkStatus();
}

// Whether the file has all that its ELF header tells of: the loader maps it, and a part that is
// missing would end the process.
absl::Status CheckIsWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  ElfW(Ehdr) header;
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return absl::OkStatus();  // the loader says what it is
  }
  if (header.e_shoff + uint64_t{header.e_shentsize} * header.e_shnum <= size) {
    return absl::OkStatus();
  }
  return NoLibrary(path, "the file is not complete");
}

}  // namespace

const DovetailKernelHost* KernelHost() {
  static const DovetailKernelHost host = {.struct_size = sizeof(DovetailKernelHost),
                                          .major = DOVETAIL_KERNELS_MAJOR,
                                          .minor = DOVETAIL_KERNELS_MINOR,
                                          .parallel_for = CApiTable()->parallel_for,
                                          .empty = &EmptyForKernel,
                                          .torch_kernel = &RunTorchKernel,
                                          .xla_kernel = &RunXlaKernel};
  return &host;
}

absl::StatusOr<std::vector<const DovetailKernel*>> LoadKernelLibrary(const std::string& path) {
  if (absl::Status s = CheckIsWhole(path); !s.ok()) return s;
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return NoLibrary(path, dlerror());
  const auto describe =
      reinterpret_cast<DovetailKernelLibraryFunction>(dlsym(handle, DOVETAIL_KERNELS_SYMBOL));
  if (describe == nullptr) {
    (void)dlclose(handle);
    return NoLibrary(path, "it exports no kernel (DOVETAIL_KERNEL)");
  }
  const DovetailKernelLibrary* const library = describe();
  absl::Status checked = library != nullptr ? CheckVersion(path, *library)
                                            : NoLibrary(path, "it describes no kernels");
  if (checked.ok()) checked = CheckKernels(path, *library);
  if (!checked.ok()) {
    (void)dlclose(handle);
    return checked;
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
