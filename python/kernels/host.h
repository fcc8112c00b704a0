// The package's functions, in a kernel library. A program that loads a library itself, without the
// package, has none: loops then run on one thread.

#ifndef DOVETAIL_PYTHON_KERNELS_HOST_H_
#define DOVETAIL_PYTHON_KERNELS_HOST_H_

#include <cstdint>

#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/kernels/kernel_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

// Of this shared object alone.
inline const DovetailKernelHost* host = nullptr;

inline void ParallelFor(int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t),
                        void* context) {
  if (host != nullptr) {
    host->parallel_for(count, grain, body, context);
  } else if (count > 0) {
    body(context, 0, count);
  }
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_HOST_H_
