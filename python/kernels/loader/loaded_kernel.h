// A kernel of a loaded library, as the package knows it.
//
//   for (const DovetailKernel* kernel : *LoadKernelLibrary(path)) ... new LoadedKernel(*kernel)
//
// A LoadedKernel lives as long as the process, as its library does. It does not change, but for
// what it calls in PyTorch.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_LOADED_KERNEL_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_LOADED_KERNEL_H_

#include <Python.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/kernel_facts.h"

namespace dovetail::python {

// What this package offers to kernel libraries.
const DovetailKernelHost* KernelHost();

// The kernels of the shared object, in the order of the source. Runs its initialisers, as dlopen()
// does. Fails for a file that is no kernel library, or one of an interface that this package does
// not have.
absl::StatusOr<std::vector<const DovetailKernel*>> LoadKernelLibrary(const std::string& path);

struct LoadedParameter {
  const DovetailParameter* facts;
  PyObject* name;           // interned
  PyObject* default_value;  // nullptr: required
  bool is_tensor() const { return facts->kind == DOVETAIL_KIND_TENSOR; }
  bool is(uint32_t flag) const { return (facts->flags & flag) != 0; }
};

struct LoadedKernel : internal_kernels::KernelFacts {
  // nullptr with an error set for lack of memory, or a default that is no value of Python's. Needs
  // the GIL.
  static LoadedKernel* New(const DovetailKernel& kernel, const char* library);

  LoadedKernel(const DovetailKernel& kernel, const char* library)
      : KernelFacts(kernel), library(library) {}

  const char* library;
  std::vector<LoadedParameter> parameters;  // of `named`
  int num_positional = 0;                   // the others are given by name
  PyObject* keyword_names = nullptr;        // a tuple of the names of those
  std::string doc;                          // opens with the signature

  // What is called in the place of the kernel for PyTorch's tensors that are not plain memory;
  // nullptr without PyTorch.
  mutable GilGuarded<PyObject*> torch_function{nullptr};
  // The same for tensors that JAX traces; nullptr until the first one.
  mutable GilGuarded<PyObject*> jax_function{nullptr};
  mutable GilGuarded<PyObject*> function{
      nullptr};  // the kernel's own function, which lives for ever
  mutable GilGuarded<bool> waits_for_torch{true};  // until its operator was tried
  mutable GilGuarded<bool> is_hip{false};          // of this process's PyTorch
};

// What New() made of a kernel; nullptr if it was not called. Any thread.
inline const LoadedKernel* LoadedOf(const DovetailKernel& kernel) {
  return static_cast<const LoadedKernel*>(__atomic_load_n(kernel.package_data, __ATOMIC_ACQUIRE));
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_LOADED_KERNEL_H_
