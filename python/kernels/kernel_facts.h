// A kernel's parameters as its callers see them, found out once.

#ifndef DOVETAIL_PYTHON_KERNELS_KERNEL_FACTS_H_
#define DOVETAIL_PYTHON_KERNELS_KERNEL_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/kernels/kernel_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

inline bool Has(const DovetailParameter& parameter, uint32_t flag) {
  return (parameter.flags & flag) != 0;
}
inline bool IsTensor(const DovetailParameter& parameter) {
  return parameter.kind == DOVETAIL_KIND_TENSOR;
}
inline bool IsWritten(const DovetailParameter& parameter) {
  return Has(parameter, DOVETAIL_PARAMETER_OUT | DOVETAIL_PARAMETER_INOUT);
}

struct KernelFacts {
  // `the_kernel` is borrowed.
  [[gnu::cold, gnu::noinline]] explicit KernelFacts(const DovetailKernel& the_kernel)
      : kernel(&the_kernel) {
    for (int32_t i = 0; i < kernel->num_parameters; ++i) {
      const DovetailParameter* const parameter = kernel->parameters[i];
      if (parameter->kind == DOVETAIL_KIND_STREAM) {
        places.push_back(-1);
        continue;
      }
      places.push_back(static_cast<int>(named.size()));
      if (IsWritten(*parameter)) {
        if (num_written == 0) first_written = places.back();
        ++num_written;
      }
      checks_overlap |= Has(*parameter, DOVETAIL_PARAMETER_NO_OVERLAP);
      checks_devices |= IsTensor(*parameter) &&
                        parameter->wanted->device_type != DOVETAIL_HOST_MEMORY &&
                        parameter->wanted->device_type != kDLCPU;
      named.push_back(parameter);
      names.push_back(parameter->name);
    }
  }

  const DovetailKernel* kernel;
  std::vector<const DovetailParameter*> named;  // all but the Streams
  std::vector<const char*> names;               // of these
  // Where the value of each parameter of `kernel` is in `named`; -1 for a Stream.
  std::vector<int> places;
  int num_written = 0;  // Outs and InOuts
  int first_written = -1;
  bool checks_overlap = false;  // for a parameter that says NoOverlap
  bool checks_devices = false;  // for a parameter that takes memory of GPUs
};

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_KERNEL_FACTS_H_
