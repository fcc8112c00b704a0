// The CUDA Array Interface, out: what t.__cuda_array_interface__ says; without Python's header.
//
//   absl::StatusOr<CudaArrayExport> out = ExportCudaArray(tensor);
//   // {.typestr = "<f4", .data = element 0, .stream = nullopt}; shape and strides are the tensor's
//
// Version 3. Nothing is owned: whoever takes the address keeps the tensor alive. Source:
// numba.readthedocs.io, "CUDA Array Interface (Version 3)".

#ifndef DOVETAIL_INTEROP_CUDA_ARRAY_EXPORT_H_
#define DOVETAIL_INTEROP_CUDA_ARRAY_EXPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct CudaArrayExport {
  std::string typestr;
  void* data = nullptr;  // element 0; nullptr where there are no elements
  // The stream that the consumer waits for: 1, 2 or a handle. None: the data are ready.
  std::optional<int64_t> stream;
};

// InvalidArgument for a tensor whose memory is no GPU's of CUDA or ROCm (managed memory is), and
// for a type that has no type string; what the backend says when several streams can't be brought
// into one. Any thread.
absl::StatusOr<CudaArrayExport> ExportCudaArray(const Tensor& tensor);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_CUDA_ARRAY_EXPORT_H_
