// Stream: a parameter of a kernel that launches work on a GPU.
//
//   void Scale(Arg<float, OnCuda, Contiguous> x, double factor, Stream stream) {
//     ScaleKernel<<<blocks, threads, 0, stream.get<cudaStream_t>()>>>(x.data(), x.size(), factor);
//   }
//
// The current stream of the library that the kernel's first tensor is of, on its device. Callers
// do not pass it. Null for the default stream and for host memory.

#ifndef DOVETAIL_PYTHON_KERNELS_KERNEL_STREAM_H_
#define DOVETAIL_PYTHON_KERNELS_KERNEL_STREAM_H_

#include "dovetail/python/args/arg_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {

class Stream {
 public:
  explicit Stream(void* handle) : handle_(handle) {}
  template <typename Handle = void*>
  Handle get() const {
    return static_cast<Handle>(handle_);
  }

 private:
  void* handle_;
};

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_KERNEL_STREAM_H_
